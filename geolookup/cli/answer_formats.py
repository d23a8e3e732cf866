"""JSON and CSV of ``geolookup lookup``, made from the JSON lines of answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import StringIO
from typing import TYPE_CHECKING

from geolookup.cli import json_text
from geolookup.cli.address_input import InputLines
from geolookup.cli.terminal_text import has_colours, style
from geolookup.contract.envelope import to_json

if TYPE_CHECKING:
    from typing import Any, Protocol

    from geolookup.cli.address_input import Block
    from geolookup.contract.fields import Field

    class Format(Protocol):
        """Turns the JSON lines of a block's answers into the bytes to print."""

        def __call__(self, answers: bytes, block: Block, /) -> bytes:
            """Return the answers in this format."""

        def tells(self, block: Block, /) -> bool:
            """Return whether errors of the block are also named on standard error."""


_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=:)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*)'
)
_COLOURS = {"key": "blue", "text": "green", "word": "cyan"}


class Json:
    """Envelopes, whole or with the chosen fields: one line each, or indented."""

    def __init__(self, fields: tuple[Field, ...] | None, *, compact: bool) -> None:
        self._fields, self._compact = fields, compact

    def __call__(self, answers: bytes, _block: Block) -> bytes:
        """See ``Format``."""
        if self._fields is None and self._compact:
            return answers
        write = _compact if self._compact else _indent
        return "".join([write(self._select(answer)) + "\n" for answer in parse(answers)]).encode()

    def tells(self, block: Block) -> bool:
        """See ``Format``: an answer does not say which line it is for."""
        return isinstance(block, InputLines)

    def _select(self, envelope: dict[str, Any]) -> dict[str, Any]:
        data = envelope["data"]
        if self._fields is None or data is None:
            return envelope
        return envelope | {"data": _select_members(data, {field.path for field in self._fields})}


def parse(answers: bytes) -> Iterator[dict[str, Any]]:
    """Yield the envelopes of JSON lines."""
    return map(json.loads, answers.splitlines())


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


class Csv:
    """A column for each field, under the name that ``geolookup enrich`` gives it."""

    def __init__(self, fields: tuple[Field, ...]) -> None:
        self._fields = fields
        self._is_begun = False

    def __call__(self, answers: bytes, _block: Block) -> bytes:
        """See ``Format``."""
        from geolookup.files.csv_lines import csv_writer  # the usual format does not need it

        text = StringIO()
        writer = csv_writer(text)
        if not self._is_begun:
            writer.writerow([field.name for field in self._fields])
            self._is_begun = True
        for envelope in parse(answers):
            writer.writerow([_cell(_value(envelope, field)) for field in self._fields])
        return text.getvalue().encode()

    def tells(self, _block: Block) -> bool:
        """See ``Format``: a row of an error is empty."""
        return True


def _value(envelope: dict[str, Any], field: Field) -> Any:
    """Return the value of a field of an answer; None if it has none."""
    from geolookup.contract.fields import value_in

    if field.path in envelope:  # the error code
        return envelope[field.path]
    return envelope["data"] and value_in(envelope["data"], field)


def _cell(value: Any) -> str:
    """Return a value as ``geolookup enrich`` writes it into a CSV."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
