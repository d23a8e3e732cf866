"""The formats of ``geolookup lookup``, made from the JSON lines that a kernel writes.

Strategy: a format is a function from the answers of a block to the bytes to print. In a pipe the
JSON lines are printed unchanged; the other formats parse them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

from geolookup.cli import json_text
from geolookup.cli.terminal_text import Table, has_colours, has_flags, style, value_text
from geolookup.contract.envelope import to_json
from geolookup.contract.fields import COLUMNS, ERROR_CODE, OWN, value_in
from geolookup.kernel.lookups import state_of

if TYPE_CHECKING:
    from geolookup.cli.address_input import Block
    from geolookup.contract.fields import Field
    from geolookup.engine import Engine

    #: Turns the JSON lines of a block's answers into the bytes to print.
    Format = Callable[[bytes, Block], bytes]

_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=:)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*)'
)
_COLOURS = {"key": "blue", "text": "green", "word": "cyan"}
_UNKNOWN = "-"


class Question(NamedTuple):
    """The options of one call."""

    engine: Engine
    fields: tuple[Field, ...] | None = None  # None: all of the contract
    clean: bool = False
    compact: bool | None = None

    def envelopes(
        self, answers: bytes, block: Block, fields: Iterable[Field]
    ) -> Iterator[tuple[dict[str, Any], object]]:
        """Yield the envelope of each answer, and its address.

        If a field is an own column, the envelope has these, and the address, as members.
        """
        has_own = any(field.group == OWN for field in fields)
        # Of a damaged dataset there are fewer answers.
        for line, (_, address) in zip(answers.splitlines(), block.items(), strict=False):
            envelope = json.loads(line)
            if has_own:
                envelope |= {OWN: self.engine.own(address), "ip": str(address)}
            yield envelope, address


def _value(envelope: dict[str, Any], field: Field) -> Any:
    """Return the value of a field of an answer; None if it has none."""
    if field is ERROR_CODE:
        return envelope[field.path]
    members = envelope if field.group == OWN else envelope["data"]
    return members and members.get(field.group, members) and value_in(members, field)


def _json(question: Question) -> Format:
    """Envelopes, whole or with the chosen fields: one line each, or indented."""
    fields, compact = question.fields, question.compact
    compact = not sys.stdout.isatty() if compact is None else compact
    if fields is None and compact:
        return lambda answers, _block: answers
    paths = None if fields is None else {field.path for field in fields}
    write = _compact if compact else _indent

    def show(answers: bytes, block: Block) -> bytes:
        envelopes = question.envelopes(answers, block, fields or ())
        return "".join(
            [f"{write(_select(envelope, paths))}\n" for envelope, _ in envelopes]
        ).encode()

    return show


def _select(envelope: dict[str, Any], paths: set[str] | None) -> dict[str, Any]:
    """Return an envelope with the chosen members; own columns are the last of data.

    A private address has no data: there they are the last of the envelope.
    """
    if paths is None:
        return envelope
    envelope.pop("ip", None)
    data, own = envelope["data"], envelope.pop(OWN, None)
    members = {} if own is None else {OWN: own}
    if data is None:
        return envelope | _select_members(members, paths)
    return envelope | {"data": _select_members({**data, **members}, paths)}


def _select_members(data: dict[str, Any], paths: set[str]) -> dict[str, Any]:
    """Return data with the members of some paths, in the order of the contract."""
    selection: dict[str, Any] = {}
    for name, value in data.items():
        if name in paths:
            selection[name] = value
        elif isinstance(value, dict):
            members = {key: value[key] for key in value if f"{name}.{key}" in paths}
            selection |= {name: members} if members else {}
    return selection


def _compact(envelope: dict[str, Any]) -> str:
    return to_json(envelope).decode()


def _indent(envelope: dict[str, Any]) -> str:
    text = json_text(envelope)
    return _TOKEN.sub(_colour, text) if has_colours() else text


def _colour(token: re.Match[str]) -> str:
    return style(token.group(), fg=_COLOURS[str(token.lastgroup)])


def _csv(question: Question) -> Format:
    """A column for each field, under the name that ``geolookup enrich`` gives it."""
    from geolookup.files.csv_lines import csv_writer  # the usual format does not need it

    fields = question.fields or COLUMNS
    header = [[field.name for field in fields]]

    def show(answers: bytes, block: Block) -> bytes:
        text = StringIO()
        writer = csv_writer(text)
        writer.writerows(header)
        header.clear()
        for envelope, _ in question.envelopes(answers, block, fields):
            writer.writerow([_cell(_value(envelope, field)) for field in fields])
        return text.getvalue().encode()

    return show


def _cell(value: Any) -> str:
    """Return a value as ``geolookup enrich`` writes it into a CSV."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _table(question: Question) -> Format:
    """Lines for people: the overview of each answer, or the chosen fields; errors are rows too."""
    fields = question.fields
    if fields is None:
        fields, table = state_of(question.engine).dataset.schema.own, Table()
        cells = _overview(question.engine, table)
    else:
        fields = tuple(field for field in fields if field.path != "ip")
        table = Table(("ip", *(field.path for field in fields)))
        cells = _values(fields)

    def show(answers: bytes, block: Block) -> bytes:
        envelopes = question.envelopes(answers, block, fields)
        return table.encode(
            [
                (cells(envelope, table.short_text(str(address))), envelope["error"])
                for envelope, address in envelopes
            ]
        )

    return show


