"""The tags of addresses, rendered once for each pair of a location row and a network row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from geolookup.inline.rows import Rows
    from geolookup.inline.scanner import Part
    from geolookup.inline.template import Template
    from geolookup.kernel.protocol import State

#: The most pairs whose tags are kept. With more, all are rendered again.
_MOST = 1 << 16
_PRIVATE = (1 << 64) - 1


class Tags:
    """Renders the tags of one dataset; ``written`` makes the bytes of a tag's text."""

    def __init__(self, state: State, template: Template, written: Callable[[str], bytes]) -> None:
        self._state, self._template, self._written = state, template, written
        self._known = {_PRIVATE: written(template.private())}

    def of(self, part: Part, rows: Rows) -> list[bytes]:
        """Return the tag of each address of a part."""
        keys = rows.locations.astype(np.uint64) << np.uint64(32) | rows.networks
        keys[rows.is_private] = _PRIVATE
        pairs = keys.tolist()
        if len(self._known) > _MOST:
            self._known = {_PRIVATE: self._known[_PRIVATE]}
        missing = {pair: at for at, pair in enumerate(pairs) if pair not in self._known}
        if missing:
            self._render(part, missing)
        return [self._known[pair] for pair in pairs]

    def _render(self, part: Part, missing: dict[int, int]) -> None:
        """Render the tags of pairs, each with the number of an address that has it."""
        texts: list[object] = [
            part.data[part.starts[at] : part.ends[at]].tobytes().decode("ascii")
            for at in missing.values()
        ]
        for pair, values in zip(
            missing, self._state.values(texts, self._template.paths, 0), strict=True
        ):
            self._known[pair] = self._written(self._template.tag(values))
