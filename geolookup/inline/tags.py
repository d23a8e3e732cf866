"""The tags of addresses, rendered once for each pair of a location row and a network row.

Strategy: a text with many different pairs is likely to have more of them. Then pairs whose fields
have the same values share a tag: there are far fewer countries than cities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from geolookup.inline.codes import Codes
    from geolookup.inline.rows import Rows
    from geolookup.inline.scanner import Part
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
        self._codes: Codes | None = None

    def of(self, part: Part, rows: Rows) -> list[bytes]:
        """Return the tag of each address of a part."""
        self._limit()
        locations, networks = rows.locations, rows.networks
        if self._codes is not None:
            locations, networks = self._codes.of(locations, networks)
        keys = locations.astype(np.uint64) << np.uint64(32) | networks
        keys[rows.is_private] = _PRIVATE
        pairs = keys.tolist()
        found = list(map(self._known.get, pairs))
        if None in found:
            missing = {
                pair: at
                for at, (pair, tag) in enumerate(zip(pairs, found, strict=True))
                if tag is None
            }
            self._render(part, missing)
        return [tag or self._known[pair] for pair, tag in zip(pairs, found, strict=True)]

    def _limit(self) -> None:
        """Remove the tags that are known where they are too many."""
        is_first = self._codes is None and len(self._known) > _FEW
        if is_first:  # not before: it imports Arrow
            from geolookup.inline.codes import codes_of

            self._codes = codes_of(self._state.dataset, self._template.paths)
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
