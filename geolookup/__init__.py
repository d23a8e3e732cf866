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

from geolookup import errors
from geolookup.engine import Engine, open  # noqa: A004 - the public name
from geolookup.errors import (
    DatasetError,
    GeoLookupError,
    InvalidAddressError,
    PrivateAddressError,
)
from geolookup.kernel import Kernel, State
from geolookup.kernel.lookups import state_of

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from geolookup_builder.calls import build, check

    from geolookup.archives.pack import pack
    from geolookup.archives.unpack import unpack
    from geolookup.comparison import diff
    from geolookup.comparison.change_table import diff_table
    from geolookup.comparison.score import score
    from geolookup.contract.display import FieldInfo, fields
    from geolookup.contract.types import (
        ColumnName,
        Currency,
        Data,
        Envelope,
        FieldName,
        Location,
        Network,
        OwnField,
        Time,
    )
    from geolookup.history.generations import generations, prune, rollback
    from geolookup.history.publishing import publish
    from geolookup.integrity import verify
    from geolookup.kernel.python_answer import Answer
    from geolookup.mirrors.folder import mirror
    from geolookup.store.trusted import sign
    from geolookup.updates.run import update

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "ColumnName",
    "Currency",
    "Data",
    "DatasetError",
    "Engine",
    "Envelope",
    "FieldInfo",
    "FieldName",
    "GeoLookupError",
    "InvalidAddressError",
    "Location",
    "Network",
    "OwnField",
    "PrivateAddressError",
    "Time",
    "__version__",
    "answer",
    "build",
    "check",
    "diff",
    "diff_table",
    "errors",
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

    def __getattr__(name: str) -> object:
        if name not in _LAZY:
            raise _missing(name)
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_LAZY[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted(__all__)


def _missing(name: str) -> AttributeError:
    """Return the error for a name that the module does not have, with the name that is meant."""
    hint = ""
    if hasattr(Engine, name):
        hint = f"; an engine has it: geolookup.open().{name}"
    elif hasattr(errors, name):
        hint = f"; it is geolookup.errors.{name}"
    elif not name.startswith("_"):  # tools look for special names
        fallback = "geolookup.open() opens a dataset, dir(geolookup) lists the names"
        hint = f"; {errors.near_match(name, __all__, fallback=fallback)}"
    # Without ``obj`` a traceback adds no name of its own.
    return AttributeError(f"module 'geolookup' has no attribute {name!r}{hint}", name=name)


class _Default(Kernel):
    """Single lookups on the default dataset, opened by the first one."""

    def __init__(self) -> None:
        self._swap(None)
        self._engine: Engine | None = None

    def engine(self) -> Engine:
        """Return the default engine; open it on the first call.

        If several threads open it at the same time, the last one stays. A lock could stay locked in
        a forked child.
        """
        if self._engine is None:
            self._engine = open()
        return self._engine

    def _open_state(self) -> State:
        state = state_of(self.engine())
        self._swap(state)
        return state

    def __reduce__(self) -> str:
        return "_default"


_default = _Default()
# Bound calls: functions around them would take half as long as the calls.
answer, get, lookup = _default.answer, _default.get, _default.lookup
lookup_json, own = _default.lookup_json, _default.own
