"""Lines of a text with an address that meets a condition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from geolookup.errors import TableFileError
from geolookup.inline import Part, parts, rows_of, with_texts
from geolookup.prefixes.select import RowMasks, marked

if TYPE_CHECKING:
    from geolookup.kernel import State

_LINE_FEED = 10
#: The longest line, in bytes: it is held until its end decides about it.
LONGEST = 1 << 28


class LineFilter:
    """Keeps the lines with an address that meets a condition.

    ``masks`` mark the rows of addresses that meet it. With ``every``, all addresses with an answer
    must meet it, and a line must have one. ``inverted`` keeps the other lines. ``mark`` are the
    bytes before and after an address that meets the condition. ``name`` names the text in
    messages. ``count`` is the number of lines that were kept.
    """

    def __init__(
        self,
        state: State,
        masks: RowMasks,
        name: str,
        *,
        every: bool = False,
        inverted: bool = False,
        mark: tuple[bytes, bytes] | None = None,
    ) -> None:
        self._state, self._masks, self._name = state, masks, name
        self._every, self._inverted, self._mark = every, inverted, mark
        self.count = 0
        self._before = 0  # lines that have ended
        self._begun: list[bytes] = []  # the parts of a line whose end has not arrived
        # Addresses of that line: those that meet the condition, and all with an answer.
        self._met: NDArray[Any] = np.zeros(2, np.int64)

    def matching(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield whole lines; a line feed is added to the last one if it has none.

        Raises TableFileError for a line of more than 256 MiB.
        """
        for part in parts(blocks):
            yield self._lines_of(part)
        if any(self._begun):
            # The line that ends, and the empty one after it, have no further addresses.
            yield self._end_lines(b"\n", np.zeros((2, 2), np.int64))

    def _lines_of(self, part: Part) -> bytes:
        """Return the kept ones of the lines that end in a part."""
        text = np.frombuffer(part.data, np.uint8, part.end - part.begin, part.begin)
        ends = np.flatnonzero(text == _LINE_FEED) + part.begin
        rows, has_answer = rows_of(self._state, part, tuple(self._masks))
        meets = marked(self._masks, rows) & has_answer
        # Line feeds at 5 and 9: an address at 2 is of line 0, at 7 of line 1, at 12 of line 2:
        # it ends in a later part.
        lines = np.searchsorted(ends, part.starts)
        met = np.stack([np.bincount(lines[of], None, len(ends) + 1) for of in (meets, has_answer)])
        around = meets if self._mark else slice(0)
        places = np.stack([part.starts[around], part.ends[around]], axis=1).ravel()
        marks = list(self._mark or ()) * (len(places) // 2)
        return self._end_lines(with_texts(part, places, marks), met)

    def _end_lines(self, text: bytes, met: NDArray[Any]) -> bytes:
        """Return the lines to keep of those that end in a text.

        ``met`` (2, lines) counts the addresses of each line that meet the condition, and those
        with an answer; the last line does not end in the text.
        """
        met[:, 0] += self._met
        self._met = met[:, -1]
        self._begun.append(text)
        if met.shape[1] == 1:
            self._check_size()
            return b""
        whole = b"".join(self._begun)
        ends = np.flatnonzero(np.frombuffer(whole, np.uint8) == _LINE_FEED) + 1
        keeps = self._keeps(*met[:, :-1])
        self.count += int(keeps.sum())
        self._before += len(ends)
        self._begun = [whole[ends[-1] :]]
        # Of the lines 0 to 3 the lines 1 and 2 are kept: one piece, from the end of 0 to that of 2.
        edges = np.flatnonzero(np.diff(keeps, prepend=False, append=False))
        pieces = np.append(0, ends)[edges].reshape(-1, 2).tolist()
        return b"".join([whole[begin:end] for begin, end in pieces])

    def _keeps(self, met: NDArray[Any], answered: NDArray[Any]) -> NDArray[np.bool_]:
        matches = met > 0
        if self._every:
            matches &= met == answered
        return ~matches if self._inverted else matches

    def _check_size(self) -> None:
        if sum(map(len, self._begun)) > LONGEST:
            raise TableFileError(
                self._name, "a line has no end", "is it a file of lines?", row=self._before + 1
            )
