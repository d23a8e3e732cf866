"""The formats of ``geolookup lookup``: JSON, CSV, and a table for people.

Strategy: a kernel writes the answers of a block as JSON lines. In a pipe these are printed
unchanged. Chosen fields, columns and cells come from one list of values per answer.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from geolookup.cli import json_text
from geolookup.cli.terminal_text import UNKNOWN, Table, has_colours, has_flags, style, value_text
from geolookup.contract.envelope import success, to_json
from geolookup.contract.fields import COLUMNS, ERROR_CODE, FIELDS, OWN
from geolookup.errors import InvalidAddressError
from geolookup.kernel.lookups import state_of

if TYPE_CHECKING:
    from geolookup.cli.address_input import Block
    from geolookup.contract.fields import Field
    from geolookup.contract.types import Data
    from geolookup.engine import Engine

#: How the JSON of an error begins.
FAILURE = b'{"success":false,'
_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=:)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*)'
)
_COLOURS = {"key": "blue", "text": "green", "word": "cyan"}


class Answers(NamedTuple):
    """The answers of a block as JSON lines; of a damaged dataset there are fewer."""

    lines: bytes
    block: Block
    second: int  # the instant of local times

    def items(self) -> Iterator[tuple[bytes, object]]:
        """Yield the JSON of each answer, and its address."""
        addresses = (address for _, address in self.block.items())
        return zip(self.lines.splitlines(), addresses, strict=False)


class Question(NamedTuple):
    """The options of one call."""

    engine: Engine
    fields: tuple[Field, ...] | None = None  # None: all of the contract
    clean: bool = False
    compact: bool | None = None

    def rows(
        self, answers: Answers, fields: Sequence[Field]
    ) -> Iterator[tuple[object, dict[str, Any], list[Any]]]:
        """Yield each address, its error envelope or an empty one, and its values of fields."""
        items = list(answers.items())
        paths = tuple(field.path for field in fields if field is not ERROR_CODE)
        addresses = [address for _, address in items]
        values = state_of(self.engine).values(addresses, paths, answers.second)
        for (line, address), known in zip(items, values, strict=True):
            error = json.loads(line) if line.startswith(FAILURE) else {}
            code, others = error.get(ERROR_CODE.path), iter(known)
            yield address, error, [code if of is ERROR_CODE else next(others) for of in fields]


#: Turns answers into the bytes to print.
Format = Callable[[Answers], bytes]


def _json(question: Question) -> Format:
    """Envelopes, whole or with the chosen fields: one line each, or indented."""
    fields, compact = question.fields, question.compact
    compact = not sys.stdout.isatty() if compact is None else compact
    if fields is None and compact:
        return lambda answers: answers.lines
    write = _compact if compact else _indent
    if fields is None:
        return lambda answers: b"".join(map(write, map(json.loads, answers.lines.splitlines())))
    columns = state_of(question.engine).dataset.schema.columns
    chosen = [field for field in columns if field in fields and field is not ERROR_CODE]

    def show(answers: Answers) -> bytes:
        rows = question.rows(answers, chosen)
        return b"".join([write(_envelope(error, chosen, values)) for _, error, values in rows])

    return show


def _envelope(error: dict[str, Any], fields: Sequence[Field], values: list[Any]) -> dict[str, Any]:
    """Return an envelope with the chosen members, in the order of the contract.

    Own columns are the last of data. A private address has no data: there they are the last of the
    envelope.
    """
    data: dict[str, Any] = {}
    for field, value in zip(fields, values, strict=True):
        if value is not None or not field.optional:
            members = data.setdefault(field.group, {}) if field.group else data
            members[field.member] = value
    if not error:
        return {**success(cast("Data", data))}
    is_private = error["error_code"] != InvalidAddressError.code
    return error | {name: data[name] for name in (OWN,) if is_private and name in data}


def _compact(envelope: dict[str, Any]) -> bytes:
    return to_json(envelope) + b"\n"


def _indent(envelope: dict[str, Any]) -> bytes:
    text = json_text(envelope)
    return f"{_TOKEN.sub(_colour, text) if has_colours() else text}\n".encode()


def _colour(token: re.Match[str]) -> str:
    return style(token.group(), fg=_COLOURS[str(token.lastgroup)])


def _csv(question: Question) -> Format:
    """A column for each field, under the name that ``geolookup enrich`` gives it."""
    from geolookup.files.csv_lines import csv_writer  # the usual format does not need it

    fields = question.fields or COLUMNS
    header = [[field.name for field in fields]]

    def show(answers: Answers) -> bytes:
        text = StringIO()
        writer = csv_writer(text)
        writer.writerows(header)
        header.clear()
        writer.writerows(map(_cell, values) for _, _, values in question.rows(answers, fields))
        return text.getvalue().encode()

    return show


def _cell(value: Any) -> str:
    """Return a value as ``geolookup enrich`` writes it into a CSV."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _table(question: Question) -> Format:
    """Lines for people: the overview of each answer, or the chosen fields; errors are rows too."""
    if question.fields is None:
        table, rows = Table(), _overview
    else:
        fields = [field for field in question.fields if field.path != "ip"]
        table, rows = Table(("ip", *(field.path for field in fields))), _values
    return lambda answers: table.encode(rows(question, answers, table))


