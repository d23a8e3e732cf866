"""Why an answer is what it is: the source that decided each layer, and its deciding row.

Strategy: the provenance tables hold a source number per interval and layer. A
dataset built with ``explain = "full"`` has the deciding rows of each source
table too: intervals of its own, table after table in one column, so that an
address is searched for in each in turn. Lookups read none of these files. An
index is checked when it is used.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from geolookup.contract import fields
from geolookup.contract.address import MAX, canonical, embedded_ipv4, parse
from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset, File, Starts
from geolookup.dataset.metadata import Source
from geolookup.dataset.networks import network_within
from geolookup.dataset.rows import VALUES
from geolookup.errors import REBUILD, DatasetError

_ENDS = ("first_high", "first_low", "last_high", "last_low")


def explain(dataset: Dataset, sources: Sequence[Source], ip: object) -> dict[str, Any]:
    """Return which of the sources decided each layer of an address, in which range; see Engine."""
    family, value = parse(ip)
    carried = embedded_ipv4(value) if family == 6 else None
    at_family, at = (family, value) if carried is None else (4, carried)
    provenance = dataset.provenance(at_family)
    # Within networks of one family only: that of the address, or of the one it carries.
    network = network_within(family, value, lambda _family, at: provenance.around(at))
    explained: dict[str, Any] = {
        "ip": canonical(family, value),
        "network": str(network),
        "layers": provenance.layers(at, sources),
    }
    if dataset.manifest.explains_rows:
        rows = deciding_rows(dataset, sources, at_family, at)
        _add_rows(dataset.path, explained["layers"], rows)
        explained["sources"] = rows
    return explained


def _add_rows(path: str, layers: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Add to each layer the row that decided it: the first that says something there."""
    for layer, decided in layers.items():
        row = next((each for each in rows if layer in each["values"]), None)
        if (decided and decided["source"]) != (row and row["source"]):
            raise DatasetError(path, f"its files differ about {layer}", REBUILD)
        if decided and row:
            decided["row"] = {name: row[name] for name in ("file", "line", "range")}


class Provenance:
    """The intervals of one family, each with the number of the source that decided each layer."""

    def __init__(self, file: File, family: int) -> None:
        self._path, self._family = file.path, family
        self._starts = Starts(file, family)
        none = memoryview(bytes(len(self._starts)))
        self._sources = {
            layer: file.view(layer, "uint8") if layer in file else none for layer in fields.LAYERS
        }
        _check_lengths(self._path, self._starts, *self._sources.values())

    def around(self, value: int) -> tuple[int, int]:
        """Return first and last address of the interval that holds an address."""
        interval = self._holding(value)
        return self._starts[interval], self._last(interval)

    def layers(self, value: int, sources: Sequence[Source]) -> dict[str, dict[str, Any] | None]:
        """Return by layer the deciding source at an address, and the range that it decides."""
        interval = self._holding(value)
        return {
            layer: self._layer(numbers, interval, sources)
            for layer, numbers in self._sources.items()
        }

    def _holding(self, value: int) -> int:
        found = self._starts.holding(value)
        if found < 0:
            raise DatasetError(self._path, "the first interval does not begin at 0", REBUILD)
        return found

    def _last(self, interval: int) -> int:
        last = self._starts.last(interval)
        if last < self._starts[interval]:
            raise DatasetError(self._path, "the intervals are out of order", REBUILD)
        return last

    def _layer(
        self, numbers: memoryview, interval: int, sources: Sequence[Source]
    ) -> dict[str, Any] | None:
        number = numbers[interval]
        if not number:
            return None
        if number > len(sources):
            raise DatasetError(self._path, f"there is no source {number}", REBUILD)
        source = sources[number - 1]
        begin, end = _run(numbers, interval)
        first, last = self._starts[begin], self._last(end)
        return {
            "source": source.name,
            "date": source.date,
            "licence": source.licence,
            "range": f"{canonical(self._family, first)}-{canonical(self._family, last)}",
        }


def _check_lengths(path: str, starts: Starts, *columns: memoryview) -> None:
    if len({len(each) for each in (starts.highs, starts.lows, *columns)}) > 1:
        raise DatasetError(path, "the columns differ in length", REBUILD)


def _run(numbers: memoryview, interval: int) -> tuple[int, int]:
    """Return the first and last interval of those around one that have its number.

    Stripping bytes is much faster than a loop in Python.
    """
    same = bytes(numbers[interval : interval + 1])
    begin = len(bytes(numbers[:interval]).rstrip(same))
    end = len(numbers) - len(bytes(numbers[interval:]).lstrip(same)) - 1
    return begin, end


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
    """The intervals of one family, source table after source table, each with its deciding row."""

    def __init__(self, dataset: Dataset, family: int) -> None:
        file = dataset.beside(fmt.EXPLAINED[family])
        self._path = file.path
        self._tables = file.view("table", "uint16")
        self._rows = file.view("row", "uint32")
        self._starts = Starts(file, family)
        _check_lengths(self._path, self._starts, self._tables, self._rows)

    def rows(self, value: int) -> Iterator[int]:
        """Yield the number of the row that decides in each table that has one."""
        begin, size = 0, len(self._tables)
        while begin < size:
            table = self._tables[begin]
            end = bisect_right(self._tables, table, begin)
            found = self._starts.holding(value, begin, end)
            if found < begin or (end < size and self._tables[end] < table):
                raise DatasetError(self._path, "the intervals are out of order", REBUILD)
            if self._rows[found]:
                yield self._rows[found]
            begin = end


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
        self._values = dataset.beside(fmt.EXPLAINED_VALUES).texts(VALUES)

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
        text = self._values[at]
        if not text:
            raise DatasetError(self._values.path, f"row {at} is damaged", REBUILD)
        found: dict[str, Any] = json.loads(text)
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
