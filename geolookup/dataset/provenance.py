"""Why an answer is what it is: the source that decided each layer of an address.

Strategy: the provenance tables hold a source number per interval and layer.
Those files are mapped for this alone; what lookups read says nothing of sources.
Where the dataset keeps source rows too, they are added to what is told of sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geolookup.contract.address import MAX, canonical, embedded_ipv4, parse
from geolookup.dataset.files import Dataset, Provenance
from geolookup.dataset.metadata import Source
from geolookup.dataset.networks import network_within
from geolookup.dataset.source_rows import deciding_rows
from geolookup.errors import REBUILD, DatasetError


def explain(dataset: Dataset, sources: Sequence[Source], ip: object) -> dict[str, Any]:
    """Return which of the sources decided each layer of an address, in which range; see Engine."""
    family, value = parse(ip)
    network = network_within(family, value, lambda *place: _around(dataset, *place))
    carried = embedded_ipv4(value) if family == 6 else None
    at_family, at = (family, value) if carried is None else (4, carried)
    provenance = dataset.provenance(at_family)
    interval = provenance.interval(at)
    explained: dict[str, Any] = {
        "ip": canonical(family, value),
        "network": str(network),
        "layers": {
            layer: _layer(provenance, at_family, numbers, interval, sources)
            for layer, numbers in provenance.layers.items()
        },
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


def _around(dataset: Dataset, family: int, value: int) -> tuple[int, int]:
    provenance = dataset.provenance(family)
    interval = provenance.interval(value)
    return provenance.start(interval), _last(provenance, family, interval)


def _last(provenance: Provenance, family: int, interval: int) -> int:
    """Return the last address of an interval."""
    behind = interval + 1
    last = provenance.start(behind) - 1 if behind < len(provenance) else MAX[family]
    if last < provenance.start(interval):
        raise DatasetError(provenance.path, "the intervals are out of order", REBUILD)
    return last


def _layer(
    provenance: Provenance,
    family: int,
    numbers: memoryview,
    interval: int,
    sources: Sequence[Source],
) -> dict[str, str | None] | None:
    number = numbers[interval]
    if not number:
        return None
    if number > len(sources):
        raise DatasetError(provenance.path, f"there is no source {number}", REBUILD)
    source = sources[number - 1]
    begin, end = _run(numbers, interval)
    first, last = provenance.start(begin), _last(provenance, family, end)
    return {
        "source": source.name,
        "date": source.date,
        "licence": source.licence,
        "range": f"{canonical(family, first)}-{canonical(family, last)}",
    }


def _run(numbers: memoryview, interval: int) -> tuple[int, int]:
    """Return the first and last interval of those around one that have its number.

    Bytes are stripped at the speed of memory, where a walk in Python would not be.
    """
    same = bytes(numbers[interval : interval + 1])
    begin = len(bytes(numbers[:interval]).rstrip(same))
    end = len(numbers) - len(bytes(numbers[interval:]).lstrip(same)) - 1
    return begin, end
