"""The tags of addresses, rendered once for each pair of a location row and a network row.

Strategy: a text with many different pairs is likely to have more of them. Then pairs whose fields
have the same values share a tag: there are far fewer countries than cities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from geolookup.contract.fields import FIELDS, LOCATION, NETWORK

if TYPE_CHECKING:
    from geolookup.dataset.files import Dataset
    from geolookup.dataset.intervals import U64
    from geolookup.dataset.public_ranges import U32
    from geolookup.inline.scanner import Part, Rows
    from geolookup.inline.template import Template
    from geolookup.kernel.protocol import State

#: The most tags that are kept. With more, all are rendered again.
_MOST = 1 << 17
#: Pairs of rows after which the rows of equal values count as one.
_FEW = 1 << 13
_PRIVATE = (1 << 64) - 1


class Tags:
    """Renders the tags of one dataset; ``written`` makes the bytes of a tag's text."""

    def __init__(self, state: State, template: Template, written: Callable[[str], bytes]) -> None:
        self._state, self._template, self._written = state, template, written
        self._known = {_PRIVATE: written(template.private())}
        self._first_equal: tuple[U32, U32] | None = None

    def of(self, part: Part, rows: Rows) -> list[bytes]:
        """Return the tag of each address of a part."""
        self._limit()
        pairs = self._pairs(rows).tolist()
        found = list(map(self._known.get, pairs))
        if None in found:
            missing = {
                pair: at
                for at, (pair, tag) in enumerate(zip(pairs, found, strict=True))
                if tag is None
            }
            self._render(part, missing)
        return [tag or self._known[pair] for pair, tag in zip(pairs, found, strict=True)]

    def _pairs(self, rows: Rows) -> U64:
        """Return a number for the pair of rows of each address."""
        locations, networks = rows.locations, rows.networks
        if self._first_equal is not None:
            of_location, of_network = self._first_equal
            locations, networks = of_location[locations], of_network[networks]
        pairs: U64 = locations.astype(np.uint64) << np.uint64(32) | networks
        pairs[rows.is_private] = _PRIVATE
        return pairs

    def _limit(self) -> None:
        """Remove the known tags if there are too many."""
        is_first = self._first_equal is None and len(self._known) > _FEW
        if is_first:
            self._first_equal = first_equal_rows(self._state.dataset, self._template.paths)
        if is_first or len(self._known) > _MOST:
            self._known = {_PRIVATE: self._known[_PRIVATE]}

    def _render(self, part: Part, missing: dict[int, int]) -> None:
        """Render the tags of pairs, each with the number of an address that has it."""
        text, places = part.data.data, [*missing.values()]
        ends = zip(part.starts[places].tolist(), part.ends[places].tolist(), strict=True)
        texts: list[object] = [str(text[first:end], "ascii") for first, end in ends]
        for pair, values in zip(
            missing, self._state.values(texts, self._template.paths, 0), strict=True
        ):
            self._known[pair] = self._written(self._template.tag(values))


def first_equal_rows(dataset: Dataset, paths: Sequence[str]) -> tuple[U32, U32]:
    """Return for each location row and each network row the first with the same values of fields.

    Raises DatasetError where the dataset is damaged.
    """
    from geolookup.tables.rows import first_equal, row_tables, table_of  # they import Arrow

    tables = row_tables(dataset)
    columns: dict[str, list[Any]] = {LOCATION: [], NETWORK: []}
    for field in FIELDS:
        if field.path in paths:
            columns[table_of(field)].append(tables.by_row(field))
    return (
        first_equal(columns[LOCATION], len(dataset.locations)).astype(np.uint32),
        first_equal(columns[NETWORK], len(dataset.networks)).astype(np.uint32),
    )