#: Cells, and whether they are of an error.
_Row = tuple[list[str], bool]


def _overview(question: Question, answers: Answers, table: Table) -> Iterator[_Row]:
    """Yield for each answer the address, place, local time, network, prefix and own columns."""
    from geolookup.contract.display import network_name, place_name

    engine, with_flag = question.engine, has_flags(table.encoding)
    has_own = bool(state_of(engine).dataset.schema.own)
    for line, address in answers.items():
        envelope = json.loads(line)
        data, own = envelope["data"], [_own_text(engine.own(address))] if has_own else []
        if data is None:
            cells = table.short_text(str(address)), envelope["error_message"], *[UNKNOWN] * 3
            yield [*cells, *own], True
            continue
        flag = data["location"]["country_flag_emoji"] if with_flag else None
        place = place_name(data["location"]) or "location unknown"
        prefix = str(engine.answer(data["ip"]).prefix)
        network = network_name(data["network"]) or UNKNOWN
        place = f"{flag} {place}" if flag else place
        yield [data["ip"], place, _local_time(data["time"]), network, prefix, *own], False


def _values(question: Question, answers: Answers, table: Table) -> Iterator[_Row]:
    """Yield for each answer the address, and the values of the chosen fields."""
    fields = [field for field in question.fields or () if field.path != "ip"]
    has_own = any(field.group == OWN for field in fields)
    for address, error, values in question.rows(answers, [FIELDS[0], *fields]):
        echo = values[0] or table.short_text(str(address))
        # Own columns are known for private addresses too.
        if error and not (has_own and error["error_code"] != InvalidAddressError.code):
            texts = [error["error_message"], *[UNKNOWN] * (len(fields) - 1)]
        else:
            texts = [*map(value_text, values[1:])]
        yield [echo, *texts], bool(error)


def _own_text(own: Mapping[str, Any] | None) -> str:
    """Return the own columns that are known, under their heading."""
    known = {name: item for name, item in (own or {}).items() if item is not None}
    texts = [f"{name} {value_text(item)}" for name, item in known.items()]
    return f"own: {', '.join(texts) or UNKNOWN}"


def _local_time(time: dict[str, Any]) -> str:
    """Return date, time to the minute, and the zone by its abbreviation, or by its offset."""
    if time["current_time"] is None:
        return UNKNOWN
    date, _, clock = time["current_time"].partition("T")
    abbr = time["abbr"] if time["abbr"].isalpha() else f"UTC{time['utc_offset']}"
    return f"{date} {clock[:5]} {abbr}"


FORMATS: dict[str, Callable[[Question], Format]] = {"json": _json, "csv": _csv, "table": _table}
