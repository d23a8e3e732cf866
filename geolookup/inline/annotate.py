"""Text with a tag after each of its addresses; without the tags it has the same bytes.

Strategy: a tag is rendered once for each pair of a location row and a network row. A text with many
different pairs is likely to have more of them. Then pairs whose fields have the same values share
a tag: there are far fewer countries than cities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from string import Formatter
from typing import TYPE_CHECKING, Any

import numpy as np

from geolookup.contract.fields import FIELDS, STORED
from geolookup.contract.paths import resolve_field
from geolookup.dataset.intervals import U8
from geolookup.inline import Part, Rows, Scanner, rows_of, with_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geolookup.dataset.intervals import U64
    from geolookup.kernel.protocol import State

    I32 = NDArray[np.int32]

#: The texts of an unknown value, of a tag without known values, and of a private address.
_UNKNOWN, _ALL_UNKNOWN, _PRIVATE = "-", "unknown", "private"
#: The most tags that are kept. With more, all are rendered again.
_MOST = 1 << 17
#: Pairs of rows after which the rows of equal values count as one.
_FEW = 1 << 13
_PRIVATE_PAIR = (1 << 64) - 1
#: The empty block: it ends a text.
_END = b""


def annotate_blocks(state: State, blocks: Iterable[bytes], tags: Tags) -> Iterator[U8]:
    """Yield the bytes of a text with a tag after each address, a block at a time.

    An empty block ends a text; the next one begins another.
    """
    scanner = Scanner()
    for block in chain(blocks, [_END]):
        part = scanner.part(block)
        yield with_texts(part, part.ends, tags.of(part, rows_of(state, part)))


class Template:
    """A text with fields in braces, such as ``{country} AS{asn}``; ``{{`` and ``}}`` are braces.

    A field is one that a dataset stores: its value depends only on the network that the address
    is in. ``value_text`` writes a value that is known. ``call`` is the call or option that has the
    text. Raises ValueError for any other field, and for a malformed text.
    """

    def __init__(self, text: str, value_text: Callable[[Any], str], call: str) -> None:
        self._value_text = value_text
        self._form, self.paths = _parse(text, call)

    def tag(self, values: Sequence[Any]) -> str:
        """Return the tag for the values of ``paths``."""
        if self.paths and not any(value is not None for value in values):
            return _ALL_UNKNOWN
        write = self._value_text
        return self._form % tuple([_UNKNOWN if value is None else write(value) for value in values])

    def private(self) -> str:
        """Return the tag of a private address."""
        return _PRIVATE if self.paths else self._form % ()


def _parse(text: str, call: str) -> tuple[str, tuple[str, ...]]:
    """Return the text as the left side of the ``%`` operator, and the paths of its fields."""
    parts, paths = [], []
    for literal, name, form, conversion in _pieces(text, call):
        parts.append(literal.replace("%", "%%"))
        if name is not None:
            if form or conversion:
                raise ValueError(f"{call}: {{{name}}} takes no format; write only the field")
            paths.append(resolve_field(name, STORED, call).path)
            parts.append("%s")
    return "".join(parts), tuple(paths)


def _pieces(text: str, call: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(Formatter().parse(text))
    except ValueError as error:  # a brace without its partner
        raise ValueError(f"{call}: {error}; {{{{ and }}}} are braces") from None


class Tags:
    """Renders the tags of one dataset; ``written`` makes the bytes of a tag's text."""

    def __init__(self, state: State, template: Template, written: Callable[[str], bytes]) -> None:
        self._state, self._template, self._written = state, template, written
        self._cache = {_PRIVATE_PAIR: written(template.private())}
        self._first_equal: tuple[I32, I32] | None = None

    def of(self, part: Part, rows: Rows) -> list[bytes]:
        """Return the tag of each address of a part."""
        self._limit()
        pairs = self._pairs(rows).tolist()
        tags = list(map(self._cache.get, pairs))
        if None in tags:
            missing = {
                pair: at
                for at, (pair, tag) in enumerate(zip(pairs, tags, strict=True))
                if tag is None
            }
            self._render(part, missing)
        return [tag or self._cache[pair] for pair, tag in zip(pairs, tags, strict=True)]

    def _pairs(self, rows: Rows) -> U64:
        """Return a number for the pair of rows of each address."""
        of_tables: list[NDArray[Any]] = [rows.locations, rows.networks]
        if self._first_equal is not None:
            of_tables = [
                first[row] for first, row in zip(self._first_equal, of_tables, strict=True)
            ]
        locations, networks = (row.astype(np.uint64) for row in of_tables)
        # | location row, 32 bits | network row, 32 bits |; all ones mark a private address.
        pairs: U64 = locations << np.uint64(32) | networks
        pairs[rows.is_private] = _PRIVATE_PAIR
        return pairs

    def _limit(self) -> None:
        """Remove the known tags if there are too many."""
        is_first = self._first_equal is None and len(self._cache) > _FEW
        if is_first:
            # The pairs of before are numbers of other rows: the tags known so far go too.
            self._first_equal = self._first_equal_rows()
        if is_first or len(self._cache) > _MOST:
            self._cache = {_PRIVATE_PAIR: self._cache[_PRIVATE_PAIR]}

    def _first_equal_rows(self) -> tuple[I32, I32]:
        from geolookup.tables.row_tables import first_equal_rows  # it imports Arrow

        fields = [field for field in FIELDS if field.path in self._template.paths]
        return first_equal_rows(self._state.dataset, fields)

    def _render(self, part: Part, missing: dict[int, int]) -> None:
        """Render the tags of pairs, each with the number of an address that has it."""
        text, places = part.data.data, [*missing.values()]
        ends = zip(part.starts[places].tolist(), part.ends[places].tolist(), strict=True)
        # Any address with the pair will do: its fields depend on the two rows only.
        texts: list[object] = [str(text[first:end], "ascii") for first, end in ends]
        for pair, values in zip(
            missing, self._state.values(texts, self._template.paths, 0), strict=True
        ):
            self._cache[pair] = self._written(self._template.tag(values))