#: Makes the cells of an envelope and of the address that was looked up.
_Cells = Callable[[dict[str, Any], str], list[str]]


def _overview(engine: Engine, table: Table) -> _Cells:
    """Return a function to cells: address, place, local time, network, prefix, own columns."""
    from geolookup.contract.display import network_name, place_name

    with_flag = has_flags(table.encoding)

    def cells(envelope: dict[str, Any], address: str) -> list[str]:
        data, own = envelope["data"], [_own_text(envelope)] if OWN in envelope else []
        if data is None:
            return [address, envelope["error_message"], *[_UNKNOWN] * 3, *own]
        flag = data["location"]["country_flag_emoji"] if with_flag else None
        place = place_name(data["location"]) or "location unknown"
        return [
            data["ip"],
            f"{flag} {place}" if flag else place,
            _local_time(data["time"]),
            network_name(data["network"]) or _UNKNOWN,
            str(engine.answer(data["ip"]).prefix),
            *own,
        ]

    return cells


def _values(fields: tuple[Field, ...]) -> _Cells:
    """Return a function to cells: the address, then the values of fields."""

    def cells(envelope: dict[str, Any], address: str) -> list[str]:
        # Own columns are known for private addresses too.
        if envelope["data"] is None and not envelope.get(OWN):
            message, others = envelope["error_message"], [_UNKNOWN] * (len(fields) - 1)
            return [address, message, *others] if fields else [f"{address}: {message}"]
        address = (envelope["data"] or envelope)["ip"]
        return [address, *(value_text(_value(envelope, field)) for field in fields)]

    return cells


def _own_text(envelope: dict[str, Any]) -> str:
    """Return the own columns that are known, under their heading."""
    known = {name: item for name, item in (envelope[OWN] or {}).items() if item is not None}
    texts = [f"{name} {value_text(item)}" for name, item in known.items()]
    return f"own: {', '.join(texts) or _UNKNOWN}"


def _local_time(time: dict[str, Any]) -> str:
    """Return date, time to the minute, and the zone by its abbreviation, or by its offset."""
    if time["current_time"] is None:
        return _UNKNOWN
    date, _, clock = time["current_time"].partition("T")
    abbr = time["abbr"] if time["abbr"].isalpha() else f"UTC{time['utc_offset']}"
    return f"{date} {clock[:5]} {abbr}"


FORMATS: dict[str, Callable[[Question], Format]] = {"json": _json, "csv": _csv, "table": _table}
