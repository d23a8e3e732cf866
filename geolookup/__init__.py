"""geolookup: the location, time, currency and network of an IP address, offline.

>>> import geolookup
>>> geolookup.get("8.8.8.8", "country")
'US'
>>> geolookup.answer("8.8.8.8").location.country_name
'United States'

``open`` returns an ``Engine``: it has these calls, and the calls for many addresses, tables,
prefixes and exports. ``fields`` lists the fields. Some commands are functions, too: ``build``,
``check``, ``diff``, ``diff_table``, ``generations``, ``mirror``, ``pack``, ``prune``, ``publish``,
``rollback``, ``score``, ``sign``, ``unpack``, ``update``, ``verify``. For annotations there are the
types of answers (``Envelope``, ``Data``, ``Location``, ``Time``, ``Currency``, ``Network``,
``Answer``) and of names of fields (``FieldName``, ``ColumnName``, ``OwnField``).
"""

from __future__ import annotations

from geolookup.engine import Engine, open  # noqa: A004 - the public name
from geolookup.errors import (
    BuildError,
    ClosedError,
    ContractError,
    DatasetError,
    DiffError,
    ExportError,
    GeoLookupError,
    InvalidAddressError,
    InvalidKeyError,
    KeyFileError,
    MissingKeyError,
    OutputError,
    PrivateAddressError,
    QualityError,
    QuotaError,
    RateLimitError,
    TableFileError,
    UpdateError,
)
from geolookup.kernel import Kernel, State

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import Any, Literal, TypeVar, Unpack, overload

    from geolookup_builder.calls import build, check

    from geolookup.archives.pack import pack
    from geolookup.archives.unpack import unpack
    from geolookup.comparison import diff
    from geolookup.comparison.change_table import diff_table
    from geolookup.comparison.score import score
    from geolookup.contract.display import FieldInfo, fields
    from geolookup.contract.types import (
        BooleanField,
        ColumnName,
        Currency,
        Data,
        Envelope,
        FieldList,
        FieldName,
        GroupField,
        IntegerField,
        Location,
        Network,
        NumberField,
        OwnField,
        OwnGroup,
        StringField,
        StringsField,
        Time,
    )
    from geolookup.engine.values import Options
    from geolookup.history.generations import generations, prune, rollback
    from geolookup.history.publishing import publish
    from geolookup.integrity import verify
    from geolookup.kernel.python_answer import Answer
    from geolookup.mirrors.folder import mirror
    from geolookup.store.trusted import sign
    from geolookup.updates.run import update

    _D = TypeVar("_D")

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "BuildError",
    "ClosedError",
    "ColumnName",
    "ContractError",
    "Currency",
    "Data",
    "DatasetError",
    "DiffError",
    "Engine",
    "Envelope",
    "ExportError",
    "FieldInfo",
    "FieldName",
    "GeoLookupError",
    "InvalidAddressError",
    "InvalidKeyError",
    "KeyFileError",
    "Location",
    "MissingKeyError",
    "Network",
    "OutputError",
    "OwnField",
    "PrivateAddressError",
    "QualityError",
    "QuotaError",
    "RateLimitError",
    "TableFileError",
    "Time",
    "UpdateError",
    "__version__",
    "answer",
    "build",
    "check",
    "diff",
    "diff_table",
    "fields",
    "generations",
    "get",
    "lookup",
    "lookup_json",
    "mirror",
    "open",
    "own",
    "pack",
    "prune",
    "publish",
    "rollback",
    "score",
    "sign",
    "unpack",
    "update",
    "verify",
]

