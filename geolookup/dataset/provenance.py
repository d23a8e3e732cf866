"""Why an answer is what it is: the source that decided each layer, and its deciding row.

Strategy: the provenance tables hold a source number per interval and layer. A
dataset built with ``explain = "full"`` has the deciding rows of each source
table too (``source_rows``). Lookups read none of these files. An index is
checked when it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geolookup.contract import fields
from geolookup.contract.address import canonical, effective, parse, range_text
from geolookup.dataset.files import Dataset, File, Starts
from geolookup.dataset.metadata import Source
from geolookup.dataset.networks import network_within
from geolookup.dataset.source_rows import deciding_rows
from geolookup.errors import REBUILD, DatasetError


class Explanation(dict[str, Any]):
    """What ``explain`` returns: a dict with a short repr, which does not hold the address."""

    __slots__ = ()

    def __repr__(self) -> str:
        decided = [f"{name}={layer['source']!r}" for name, layer in self["layers"].items() if layer]
        return f"<geolookup.Explanation {', '.join(decided) or 'unknown'}>"


def explain(dataset: Dataset, sources: Sequence[Source], ip: object) -> Explanation:
    """Return which of the sources decided each layer of an address, in which range; see Engine."""
    family, value = parse(ip)
    at_family, at = effective(family, value)
    provenance = dataset.provenance(at_family)
    # Within networks of one family only: that of the address, or of the one it carries.
    network = network_within(ip, family, value, lambda _family, at: provenance.around(at))
    explained = Explanation(
        ip=canonical(family, value),
        network=str(network),
        layers=provenance.layers(at, sources),
    )
    if dataset.manifest.explains_rows:
        rows = deciding_rows(dataset, sources, at_family, at)
        _add_rows(dataset.path, explained["layers"], rows)
        explained["sources"] = rows
    return explained


def _add_rows(path: str, layers: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Add to each layer the row that decided it: the first with a value there."""
    for layer, decided in layers.items():
        row = next((row for row in rows if layer in row["values"]), None)
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
        self._starts.check_lengths(*self._sources.values())

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
        interval = self._starts.holding(value)
        if interval < 0:
            raise DatasetError(self._path, "the first interval does not begin at 0", REBUILD)
        return interval

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
            "range": range_text(self._family, first, last),
        }


def _run(numbers: memoryview, interval: int) -> tuple[int, int]:
    """Return the first and last interval of those around one that have its number.

    Stripping bytes is much faster than a loop in Python.
    """
    same = bytes(numbers[interval : interval + 1])
    begin = len(bytes(numbers[:interval]).rstrip(same))
    end = len(numbers) - len(bytes(numbers[interval:]).lstrip(same)) - 1
    return begin, end
