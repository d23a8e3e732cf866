"""The rows behind an answer: in each source table the row that decides at an address.

Strategy: the intervals of all source tables are in one column, table after table: an
address is searched for in each table in turn. A row has a number. Its interval is its range
unless another range is listed; its line follows from the first of the rows that lie
on consecutive lines. An index is checked when it is used.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from geolookup.contract.address import MAX, range_text
from geolookup.dataset import layout as fmt
from geolookup.dataset.checksums import crc32c
from geolookup.dataset.files import Dataset, Starts
from geolookup.dataset.metadata import Source
from geolookup.dataset.rows import are_of_kinds, number_text, value_kinds
from geolookup.errors import REBUILD, DatasetError


def deciding_rows(
    dataset: Dataset, sources: Sequence[Source], family: int, value: int, layers: Iterable[str]
) -> list[dict[str, Any]]:
    """Return the deciding row of each source table at an address, in order of precedence.

    ``{"source", "date", "licence", "file", "line", "range", "values"}`` each:
    ``line`` is None if the file has no lines, ``range`` is as stated, and
    ``values`` holds the fields of the row by layer, for the ``layers`` that are
    known.
    """
    lines, ranges, values = _Lines(dataset), _Ranges(dataset), _RowValues(dataset, layers)
    return [
        {
            **lines.of(deciding.row, sources),
            "range": ranges.of(deciding.row) or deciding.range,
            "values": values.of(deciding.table, deciding.row),
        }
        for deciding in _Deciding(dataset, family).rows(value)
    ]


class _DecidingRow(NamedTuple):
    """A table by its index, the row that decides there, and the range of the interval."""

    table: int
    row: int
    range: str


class _Deciding:
    """The intervals of one family, source table after source table, each with its deciding row."""

    def __init__(self, dataset: Dataset, family: int) -> None:
        self._family = family
        file = dataset.beside(fmt.EXPLAINED[family])
        self._path = file.path
        self._rows = file.view("row", "uint32")
        self._starts = Starts(file, family)
        self._starts.check_lengths(self._rows)
        tables = dataset.beside(fmt.EXPLAINED_TABLES)
        self._begins = tables.view(fmt.EXPLAINED_STARTS[family], "uint32")

    def rows(self, value: int) -> Iterator[_DecidingRow]:
        """Yield the row that decides in each table that has one."""
        # Begins 0 3 8: table 0 has the intervals 0 to 2, table 1 the intervals 3 to 7.
        for table, (begin, end) in enumerate(pairwise(self._begins)):
            if not begin < end <= len(self._rows):
                raise self._order_error()
            interval = self._starts.holding(value, begin, end)
            if interval < begin:
                raise self._order_error()
            if row := self._rows[interval]:
                yield _DecidingRow(table, row, self._range(interval, end))

    def _range(self, interval: int, end: int) -> str:
        """Return the range of an interval of a table that ends before ``end``."""
        after = interval + 1
        first = self._starts[interval]
        last = MAX[self._family] if after == end else self._starts[after] - 1
        if last < first:
            raise self._order_error()
        return range_text(self._family, first, last)

    def _order_error(self) -> DatasetError:
        return DatasetError(self._path, "the intervals are out of order", REBUILD)


class _Ranges:
    """The ranges of rows that differ from their intervals."""

    def __init__(self, dataset: Dataset) -> None:
        file = dataset.beside(fmt.EXPLAINED_RANGES)
        self._path = file.path
        self._rows, self._family = file.view("row", "uint32"), file.view("family", "uint8")
        self._ends = [file.view(name, "uint64") for name in fmt.ENDS]

    def of(self, row: int) -> str | None:
        """Return the range of a row; None if its interval is its range."""
        at = bisect_left(self._rows, row)
        if at == len(self._rows) or self._rows[at] != row:
            return None
        try:
            family = self._family[at]
            first_high, first_low, last_high, last_low = (column[at] for column in self._ends)
        except IndexError:
            raise DatasetError(self._path, "the columns differ in length", REBUILD) from None
        first, last = first_high << 64 | first_low, last_high << 64 | last_low
        if family not in MAX or not first <= last <= MAX[family]:
            raise DatasetError(self._path, f"row {row} has no range", REBUILD)
        return range_text(family, first, last)


class _RowValues:
    """The values of rows: in each table one number for each row and each layer that it states."""

    def __init__(self, dataset: Dataset, layers: Iterable[str]) -> None:
        tables = dataset.beside(fmt.EXPLAINED_TABLES)
        self._path = tables.path
        self._begins = tables.view("row", "uint32")
        self._layers = {layer: tables.view(layer, "uint32") for layer in layers}
        numbers = dataset.beside(fmt.EXPLAINED_NUMBERS)
        self._numbers_path = numbers.path
        self._numbers = numbers.view("value", "uint32")
        self._values = _Values(dataset)

    def of(self, table: int, row: int) -> dict[str, Any]:
        """Return the values of a row of a table, by layer."""
        numbers = {layer: self._number(table, row, layer) for layer in self._layers}
        return {layer: self._values.of(layer, at) for layer, at in numbers.items() if at}

    def _number(self, table: int, row: int, layer: str) -> int:
        try:
            # A table of rows 4 to 8 whose numbers begin at 20: row 6 has its number at 22.
            begin, in_table = self._layers[layer][table], row - self._begins[table]
            inside = 0 <= in_table < self._begins[table + 1] - self._begins[table]
        except IndexError:
            raise DatasetError(self._path, "the columns differ in length", REBUILD) from None
        if not inside:
            raise DatasetError(self._path, f"row {row} in table {table} does not exist", REBUILD)
        # No row of the table states the layer.
        if not begin:
            return 0
        try:
            return self._numbers[begin + in_table]
        except IndexError:
            problem = f"there is no number for row {row}"
            raise DatasetError(self._numbers_path, problem, REBUILD) from None


class _Values:
    """The distinct values of rows, in a column for each field."""

    def __init__(self, dataset: Dataset) -> None:
        file, schema = dataset.beside(fmt.EXPLAINED_VALUES), dataset.schema
        self._path = file.path
        self._kinds = value_kinds(schema)
        self._sums = file.view(fmt.CHECKSUMS, "uint32")
        self._columns = {
            layer: {
                name: file.nullable(name, schema.by_source_column[name].type)
                for name in names
                if name in file
            }
            for layer, names in schema.stated.items()
        }

    def of(self, layer: str, at: int) -> dict[str, Any]:
        """Return the known fields of a value; DatasetError if it is damaged."""
        if at >= len(self._sums):
            raise DatasetError(self._path, f"row {at} does not exist", REBUILD)
        try:
            values = {name: column[at] for name, column in self._columns[layer].items()}
        except (IndexError, UnicodeDecodeError):
            raise self._damage_error(at) from None
        known_values = {name: _plain(value) for name, value in values.items() if value is not None}
        # The text that was summed in the build: known fields, in the order of the columns.
        row = json.dumps(known_values, ensure_ascii=False, separators=(",", ":")).encode()
        if crc32c(row) != self._sums[at] or not known_values or not are_of_kinds(row, self._kinds):
            raise self._damage_error(at)
        return known_values

    def _damage_error(self, at: int) -> DatasetError:
        return DatasetError(self._path, f"row {at} is damaged", REBUILD)


def _plain(value: Any) -> Any:
    """Return a value as its JSON text reads back: most whole numbers are integers."""
    return json.loads(number_text(value)) if isinstance(value, float) else value


class _Lines:
    """The files and lines of rows."""

    def __init__(self, dataset: Dataset) -> None:
        file = dataset.beside(fmt.EXPLAINED_LINES)
        self._path = file.path
        self._rows, self._file = file.view("row", "uint32"), file.view("file", "uint32")
        self._line = file.nullable("line", "uint32")
        self._files = _Files(dataset)

    def of(self, row: int, sources: Sequence[Source]) -> dict[str, Any]:
        """Return the source, the file and the line of a row."""
        at = bisect_right(self._rows, row) - 1
        if not 0 <= at < len(self._file):
            raise DatasetError(self._path, f"row {row} does not exist", REBUILD)
        try:
            number, line = self._file[at], self._line[at]
        except IndexError:
            raise DatasetError(self._path, "the columns differ in length", REBUILD) from None
        source, name = self._files.file(number, len(sources))
        return {
            "source": sources[source - 1].name,
            "date": sources[source - 1].date,
            "licence": sources[source - 1].licence,
            "file": name,
            # The first rows of runs are 1 and 501, on lines 2 and 9: row 503 is on line 11.
            "line": None if line is None else line + row - self._rows[at],
        }


class _Files:
    """The files that were read, each with the number of its source."""

    def __init__(self, dataset: Dataset) -> None:
        file = dataset.beside(fmt.EXPLAINED_FILES)
        self._path = file.path
        self._source = file.view("source", "uint8")
        self._offsets, self._data = file.strings("file")

    def file(self, at: int, sources: int) -> tuple[int, str]:
        """Return the source, from 1 to ``sources``, and the name of a file."""
        try:
            source = self._source[at]
            name = str(self._data[self._offsets[at] : self._offsets[at + 1]], "utf-8")
        except (IndexError, UnicodeDecodeError):
            raise DatasetError(self._path, f"there is no file {at}", REBUILD) from None
        if not 1 <= source <= sources:
            raise DatasetError(self._path, f"there is no source {source}", REBUILD)
        return source, name
