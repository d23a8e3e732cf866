"""The bounds of the fields of usual log lines, by their blanks and quotes.

Strategy: numpy finds the blanks, quotes, commas and backslashes of a block: its marks. In a usual
line they are where the format has them, and the fields are between them. Other lines, such as those
with an escaped quote or a list of addresses, are left to a pattern, which takes 20 times as long.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow.compute as pc

from geolookup.dataset.intervals import I64, U8, Bools
from geolookup.files.lines import Lines, bytes_in, cut

#: The starts and ends of n texts in a block.
Span = tuple[I64, I64]
_BLANK, _QUOTE, _COMMA, _BACKSLASH = b' ",\\'
_OPENING, _CLOSING = b"[]"
_NUMBERS = "^ (?:[0-9]{3}|-) (?:[0-9]{1,18}|-)$"
#: Marks after the last byte: the last line may have fewer marks than the format.
_AFTER = 8


def fields_of(lines: Lines, pattern: re.Pattern[bytes]) -> tuple[dict[str, Span], Bools]:
    """Return the bounds of the fields of n lines, and whether each line is malformed.

    ``pattern`` matches whole lines, and has a group for each field. The bounds of a malformed line
    are empty.
    """
    names = pattern.groupindex
    usual, rows = _usual_fields(lines, has_host="host" in names, has_agent="user_agent" in names)
    malformed = np.ones(len(lines.starts), bool)
    malformed[rows] = False
    others = np.flatnonzero(malformed)
    places = zip(lines.starts[others].tolist(), lines.ends[others].tolist(), strict=True)
    matches = [pattern.match(lines.block, start, end) for start, end in places]
    others = others[[match is not None for match in matches]]
    malformed[others] = False
    groups = np.array([match.regs for match in matches if match], np.int64)
    fields = {}
    for name, group in names.items():
        span = lines.starts.copy(), lines.starts.copy()
        for side in (0, 1):
            span[side][rows] = usual[name][side]
            if len(others):
                # An absent group is empty: its span is -1.
                span[side][others] = np.maximum(groups[:, group, side], groups[:, 0, 0])
        fields[name] = span
    return fields, malformed


def _usual_fields(lines: Lines, *, has_host: bool, has_agent: bool) -> tuple[dict[str, Span], I64]:
    """Return the bounds of the fields of the usual lines, and the numbers of these lines."""
    marks = _Marks(bytes_in(lines.block), lines)
    rows, first, quotes = marks.rows(5 + has_host, 6 if has_agent else 2)
    fields, fine = marks.head(lines.starts[rows], first, 5 + has_host)
    at, data, ends = marks.at, marks.data, lines.ends[rows]
    fields["request"] = at[quotes[0]] + 1, at[quotes[1]]
    # " 200 2326" follows the request, up to the referer or to the rest.
    begin = at[quotes[1]] + 1
    end = at[quotes[2]] - 1 if has_agent else np.minimum(at[quotes[1] + 3], ends)
    end = np.maximum(begin, end)
    is_usual = pc.match_substring_regex(cut(lines.block, begin, end), _NUMBERS)
    fine &= is_usual.to_numpy(zero_copy_only=False)
    fields["status"] = begin + 1, at[quotes[1] + 2]
    fields["size"] = at[quotes[1] + 2] + 1, end
    if has_agent:
        for name, opening in (("referer", 2), ("user_agent", 4)):
            start, stop = at[quotes[opening]], at[quotes[opening + 1]]
            fine &= (start == end + 1) & (data[end] == _BLANK)
            fields[name], end = (start + 1, stop), stop + 1
    has_rest = end < ends
    fine &= ~has_rest | (data[np.minimum(end, ends - 1)] == _BLANK)
    fields["rest"] = np.where(has_rest, end + 1, ends), ends
    return {name: (start[fine], end[fine]) for name, (start, end) in fields.items()}, rows[fine]


class _Marks:
    """The marks of a block, known by number: ``at`` are their places, ``kinds`` the bytes."""

    def __init__(self, data: U8, lines: Lines) -> None:
        is_mark = np.ones(len(data) + _AFTER, bool)
        of_data = is_mark[:-_AFTER]
        np.equal(data, _BLANK, out=of_data)
        for mark in (_QUOTE, _COMMA, _BACKSLASH):
            of_data |= data == mark
        self.data = data
        self.at = np.flatnonzero(is_mark)
        self.kinds = data.take(self.at, mode="clip")
        self._first = np.searchsorted(self.at, lines.starts)
        self._last = np.searchsorted(self.at, lines.ends)

    def rows(self, blanks: int, count: int) -> tuple[I64, I64, list[I64]]:
        """Return the lines that begin with so many blanks and have so many quotes.

        For each there are also the numbers of its first mark and of its quotes. The lines have
        no backslash, and no other marks before the first quote.
        """
        numbers = np.flatnonzero(self.kinds == _QUOTE)
        numbers = np.append(numbers, np.full(_AFTER, len(self.at) - 1))
        nth = np.searchsorted(numbers, self._first + blanks)
        quotes = [numbers[nth + more] for more in range(count)]
        usual = (quotes[0] == self._first + blanks) & (quotes[-1] < self._last)
        for more in range(blanks):
            usual &= self.kinds[self._first + more] == _BLANK
        slashes = np.flatnonzero(self.kinds == _BACKSLASH)
        usual &= np.searchsorted(slashes, self._first) == np.searchsorted(slashes, self._last)
        rows = np.flatnonzero(usual)
        return rows, self._first[rows], [quote[rows] for quote in quotes]

    def head(self, starts: I64, first: I64, blanks: int) -> tuple[dict[str, Span], Bools]:
        """Return the fields before the request, and whether they are usual."""
        # host 8.8.8.8 - joe [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" ...
        #     0       1 2   3                      4      5
        *names, before, _, after, quote = (self.at[first + more] for more in range(blanks + 1))
        fields, usual = dict[str, Span](), quote == after + 1
        ends = [*names, before]
        for name, end in zip(("host", "ip", "ident", "user")[-len(ends) :], ends, strict=True):
            fields[name] = starts, end
            usual &= end > starts
            starts = end + 1
        usual &= (self.data[before + 1] == _OPENING) & (self.data[after - 1] == _CLOSING)
        fields["time"] = before + 2, after - 1
        return fields, usual
