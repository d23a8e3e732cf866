"""Every number of a comparison is what looking all addresses up in both datasets gives."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geolookup
from tests.comparison import oracle
from tests.conftest import build_at
from tests.internals.comparison import (
    KINDS,
    Overlaid,
    Traffic,
    country_flows,
    kinds,
    lay_over,
    measure,
    open_dataset,
)
from tests.internals.dataset import Addresses
from tests.oracle import Source
from tests.range_strategies import addresses_in, any_cells, as_csv, rows_within
from tests.tiers import scaled

#: The windows of ranges; all their addresses can be looked up: the last one of each family
#: reaches into private space, or from one /64 into the next.
WINDOWS = {
    "8.8.8.0": 24,
    "9.255.255.250": 12,
    "2a00::": 24,
    "2a00::ffff:ffff:ffff:fffa": 12,
}
_CELLS = {
    "continent_code": ("EU", "AS"),
    "country_code": ("US", "DE", "AQ", "US"),
    "region_code": ("BY", "CA"),
    "region_name": ("Bavaria", "BAVARIA", "Bayern"),
    "city_name": ("Zürich", "zurich", "B"),
    "latitude": ("1.5", "-0.0", "0", "-33.8688"),
    "longitude": ("-180", "9.25", "180"),
    "time_zone": ("Europe/Berlin", "Etc/UTC"),
    "asn": ("1", "2"),
    "asn_organization": ("One", "Two"),
    "user_type": ("hosting", "business"),
}
_csv = st.lists(rows_within(WINDOWS, any_cells(_CELLS)), min_size=1, max_size=8).map(
    lambda rows: as_csv(Source(rows))
)
#: The sources of a dataset, one or two.
_datasets = st.lists(_csv, min_size=1, max_size=2)


@contextmanager
def _built(old: list[str], new: list[str]) -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, sources in (("old", old), ("new", new)):
            target = Path(folder, name)
            target.mkdir()
            files: dict[str, str | bytes] = {f"{n}.csv": csv for n, csv in enumerate(sources)}
            paths.append(build_at(target, files)[0])
        yield paths[0], paths[1]


def _addresses(family: int) -> list[str]:
    return [str(address) for address in addresses_in(WINDOWS) if address.version == family]


def _all_seen(old: Path, new: Path, addresses: list[str]) -> list[oracle.SeenAnswers]:
    with geolookup.open(old) as before, geolookup.open(new) as after:
        actual = [oracle.seen(before, after, address) for address in addresses]
    return [item for item in actual if item is not None]


def _laid(old: Path, new: Path, traffic: Traffic | None = None) -> Overlaid:
    return lay_over(open_dataset(old), open_dataset(new), traffic)


def _kinds(overlaid: Overlaid, family: int) -> list[str | None]:
    """Return the kind of change of each address of the windows; None where nothing is known."""
    joint, actual = overlaid.joints[family], overlaid.changes[f"ipv{family}"]
    by_interval = np.full(len(joint.starts), -1)
    by_interval[joint.reached] = kinds(overlaid.values, actual)
    public = [item for item in _addresses(family) if not ip_address(item).is_private]
    addresses = Addresses.of(family, (int(ip_address(item)) for item in public))
    at = by_interval[joint.starts.search(addresses) - 1].tolist()
    return [KINDS[item] if item >= 0 else None for item in at]


_requested = st.lists(
    st.sampled_from([*_addresses(4), *_addresses(6), "::ffff:8.8.8.3", "2002:808:805::1"])
    | st.sampled_from(["10.0.0.1", "fe80::1", "x", "8.8.8.08", "203.0.112.1"]),
    min_size=1,
    max_size=60,
)


@settings(max_examples=scaled(4, 20))
@given(_datasets, _datasets, _requested)
def test_numbers_are_those_of_lookups(old: list[str], new: list[str], requested: list[str]) -> None:
    with _built(old, new) as (before, after):
        overlaid = _laid(before, after)
        comparison = measure(overlaid, most_movers=1000)
        assert list(comparison.parts) == ["ipv4", "ipv6"]
        for family, unit in ((4, 1.0), (6, 2.0**-64)):
            seen = _all_seen(before, after, _addresses(family))
            oracle.check(comparison.parts[f"ipv{family}"], seen, unit, pytest.approx)
            assert _kinds(overlaid, family) == [oracle.kind(entry) for entry in seen]
            actual = overlaid.changes[f"ipv{family}"]
            flows = {flow[:2]: flow[2] for flow in country_flows(overlaid.values, actual)}
            moved = oracle.country_flows(seen)
            assert flows == {pair: count * unit for pair, count in moved.items()}
        _check_requests(before, after, requested)


def _check_requests(before: Path, after: Path, requested: list[str]) -> None:
    path = before.parent / "requests.txt"
    path.write_text("\n".join(requested) + "\n", encoding="utf-8")
    comparison = measure(_laid(before, after, Traffic(path)), most_movers=1000)
    carrying = [request for request in requested if request.startswith(("::ffff:", "2002:"))]
    ipv4 = [request for request in requested if ":" not in request]
    ipv6 = [request for request in requested if ":" in request and request not in carrying]
    for part, asked in (("all", requested), ("ipv4", ipv4 + carrying), ("ipv6", ipv6)):
        seen = _all_seen(before, after, asked)
        oracle.check(comparison.parts[part], seen, 1.0, pytest.approx)
    with geolookup.open(before) as engine:
        codes = [engine.lookup(request)["error_code"] for request in requested]
    assert comparison.requests is not None
    assert comparison.requests.total == len(requested)
    assert comparison.requests.private == codes.count(10002)
    assert comparison.requests.invalid == codes.count(10001)
