"""The answers of an older generation: the newest ones, with all later changes undone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from geolookup.dataset.networks import same_kind_around
from geolookup.history.differences import Difference, OpenGeneration
from geolookup.history.question import Question

Values = Mapping[str, Any]


class LaterAnswers:
    """The values of each address of a question; ``undo`` goes one generation back.

    ``_starts`` divides the addresses into pieces; each has the values of its last undone change,
    or None: nothing is undone, the newest generation answers.
    """

    def __init__(self, newest: OpenGeneration, question: Question) -> None:
        self._newest, self._family, self._last = newest, question.family, question.last
        self._starts: list[int] = [question.first]
        self._values: list[Values | None] = [None]

    def pieces(self, first: int, last: int) -> Iterator[tuple[int, int, Values]]:
        """Yield the parts of a range with one answer: first and last address, and its values."""
        at = bisect_right(self._starts, first) - 1
        while first <= last:
            end = self._starts[at + 1] - 1 if at + 1 < len(self._starts) else last
            values = self._values[at]
            if values is None:
                yield from self._newest_pieces(first, min(end, last))
            else:
                yield first, min(end, last), values
            first, at = end + 1, at + 1

    def _newest_pieces(self, first: int, last: int) -> Iterator[tuple[int, int, Values]]:
        while first <= last:
            end = min(last, self._newest.end(self._family, first))
            end = same_kind_around(self._family, first, first, end)[1]
            yield first, end, self._newest.values_at(self._family, first)
            first = end + 1

    def undo(self, differences: Iterable[Difference]) -> None:
        """Take back changes: their addresses have the values before from now on."""
        for difference in differences:
            self._put(difference.first, difference.last, difference.before.values)

    def _put(self, first: int, last: int, values: Values) -> None:
        # Pieces from 0, 8 and 16; a change of 4 to 11 makes 0, 4, 12 (as 8 was) and 16.
        begin, end = bisect_left(self._starts, first), bisect_right(self._starts, last + 1)
        parts: list[tuple[int, Values | None]] = [(first, values)]
        if last < self._last:
            parts.append((last + 1, self._values[end - 1]))
        self._starts[begin:end] = [start for start, _ in parts]
        self._values[begin:end] = [part for _, part in parts]
