"""The source rows behind an answer, from the side files of a dataset built to explain them.

Strategy: each source table has intervals of its own, one behind the other in
one column, so that an address is looked for in each in turn. As everywhere,
an index is checked when it is used.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from geolookup.contract import fields
from geolookup.contract.address import MAX, canonical
from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset, Encoded
from geolookup.dataset.metadata import Source
from geolookup.errors import REBUILD, DatasetError


def deciding_rows(
    dataset: Dataset, sources: Sequence[Source], family: int, value: int
) -> list[dict[str, Any]]:
    """Return the deciding row of each source table at an address, in order of precedence.

    ``{"source", "date", "licence", "file", "line", "range", "values"}`` each:
    ``line`` is None where the file has none, ``range`` is as stated, and
    ``values`` holds by layer what the row says, without layers of which it
    says nothing.
    """
    rows = _Rows(dataset, sources)
    return [rows.row(number) for number in _Deciding(dataset, family).rows(value)]


class _Deciding:
    """The intervals of one family, table by table, each with its row."""

    def __init__(self, dataset: Dataset, family: int) -> None:
        file = dataset.beside(fmt.EXPLAINED[family])
        self._path = file.path
        self._tables = file.view("table", "uint16")
        self._rows = file.view("row", "uint32")
        self._lows: memoryview | Encoded
        if family == 4:
            self._lows = self._highs = file.view("start", "uint32")
        else:
            self._highs = file.view("start_high", "uint64")
            self._lows = file.encoded("start_low", "uint64")
        self._family = family
        if len({len(each) for each in (self._tables, self._rows, self._highs, self._lows)}) > 1:
            raise DatasetError(self._path, "the columns differ in length", REBUILD)

    def rows(self, value: int) -> Iterator[int]:
        """Yield the number of the row that decides in each table that has one."""
        begin, size = 0, len(self._tables)
        while begin < size:
            table = self._tables[begin]
            end = bisect_right(self._tables, table, begin)
            found = bisect_right(range(size), value, begin, end, key=self._start) - 1
            if found < begin or (end < size and self._tables[end] < table):
                raise DatasetError(self._path, "the intervals are out of order", REBUILD)
            if self._rows[found]:
                yield self._rows[found]
            begin = end

    def _start(self, interval: int) -> int:
        try:
            low: int = self._lows[interval]
        except IndexError:
            problem = "an index leads outside its table"
            raise DatasetError(self._path, problem, REBUILD) from None
        return low if self._family == 4 else self._highs[interval] << 64 | low


class _Rows:
    """The rows that decide anything, with their files and what they say."""

    def __init__(self, dataset: Dataset, sources: Sequence[Source]) -> None:
        self._sources = sources
        file = dataset.beside(fmt.EXPLAINED_ROWS)
        self._path = file.path
        self._file, self._line = file.view("file", "uint32"), file.view("line", "uint32")
        self._family = file.view("family", "uint8")
        self._ends = [file.view(name, "uint64") for name in fmt.ENDS]
        self._said = {layer: file.view(layer, "uint32") for layer in fields.LAYERS}
        self._files = _Files(dataset)
        self._values = dataset.beside(fmt.EXPLAINED_VALUES).texts(1)

    def row(self, number: int) -> dict[str, Any]:
        """Return what is known of a row."""
        try:
            place, line = self._file[number], self._line[number]
            said = {layer: column[number] for layer, column in self._said.items()}
            stated = self._range(number)
        except IndexError:
            raise DatasetError(self._path, f"there is no row {number}", REBUILD) from None
        source, name = self._files.file(place, len(self._sources))
        return {
            "source": self._sources[source - 1].name,
            "date": self._sources[source - 1].date,
            "licence": self._sources[source - 1].licence,
            "file": name,
            "line": line or None,
            "range": stated,
            "values": {layer: self._object(at) for layer, at in said.items() if at},
        }

    def _range(self, number: int) -> str:
        family = self._family[number]
        first_high, first_low, last_high, last_low = (each[number] for each in self._ends)
        first, last = first_high << 64 | first_low, last_high << 64 | last_low
        if family not in MAX or not first <= last <= MAX[family]:
            raise DatasetError(self._path, f"row {number} has no range", REBUILD)
        return f"{canonical(family, first)}-{canonical(family, last)}"

    def _object(self, at: int) -> dict[str, Any]:
        found = json.loads(self._values[at] or b"null")
        if not isinstance(found, dict):
            raise DatasetError(self._values.path, f"row {at} is damaged", REBUILD)
        return found


class _Files:
    """The files that were read, each with the number of its source."""

    def __init__(self, dataset: Dataset) -> None:
        file = dataset.beside(fmt.EXPLAINED_FILES)
        self._path = file.path
        self._source = file.view("source", "uint8")
        self._offsets, self._letters = file.strings("file")

    def file(self, at: int, sources: int) -> tuple[int, str]:
        """Return the source, from 1 to ``sources``, and the name of a file."""
        try:
            source = self._source[at]
            name = str(self._letters[self._offsets[at] : self._offsets[at + 1]], "utf-8")
        except (IndexError, UnicodeDecodeError):
            raise DatasetError(self._path, f"there is no file {at}", REBUILD) from None
        if not 1 <= source <= sources:
            raise DatasetError(self._path, f"there is no source {source}", REBUILD)
        return source, name
