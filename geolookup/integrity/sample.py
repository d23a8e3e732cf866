"""A sample of addresses, looked up by every path and compared with the columns.

The paths: single lookups as a dict and as JSON, whole columns, and that for
the kernel in use and for the Python kernel.
"""

from __future__ import annotations

import json
import random
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geolookup.contract import fields
from geolookup.contract.address import MAX, canonical, embedded_ipv4
from geolookup.contract.localtime import time_object
from geolookup.contract.special import is_private
from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset
from geolookup.dataset.provenance import decisions
from geolookup.errors import DatasetError
from geolookup.integrity.tables import Tables, damage
from geolookup.kernel import Kernel, State, period
from geolookup.kernel import python as kernel_python

if TYPE_CHECKING:
    from geolookup.kernel import protocol

#: Addresses of each family, at most, before private ones are left out.
SIZE = 2000
#: Unix seconds; any instant would do, but it must be the same for all paths.
_AT = 1_795_132_800
_HALF = (1 << 64) - 1
#: Addresses to explain: an explanation is slow.
_EXPLAINED = 100


@dataclass(frozen=True, slots=True)
class _Sample:
    """Addresses of one family, with the interval of each by bisection of the starts."""

    family: int
    values: list[int]
    intervals: list[int]


def sample(tables: Tables) -> Iterator[DatasetError]:
    """Yield lookups that fail or differ from the columns."""
    try:
        dataset = Dataset(tables.folder)
        for family in (4, 6):
            drawn = _choose(tables, family)
            expected = _expected_data(tables, drawn)
            for kernel, state in ((Kernel, State), (kernel_python.Kernel, kernel_python.State)):
                yield from _single(tables, drawn, expected, kernel(dataset))
                yield from _columns(tables, drawn, state(dataset))
            yield from _explanations(tables, drawn, dataset)
    except DatasetError as error:
        yield error


def _choose(tables: Tables, family: int) -> _Sample:
    """Choose the ends of intervals and other addresses; a generation always gives the same."""
    starts = tables.starts(fmt.INTERVALS[family])
    rng = random.Random(tables.manifest.generation)  # noqa: S311 - no secret
    count = min(SIZE // 4, len(starts))
    picked = [starts.item(at) for at in rng.sample(range(len(starts)), count)]
    # The first address of an interval, and the last one of the interval before.
    values = {value for start in picked for value in (start, start - 1)}
    values |= {start + rng.getrandbits(16) for start in picked}
    values |= {rng.randrange(MAX[family] + 1) for _ in range(count)} | {MAX[family]}
    public = sorted(value for value in values if _is_answered(family, value))
    intervals = [bisect_right(range(len(starts)), value, key=starts.item) - 1 for value in public]
    return _Sample(family, public, intervals)


def _is_answered(family: int, value: int) -> bool:
    """Return whether an address is public and located in its own family."""
    carried = family == 6 and embedded_ipv4(value) is not None
    return 0 <= value <= MAX[family] and not carried and not is_private(family, value)


def _expected_data(tables: Tables, drawn: _Sample) -> list[dict[str, Any]]:
    """Return the data of each address from the columns, without ip and ip_type."""
    file = fmt.INTERVALS[drawn.family]
    intervals = np.array(drawn.intervals, np.int64)
    locations = _rows(tables, fmt.LOCATION, tables.numbers(file, "location")[intervals])
    networks = _rows(tables, fmt.NETWORK, tables.numbers(file, "network")[intervals])
    countries = _rows(
        tables, fmt.COUNTRY, np.array([location["country"] for location in locations], np.int64)
    )
    zones = _rows(
        tables, fmt.ZONE, np.array([location["zone"] for location in locations], np.int64)
    )
    parts = zip(locations, countries, networks, zones, strict=True)
    return [_data(location | country, network, zone) for location, country, network, zone in parts]


def _rows(tables: Tables, name: str, rows: Any) -> list[dict[str, Any]]:
    batch = tables.batches[name]
    records: list[dict[str, Any]] = batch.take(rows).to_pylist()
    return records


def _data(located: dict[str, Any], network: dict[str, Any], zone: dict[str, Any]) -> dict[str, Any]:
    return {
        "location": _group("location", located),
        "time": time_object(zone["zone"], period(zone["zone"], _AT), _AT),
        "currency": _group("currency", located),
        "network": _group("network", network),
    }


def _group(group: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return an object of the answer; ``row`` is by column."""
    members = [field for field in fields.FIELDS if field.group == group]
    return {
        field.member: row[field.column]
        for field in members
        if row[field.column] is not None or not field.optional
    }


def _single(
    tables: Tables, drawn: _Sample, expected: list[dict[str, Any]], kernel: protocol.Kernel
) -> Iterator[DatasetError]:
    """Look each address up as a dict and as JSON bytes."""
    for value, interval, data in zip(drawn.values, drawn.intervals, expected, strict=True):
        text = canonical(drawn.family, value)
        whole = {"ip": text, "ip_type": f"ipv{drawn.family}", **data}
        answers = kernel.lookup(text, at=_AT), json.loads(kernel.lookup_json(text, at=_AT))
        if any(not answer["success"] or answer["data"] != whole for answer in answers):
            yield _differs(tables, drawn.family, interval, f"the {kernel.kernel} kernel")
            return


def _columns(tables: Tables, drawn: _Sample, state: protocol.State) -> Iterator[DatasetError]:
    """Locate all addresses as a column, and take their rows."""
    values, file = drawn.values, fmt.INTERVALS[drawn.family]
    rows = np.zeros(len(values), np.int32)
    families = np.full(len(values), drawn.family, np.uint8)
    highs = np.array([value >> 64 for value in values], np.uint64)
    lows = np.array([value & _HALF for value in values], np.uint64)
    state.locate_numbers(families, highs, lows, rows)
    # Ids of IPv6 intervals follow the ids of IPv4 intervals.
    before = 0 if drawn.family == 4 else tables.rows(fmt.IPV4)
    intervals = np.array(drawn.intervals, np.int64)
    bad = rows != intervals + before
    row_numbers = {name: np.zeros(len(values), np.uint32) for name in ("location", "network")}
    state.take_rows(rows, row_numbers["location"], row_numbers["network"])
    for name, numbers in row_numbers.items():
        bad |= numbers != tables.numbers(file, name)[intervals]
    if bad.any():
        at = drawn.intervals[int(np.argmax(bad))]
        yield _differs(tables, drawn.family, at, "a lookup of whole columns")


def _explanations(tables: Tables, drawn: _Sample, dataset: Dataset) -> Iterator[DatasetError]:
    """Explain some of the addresses; the provenance files must agree with the answers."""
    sources = tables.manifest.metadata().sources
    # 2,000 values and 100 to explain: every 21st.
    for value in drawn.values[:: 1 + len(drawn.values) // _EXPLAINED]:
        try:
            decisions(dataset, sources, drawn.family, value)
        except DatasetError as error:
            yield error
            return


def _differs(tables: Tables, family: int, interval: int, path: str) -> DatasetError:
    name = fmt.INTERVALS[family]
    return damage(tables.folder / name, f"{path} differs from the columns", row=interval)