#: The module of each name that is imported on first use (PEP 562). No module of this package
#: has the name of one of them: importing the module would hide the function.
_LAZY = {
    name: module
    for module, names in {
        "geolookup.archives.pack": "pack",
        "geolookup.history.publishing": "publish",
        "geolookup.archives.unpack": "unpack",
        "geolookup.comparison": "diff",
        "geolookup.comparison.change_table": "diff_table",
        "geolookup.comparison.score": "score",
        "geolookup.contract.display": "FieldInfo fields",
        "geolookup.contract.types": (
            "ColumnName Currency Data Envelope FieldName Location Network OwnField Time"
        ),
        "geolookup.integrity": "verify",
        "geolookup.kernel.answers": "Answer",
        "geolookup.mirrors.folder": "mirror",
        "geolookup.history.generations": "generations prune rollback",
        "geolookup.store.trusted": "sign",
        "geolookup.updates.run": "update",
        "geolookup_builder.calls": "build check",
    }.items()
    for name in names.split()
}

if not TYPE_CHECKING:  # with __getattr__ a type checker accepts any name

    def __getattr__(name: str) -> Any:
        if name not in _LAZY:
            raise _missing(name)
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_LAZY[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted(__all__)


def _missing(name: str) -> AttributeError:
    """Return the error for a name that the module does not have, with the name that is meant."""
    from geolookup.errors import near_match

    hint = ""
    if hasattr(Engine, name):
        hint = f"; an engine has it: geolookup.open().{name}"
    elif not name.startswith("_"):  # tools look for special names
        fallback = "geolookup.open() opens a dataset, dir(geolookup) lists the names"
        hint = f"; {near_match(name, __all__, fallback=fallback)}"
    # Without ``obj`` a traceback adds no name of its own.
    return AttributeError(f"module 'geolookup' has no attribute {name!r}{hint}", name=name)


#: The default engine, under the key "engine"; empty until the first lookup.
_default: dict[str, Engine] = {}


def _engine() -> Engine:
    """Return the default engine; open it on the first call.

    If several threads open it at the same time, all use the engine that is stored first:
    ``setdefault`` is atomic. A lock could stay locked in a forked child.
    """
    engine = _default.get("engine")
    return _default.setdefault("engine", open()) if engine is None else engine


def answer(ip: object, *, at: Any = None, clean: bool = False) -> Answer:
    """Return the answer for an address from the default dataset as an object.

    >>> geolookup.answer("8.8.8.8").location.country_name
    'United States'

    ``answer.location.city_name``, ``answer.network.asn``, ``answer.time.current_time`` (an
    aware datetime), ``answer.own.site_id`` (an own column), ``answer.prefix``,
    ``answer.to_dict()``: the envelope. Members are read on access, and an unknown value is
    None. All members are of one generation and of the instant ``at``: Unix seconds, an aware
    datetime, or None for now. No text makes this raise: the answer for a malformed or
    private one is false, has ``error_code`` and ``error_message``, and its members are None,
    but own columns of a private one can be known. Raises TypeError or ValueError for an invalid
    ``at`` or an ``ip`` that is no single address (a list, a number, bytes), DatasetError for a
    damaged dataset; reading a member raises it too. With ``clean`` a
    text may have more than the address: blanks, brackets, a port, a zone id, or it may be an
    X-Forwarded-For list; see ``contract.cleaning.clean_text``.
    """
    return _engine().answer(ip, at=at, clean=clean)


if TYPE_CHECKING:

    @overload
    def get(ip: object, field: StringField, /, **options: Unpack[Options]) -> str | None: ...
    @overload
    def get(ip: object, field: StringsField, /, **options: Unpack[Options]) -> list[str] | None: ...
    @overload
    def get(ip: object, field: NumberField, /, **options: Unpack[Options]) -> float | None: ...
    @overload
    def get(ip: object, field: IntegerField, /, **options: Unpack[Options]) -> int | None: ...
    @overload
    def get(ip: object, field: BooleanField, /, **options: Unpack[Options]) -> bool | None: ...
    @overload
    def get(
        ip: object, field: Literal["location"], /, **options: Unpack[Options]
    ) -> Location | None: ...
    @overload
    def get(ip: object, field: Literal["time"], /, **options: Unpack[Options]) -> Time | None: ...
    @overload
    def get(
        ip: object, field: Literal["currency"], /, **options: Unpack[Options]
    ) -> Currency | None: ...
    @overload
    def get(
        ip: object, field: Literal["network"], /, **options: Unpack[Options]
    ) -> Network | None: ...
    @overload
    def get(
        ip: object, field: OwnGroup, /, **options: Unpack[Options]
    ) -> dict[str, Any] | None: ...
    @overload
    def get(
        ip: object, field: OwnField, /, *, default: Any = None, **options: Unpack[Options]
    ) -> Any: ...
    @overload
    def get(
        ip: object, field: StringField, /, *, default: _D, **options: Unpack[Options]
    ) -> str | _D: ...
    @overload
    def get(
        ip: object, field: StringsField, /, *, default: _D, **options: Unpack[Options]
    ) -> list[str] | _D: ...
    @overload
    def get(
        ip: object, field: NumberField, /, *, default: _D, **options: Unpack[Options]
    ) -> float | _D: ...
    @overload
    def get(
        ip: object, field: IntegerField, /, *, default: _D, **options: Unpack[Options]
    ) -> int | _D: ...
    @overload
    def get(
        ip: object, field: BooleanField, /, *, default: _D, **options: Unpack[Options]
    ) -> bool | _D: ...
    @overload
    def get(
        ip: object,
        field: GroupField | OwnGroup,
        /,
        *,
        default: Any,
        **options: Unpack[Options],
    ) -> Any: ...
    @overload
    def get(
        ip: object, fields: FieldList, /, *, default: Any = None, **options: Unpack[Options]
    ) -> tuple[Any, ...]: ...
    @overload
    def get(
        ip: object,
        field: FieldName,
        second: FieldName,
        /,
        *more: FieldName,
        default: Any = None,
        **options: Unpack[Options],
    ) -> tuple[Any, ...]: ...

    def get(
        ip: object,
        field: Any,
        /,
        *more: Any,
        default: Any = None,
        at: Any = None,
        clean: bool = False,
    ) -> Any:
        """Return the value of a field, or a tuple of several; see ``Engine.get``."""


def lookup(ip: object, *, at: Any = None, clean: bool = False) -> Envelope:
    """Return the envelope for an address from the default dataset; the caller may change it.

    >>> geolookup.lookup("8.8.8.8")["data"]["location"]["country_code"]
    'US'
    >>> geolookup.lookup("10.0.0.1")["error_code"]
    10002

    No address makes this raise: ``error_code`` is 10001 for a malformed one, for a private one
    10002, and ``data`` is None. An unknown ``asn`` is left out of ``data["network"]``: read it
    with ``.get("asn")``. ``answer`` describes ``at``, ``clean`` and the errors.
    """
    return _engine().lookup(ip, at=at, clean=clean)


class _DefaultKernel(Kernel):
    """Single lookups on the default dataset, opened by the first one."""

    def __init__(self) -> None:
        self._swap(None)

    def _open_state(self) -> State:
        state = _engine().snapshot()
        self._swap(state)
        return state

    def __reduce__(self) -> str:
        return "_default_kernel"


_default_kernel = _DefaultKernel()

if TYPE_CHECKING:

    def lookup_json(ip: object, *, at: Any = None, clean: bool = False) -> bytes:
        """Return the envelope for an address from the default dataset as compact UTF-8 JSON."""

else:  # a function around the call would take half as long as the call
    get, lookup_json = _default_kernel.get, _default_kernel.lookup_json


def own(ip: object, *, clean: bool = False) -> dict[str, Any] | None:
    """Return the own columns for an address from the default dataset: a dict by their names.

    A value is None if it is unknown. Private addresses have values too, in the columns that
    the recipe declares private. The result is None for a malformed address; the caller may
    change it. ``answer`` describes ``clean``. Raises ValueError if the dataset has no own
    columns, DatasetError for a damaged dataset.
    """
    return _engine().own(ip, clean=clean)
