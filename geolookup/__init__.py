"""geolookup: the location, time, currency and network of an IP address, offline.

>>> import geolookup
>>> geolookup.lookup("8.8.8.8")["data"]["location"]["country_code"]
'US'

Most commands are also functions, each imported on first use: ``build``, ``diff``,
``generations``, ``mirror``, ``pack``, ``prune``, ``publish``, ``rollback``, ``score``, ``sign``,
``unpack``, ``update``, ``verify``. So are the types of answers: ``Envelope``,
``Data``, ``Location``, ``Time``, ``Currency``, ``Network``, those of paths, ``FieldPath`` and
``ColumnPath``, and ``Answer``, an answer as an object. ``fields`` lists the paths.
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
    QuotaError,
    RateLimitError,
    TableFileError,
    UpdateError,
)

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal, Unpack, overload

    from geolookup_builder.compile import build

    from geolookup.archives.pack import pack
    from geolookup.archives.publish import publish
    from geolookup.archives.unpack import unpack
    from geolookup.comparison import diff
    from geolookup.comparison.scoring import score
    from geolookup.contract.display import FieldInfo, fields
    from geolookup.contract.types import (
        ColumnPath,
        Currency,
        Data,
        Envelope,
        FieldPath,
        Location,
        Network,
        Time,
    )
    from geolookup.engine.many import LookupOptions
    from geolookup.integrity import verify
    from geolookup.kernel.python_answer import Answer
    from geolookup.mirrors.folder import mirror
    from geolookup.store.generations import generations, prune, rollback
    from geolookup.store.signatures import sign
    from geolookup.updates import update

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "BuildError",
    "ClosedError",
    "ColumnPath",
    "ContractError",
    "Currency",
    "Data",
    "DatasetError",
    "DiffError",
    "Engine",
    "Envelope",
    "ExportError",
    "FieldInfo",
    "FieldPath",
    "GeoLookupError",
    "InvalidAddressError",
    "InvalidKeyError",
    "KeyFileError",
    "Location",
    "MissingKeyError",
    "Network",
    "OutputError",
    "PrivateAddressError",
    "QuotaError",
    "RateLimitError",
    "TableFileError",
    "Time",
    "UpdateError",
    "__version__",
    "build",
    "diff",
    "fields",
    "generations",
    "lookup",
    "lookup_json",
    "lookup_many",
    "lookup_many_json",
    "mirror",
    "open",
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
        "geolookup.archives.publish": "publish",
        "geolookup.archives.unpack": "unpack",
        "geolookup.comparison": "diff",
        "geolookup.comparison.scoring": "score",
        "geolookup.contract.display": "FieldInfo fields",
        "geolookup.contract.types": (
            "ColumnPath Currency Data Envelope FieldPath Location Network Time"
        ),
        "geolookup.integrity": "verify",
        "geolookup.kernel.answers": "Answer",
        "geolookup.mirrors.folder": "mirror",
        "geolookup.store.generations": "generations prune rollback",
        "geolookup.store.signatures": "sign",
        "geolookup.updates": "update",
        "geolookup_builder.compile": "build",
    }.items()
    for name in names.split()
}

if not TYPE_CHECKING:  # with __getattr__ a type checker accepts any name

    def __getattr__(name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_LAZY[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


#: The default engine, under the key "engine"; empty until the first lookup.
_default: dict[str, Engine] = {}


def _engine() -> Engine:
    """Return the default engine; open it on the first call.

    If several threads open it at the same time, all use the engine that is stored first:
    ``setdefault`` is atomic. A lock could stay locked in a forked child.
    """
    engine = _default.get("engine")
    return _default.setdefault("engine", open()) if engine is None else engine


def lookup(ip: object, *, at: Any = None, clean: bool = False) -> Envelope:
    """Return the envelope for an address from the default dataset; the caller may change it.

    ``at`` is the instant of the time object: Unix seconds, an aware
    datetime, or None for now. No address makes this raise: a malformed
    one gives an envelope with code 10001, a private one with 10002. Raises
    TypeError or ValueError for an invalid ``at``, DatasetError for a damaged dataset.
    With ``clean`` a text may have more than the address: blanks, brackets, a port, a zone
    id, or it may be an X-Forwarded-For list; see ``contract.cleaning.clean_text``.
    """
    return _engine().lookup(ip, at=at, clean=clean)


def lookup_json(ip: object, *, at: Any = None, clean: bool = False) -> bytes:
    """Return the envelope for an address from the default dataset as compact UTF-8 JSON.

    ``at``, ``clean`` and the errors are those of ``lookup``.
    """
    return _engine().lookup_json(ip, at=at, clean=clean)


def lookup_many(ips: Iterable[object], *, at: Any = None, clean: bool = False) -> list[Envelope]:
    """Return the envelope of each address from the default dataset, in order, as ``lookup`` does.

    ``ips`` is any iterable of what ``lookup`` takes. A malformed or private address has
    its error envelope in its place. ``at`` is the instant of all answers (None: now, when the
    call begins) or an iterable with the instant of each address. ``clean`` is that of
    ``lookup``. All answers of a call are of one generation. Raises what ``lookup`` raises,
    TypeError if ``ips`` is a text, and ValueError if ``at`` has more or fewer instants
    than there are addresses.
    """
    return _engine().lookup_many(ips, at=at, clean=clean)


if TYPE_CHECKING:

    @overload
    def lookup_many_json(
        ips: Iterable[object],
        *,
        lines: Literal[False] = False,
        **options: Unpack[LookupOptions],
    ) -> list[bytes]: ...
    @overload
    def lookup_many_json(
        ips: Iterable[object], *, lines: Literal[True], **options: Unpack[LookupOptions]
    ) -> bytes: ...
    @overload
    def lookup_many_json(
        ips: Iterable[object], *, lines: bool, **options: Unpack[LookupOptions]
    ) -> list[bytes] | bytes: ...


def lookup_many_json(
    ips: Iterable[object], *, at: Any = None, clean: bool = False, lines: bool = False
) -> list[bytes] | bytes:
    """Return the envelopes from the default dataset as compact UTF-8 JSON; see ``lookup_many``.

    With ``lines`` the result is one bytes object: JSON lines, with a line feed after each.
    """
    return _engine().lookup_many_json(ips, at=at, clean=clean, lines=lines)
