"""JSON and CSV of ``geolookup lookup``, made from the JSON lines of answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from io import StringIO
from typing import TYPE_CHECKING

from geolookup.cli import json_text
from geolookup.cli.address_input import InputLines
from geolookup.cli.terminal_text import has_colours, style
from geolookup.contract.envelope import to_json
from geolookup.contract.fields import ERROR_CODE, OWN, value_in

if TYPE_CHECKING:
    from typing import Any, Protocol

    from geolookup.cli.address_input import Block
    from geolookup.contract.fields import Field
    from geolookup.engine import Engine

    #: Yields the envelopes of the answers of a block.
    Reader = Callable[[bytes, Block], Iterator[dict[str, Any]]]

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


def parse(answers: bytes, _block: Block) -> Iterator[dict[str, Any]]:
    """Yield the envelopes of JSON lines."""
    return map(json.loads, answers.splitlines())


def with_own(engine: Engine, *, clean: bool) -> Reader:
    """Return a reader that adds members to each envelope: the own columns, and the address."""
    from geolookup.contract.cleaning import clean_text  # here: its patterns take long to compile

    def read(answers: bytes, block: Block) -> Iterator[dict[str, Any]]:
        # Of a damaged dataset there are fewer answers.
        for envelope, text in zip(parse(answers, block), block.addresses(), strict=False):
            address = clean_text(text) if clean else text
            yield envelope | {OWN: engine.own(address), "ip": str(address)}

    return read


def value(envelope: dict[str, Any], field: Field) -> Any:
    """Return the value of a field of an answer; None if it has none."""
    if field is ERROR_CODE:
        return envelope[field.path]
    members = envelope if field.group == OWN else envelope["data"]
    return members and members.get(field.group, members) and value_in(members, field)


class Json:
    """Envelopes, whole or with the chosen fields: one line each, or indented."""

    def __init__(
        self, fields: tuple[Field, ...] | None, read: Reader = parse, *, compact: bool
    ) -> None:
        self._fields, self._read, self._compact = fields, read, compact

    def __call__(self, answers: bytes, block: Block) -> bytes:
        """See ``Format``."""
        if self._fields is None and self._compact:
            return answers
        write, envelopes = _compact if self._compact else _indent, self._read(answers, block)
        return "".join([write(self._select(envelope)) + "\n" for envelope in envelopes]).encode()

    def tells(self, block: Block) -> bool:
        """See ``Format``: an answer does not say which line it is for."""
        return isinstance(block, InputLines)

    def _select(self, envelope: dict[str, Any]) -> dict[str, Any]:
        """Return an envelope with the chosen members; own columns are the last of data.

        A private address has no data: there they are the last of the envelope.
        """
        if self._fields is None:
            return envelope
        envelope.pop("ip", None)
        data, own = envelope["data"], envelope.pop(OWN, None)
        paths = {field.path for field in self._fields}
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


class Csv:
    """A column for each field, under the name that ``geolookup enrich`` gives it."""

    def __init__(self, fields: tuple[Field, ...], read: Reader = parse) -> None:
        self._fields, self._read = fields, read
        self._is_begun = False

    def __call__(self, answers: bytes, block: Block) -> bytes:
        """See ``Format``."""
        from geolookup.files.csv_lines import csv_writer  # the usual format does not need it

        text = StringIO()
        writer = csv_writer(text)
        if not self._is_begun:
            writer.writerow([field.name for field in self._fields])
            self._is_begun = True
        for envelope in self._read(answers, block):
            writer.writerow([_cell(value(envelope, field)) for field in self._fields])
        return text.getvalue().encode()

    def tells(self, _block: Block) -> bool:
        """See ``Format``: a row of an error is empty."""
        return True


def _cell(value: Any) -> str:
    """Return a value as ``geolookup enrich`` writes it into a CSV."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
