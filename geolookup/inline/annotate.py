"""Text with a tag after each of its addresses; without the tags it has the same bytes.

Strategy: a tag is rendered once for each combination of rows, one of each table. A text with many
different combinations is likely to have more of them. Then those whose fields have the same values
share a tag: there are far fewer countries than cities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from string import Formatter
from typing import TYPE_CHECKING, Any

import numpy as np

from geolookup.contract.fields import Field
from geolookup.contract.paths import resolve_field
from geolookup.contract.schema import CONTRACT, Schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import U8
from geolookup.inline import Part, Rows, Scanner, rows_of, with_texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from geolookup.kernel.protocol import State

#: The texts of an unknown value, of a tag without known values, and of a private address.
_UNKNOWN, _ALL_UNKNOWN, _PRIVATE = "-", "unknown", "private"
#: The most tags that are kept. With more, all are rendered again.
_MOST = 1 << 17
#: Combinations of rows after which the rows of equal values count as one.
_FEW = 1 << 13
#: The number of a private address without an answer.
_PRIVATE_NUMBER = -1
#: The most bits of a number above 0 in a column of int64.
_BITS = 63
#: The empty block: it ends a text.
_END = b""


def annotate_blocks(state: State, blocks: Iterable[bytes], tags: Tags) -> Iterator[U8]:
    """Yield the bytes of a text with a tag after each address, a block at a time.

    An empty block ends a text; the next one begins another.
    """
    scanner = Scanner()
    for block in chain(blocks, [_END]):
        part = scanner.part(block)
        yield with_texts(part, part.ends, tags.of(part, rows_of(state, part, tags.tables)))


class Template:
    """A text with fields in braces, such as ``{country} AS{asn}``; ``{{`` and ``}}`` are braces.

    A field is one that a dataset stores: its value depends only on the network that the address
    is in. ``value_text`` writes a value that is known. ``call`` is the call or option that has the
    text, ``schema`` has the fields of the dataset. Raises ValueError for any other field, and for a
    malformed text.
    """

    def __init__(
        self, text: str, value_text: Callable[[Any], str], call: str, schema: Schema = CONTRACT
    ) -> None:
        self._value_text = value_text
        self._form, self.fields = _parse(text, call, schema)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the fields."""
        return tuple(field.path for field in self.fields)

    def tag(self, values: Sequence[Any]) -> str:
        """Return the tag for the values of ``paths``."""
        if self.fields and not any(value is not None for value in values):
            return _ALL_UNKNOWN
        write = self._value_text
        return self._form % tuple([_UNKNOWN if value is None else write(value) for value in values])

    def private(self) -> str:
        """Return the tag of a private address."""
        return _PRIVATE if self.fields else self._form % ()


def _parse(text: str, call: str, schema: Schema) -> tuple[str, tuple[Field, ...]]:
    """Return the text as the left side of the ``%`` operator, and its fields."""
    parts, fields = [], []
    for literal, name, form, conversion in _pieces(text, call):
        parts.append(literal.replace("%", "%%"))
        if name is not None:
            if form or conversion:
                raise ValueError(f"{call}: {{{name}}} takes no format; write only the field")
            fields.append(resolve_field(name, schema.stored, call))
            parts.append("%s")
    return "".join(parts), tuple(fields)


def _pieces(text: str, call: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(Formatter().parse(text))
    except ValueError as error:  # a brace without its partner
        raise ValueError(f"{call}: {error}; {{{{ and }}}} are braces") from None


class Tags:
    """Renders the tags of one dataset; ``written`` makes the bytes of a tag's text."""

    def __init__(self, state: State, template: Template, written: Callable[[str], bytes]) -> None:
        self._state, self._template, self._written = state, template, written
        self._private = written(template.private())
        self.cache = {_PRIVATE_NUMBER: self._private}
        #: the tables that the fields need
        self.tables = fmt.row_tables(template.fields)
        counts = state.dataset.row_counts()
        self._bits = {table: counts[table].bit_length() for table in self.tables}
        # Objects are Python's integers, of any size.
        self._kind: Any = np.int64 if sum(self._bits.values()) <= _BITS else object
        self._first_equal: Mapping[str, NDArray[np.int32]] | None = None

    def of(self, part: Part, rows: Rows) -> list[bytes]:
        """Return the tag of each address of a part."""
        self._limit()
        numbers = self._numbers(rows).tolist()
        tags = list(map(self.cache.get, numbers))
        if None in tags:
            missing = {
                number: at
                for at, (number, tag) in enumerate(zip(numbers, tags, strict=True))
                if tag is None
            }
            self._render(part, missing)
        return [tag or self.cache[number] for number, tag in zip(numbers, tags, strict=True)]

    def _numbers(self, rows: Rows) -> NDArray[Any]:
        """Return a number for the rows of each address."""
        # | location row | network row | own row |, each with the bits of its table.
        numbers = np.zeros(len(rows.has_answer), self._kind)
        for table, bits in self._bits.items():
            of_table: NDArray[Any] = rows.by_table[table]
            if self._first_equal is not None:
                of_table = self._first_equal[table][of_table]
            numbers = numbers << bits | of_table.astype(self._kind)
        numbers[~rows.has_answer] = _PRIVATE_NUMBER
        return numbers

    def _limit(self) -> None:
        """Remove the known tags if there are too many."""
        is_first = self._first_equal is None and len(self.cache) > _FEW
        if is_first:
            # The numbers of before are of other rows: the tags known so far go too.
            self._first_equal = self._first_equal_rows()
        if is_first or len(self.cache) > _MOST:
            self.cache = {_PRIVATE_NUMBER: self._private}

    def _first_equal_rows(self) -> Mapping[str, NDArray[np.int32]]:
        from geolookup.tables.row_tables import first_equal_rows  # it imports Arrow

        return first_equal_rows(self._state.dataset, self._template.fields)

    def _render(self, part: Part, missing: dict[int, int]) -> None:
        """Render the tags of numbers, each with the position of an address that has it."""
        text, places = part.data.data, [*missing.values()]
        ends = zip(part.starts[places].tolist(), part.ends[places].tolist(), strict=True)
        # Any address with the number will do: its fields depend on these rows only.
        texts: list[object] = [str(text[first:end], "ascii") for first, end in ends]
        for number, values in zip(
            missing, self._state.values(texts, self._template.paths, 0), strict=True
        ):
            self.cache[number] = self._written(self._template.tag(values))
