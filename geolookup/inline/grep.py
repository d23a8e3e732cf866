"""Lines of a text with an address that meets a condition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from geolookup.dataset.intervals import I64, U8, Bools
from geolookup.errors import TableFileError
from geolookup.inline import Part, Scanner, rows_of, with_texts
from geolookup.kernel import copy_texts

if TYPE_CHECKING:
    from geolookup.kernel.protocol import State
    from geolookup.prefixes.select import RowMasks

_LINE_FEED = 10
#: The longest line, in bytes: it is held until its end decides about it.
LONGEST = 1 << 28


@dataclass(frozen=True, slots=True)
class LineFilter:
    """A choice of lines by the addresses in them that meet a condition.

    ``masks`` mark the addresses that do, by their rows.
    With ``every``, all addresses of a line with an answer must, and one at least. ``inverted``
    keeps the other lines. ``mark`` are the bytes before and after an address that meets the
    condition.
    """

    masks: RowMasks
    every: bool = False
    inverted: bool = False
    mark: tuple[bytes, bytes] | None = None

    def keeps(self, met: I64, answered: I64) -> Bools:
        """Return which lines to keep, by how many of their addresses meet the condition."""
        matches: Bools = met > 0
        if self.every:
            matches &= met == answered
        return ~matches if self.inverted else matches


class Lines:
    """The lines of a text that are kept; ``count`` is their number so far.

    ``name`` names the text in messages.
    """

    def __init__(self, state: State, line_filter: LineFilter, name: str) -> None:
        self._state, self._filter, self._name = state, line_filter, name
        self.count = 0
        self._before = 0  # lines that have ended
        self._begun: list[U8] = []  # the parts of a line whose end has not arrived
        # Addresses of that line: those that meet the condition, and all with an answer.
        self._met = self._answered = 0

    def matching(self, blocks: Iterable[bytes]) -> Iterator[U8]:
        """Yield whole lines; a line feed is added to the last one if it has none.

        Raises TableFileError for a line of more than 256 MiB.
        """
        scanner = Scanner()
        for block in chain(blocks, [b""]):
            yield self._lines_of(scanner.part(block))
        if any(map(len, self._begun)):
            # Two lines without addresses: the one that ends, and the empty one after it.
            none = np.zeros((2, 2), np.int64)
            yield self._end_lines(np.array([_LINE_FEED], np.uint8), *none)

    def _lines_of(self, part: Part) -> U8:
        """Return the kept ones of the lines that end in a part."""
        ends = np.flatnonzero(part.data[part.begin : part.end] == _LINE_FEED) + part.begin
        rows = rows_of(self._state, part, self._filter.masks.tables)
        meets = self._filter.masks.mark(rows.by_table) & rows.has_answer
        text = self._mark(part, meets)
        # Line feeds at 5 and 9: an address at 2 is of line 0, at 7 of line 1, at 12 of line 2:
        # it ends in a later part.
        lines = np.searchsorted(ends, part.starts)
        counts = tuple(
            np.bincount(lines[mask], minlength=len(ends) + 1) for mask in (meets, rows.has_answer)
        )
        return self._end_lines(text, *counts)

    def _mark(self, part: Part, meets: Bools) -> U8:
        mark = self._filter.mark
        if mark is None:
            return part.data[part.begin : part.end]
        places = np.stack([part.starts[meets], part.ends[meets]], axis=1).ravel()
        return with_texts(part, places, list(mark) * (len(places) // 2))

    def _end_lines(self, text: U8, met: I64, answered: I64) -> U8:
        """Return the kept lines that end in a text.

        ``met`` and ``answered`` count the addresses of each line; the last line does not end.
        """
        met[0] += self._met
        answered[0] += self._answered
        self._met, self._answered = met[-1], answered[-1]
        self._begun.append(text)
        if len(met) == 1:
            self._check_size()
            return text[:0]
        whole = np.concatenate(self._begun)
        ends = np.flatnonzero(whole == _LINE_FEED) + 1
        starts = np.concatenate([[0], ends[:-1]])
        matches = self._filter.keeps(met[:-1], answered[:-1])
        self.count += int(matches.sum())
        self._before += len(ends)
        self._begun = [whole[ends[-1] :].copy()]
        sizes = (ends - starts)[matches]
        out = np.empty(int(sizes.sum()), np.uint8)
        copy_texts(whole, starts[matches], sizes, out)
        return out

    def _check_size(self) -> None:
        if sum(map(len, self._begun)) > LONGEST:
            raise TableFileError(
                self._name, "a line has no end", "is it a file of lines?", row=self._before + 1
            )
