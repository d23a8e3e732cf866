"""Fields of an answer replace the address in logs: for ``logging`` and for structlog.

Both remove the address from a record or an event, add the fields of its answer, and redact the
address in the rest: the message and its arguments, extra values, the text of exceptions. Neither
raises, whatever the record holds. An address without an answer has None in each field; own columns
can be known for a private address.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Collection, Iterable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

import geolookup
from geolookup.contract.paths import names_of, resolve_field
from geolookup.errors import ClosedError, DatasetError
from geolookup.integrations.redaction import REMOVED, Redaction
from geolookup.kernel.lookups import state_of

if TYPE_CHECKING:
    from geolookup.engine import Engine

#: Names of fields, or a mapping from names in the log to fields.
FieldNames = Mapping[str, str] | Iterable[str]
DEFAULT_FIELDS = ("country", "asn")
_ABSENT = object()


class _Replacing:
    """Looks the fields up; never raises for an address or an unusable dataset."""

    #: Names that the log has already.
    _taken: Collection[str] = ()

    def __init__(
        self,
        address: str | int = "ip",
        fields: FieldNames = DEFAULT_FIELDS,
        *,
        engine: Engine | None = None,
        clean: bool = False,
    ) -> None:
        super().__init__()
        call = type(self).__name__
        if not isinstance(fields, Mapping):
            fields = {str(name): str(name) for name in names_of((fields,))}
        self._address, self._clean = address, clean
        self._engine = geolookup.open() if engine is None else engine
        among = state_of(self._engine).dataset.schema.fields
        self._paths = tuple(resolve_field(name, among, call).path for name in fields.values())
        if "ip" in self._paths:
            raise ValueError(f"{call}: the field 'ip' would keep the address; leave it out")
        if address in fields:
            raise ValueError(f"{address!r} is the address that is removed; choose another name")
        for name in fields:
            if name in self._taken:
                raise ValueError(f"the log has a {name!r} already; choose another name")
        self._unknown: dict[str, Any] = dict.fromkeys(fields)

    def _fields_of(self, address: object, at: float | None = None) -> dict[str, Any]:
        """Return the fields for an address, at an instant."""
        try:
            values = self._engine.get_many([address], self._paths, at=at, clean=self._clean)[0]
        # ValueError: a dataset without an own column has replaced the other in its store.
        except (ClosedError, DatasetError, ValueError):
            return self._unknown
        return dict(zip(self._unknown, values, strict=True))


class GeoFilter(_Replacing, logging.Filter):
    """A filter of ``logging`` for handlers: fields of the answer replace the address.

    ``address`` is the name of the attribute that ``extra`` sets, or of a member of the arguments
    if those are a mapping; an integer is a position in the arguments. ``fields`` are names of
    fields, also of attributes, or a mapping from attributes to fields. Time fields are computed at
    the time of the record. ``engine`` None opens the dataset of ``geolookup.open()``. ``clean``
    reads an address with a port, brackets and more as ``geolookup.lookup`` does.

    The attribute is deleted, an argument is replaced with ``[address]``. A traceback is kept as
    text only. A record without the address gets None in each field that it does not have. Records
    are changed in place: handlers that run before this one, without the filter, see the
    address. Raises ValueError for an unknown field and for a name that records use.
    """

    #: Attributes of every record.
    _taken = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

    def filter(self, record: logging.LogRecord) -> bool:
        """Change a record; always True."""
        address = self._take_address(record)
        if address is not _ABSENT:
            _redact(record, Redaction(address))
            vars(record).update(self._fields_of(address, record.created))
        vars(record).update({**self._unknown, **vars(record)})
        return True

    def _take_address(self, record: logging.LogRecord) -> object:
        """Take the address out of a record and return it."""
        name, args = self._address, record.args
        if isinstance(name, str) and name in vars(record):
            return vars(record).pop(name)
        if isinstance(name, str) and isinstance(args, Mapping) and name in args:
            record.args = {**args, name: REMOVED}
            return args[name]
        if isinstance(name, int) and isinstance(args, tuple) and -len(args) <= name < len(args):
            changed = list(args)
            changed[name] = REMOVED
            record.args = tuple(changed)
            return args[name]
        return _ABSENT


def _redact(record: logging.LogRecord, redaction: Redaction) -> None:
    error = _error(record.exc_info)
    if error is not None:
        record.exc_text, record.exc_info = redaction.exception(error), None
    attributes = vars(record)
    for name, value in list(attributes.items()):
        attributes[name] = redaction.value(value)
    try:
        message = record.getMessage()
    except Exception:  # noqa: BLE001 - arguments that do not fit are reported by the handler
        return
    if redaction.text(message) != message:  # the arguments make the address of parts
        record.msg, record.args = redaction.text(message), ()


def _error(exc_info: object) -> BaseException | None:
    """Return the exception of ``exc_info``: a tuple, an exception, or true."""
    if isinstance(exc_info, tuple):
        exc_info = exc_info[1] if len(exc_info) > 1 else None
    elif exc_info and not isinstance(exc_info, BaseException):
        exc_info = sys.exc_info()[1]
    return exc_info if isinstance(exc_info, BaseException) else None


class GeoProcessor(_Replacing):
    """A processor of structlog: fields of the answer replace the address.

    ``address`` is the name of the value in the event; the other parameters as for ``GeoFilter``.
    The value is deleted, and ``exc_info`` becomes the text ``exception``. An event without the
    address gets None in each field that it does not have. Place it before the processors that
    render.
    """

    def __call__(
        self, _logger: object, _method: str, event: MutableMapping[Any, Any]
    ) -> MutableMapping[Any, Any]:
        """Change an event and return it."""
        address = event.pop(self._address, _ABSENT)
        if address is _ABSENT:
            return {**self._unknown, **event}
        redaction = Redaction(address)
        error = _error(event.pop("exc_info", None))
        if error is not None:
            event["exception"] = redaction.exception(error)
        members = {name: redaction.value(value) for name, value in event.items()}
        return {**members, **self._fields_of(address)}
