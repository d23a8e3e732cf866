"""The figures of random datasets against sums over the networks of the engine."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from ipaddress import IPv4Network, IPv6Network, collapse_addresses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import geolookup
from geolookup.contract.fields import COUNTRY
from geolookup.dataset.files import Dataset
from geolookup.reports.dataset.countries import per_country
from geolookup.reports.dataset.facts import Facts, read_facts
from geolookup.reports.dataset.networks import per_system
from geolookup.reports.dataset.row_names import countries
from tests.conftest import build_at
from tests.oracle import Source
from tests.range_strategies import as_csv, recipe, recipes

Network = IPv4Network | IPv6Network
Record = tuple[Any, dict[str, Any]]


@pytest.mark.long
@given(recipes)
def test_figures_are_sums_over_all_networks(listed: list[Source]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, str | bytes] = {
            f"{at}.csv": as_csv(each) for at, each in enumerate(listed)
        }
        dataset, _ = build_at(Path(folder), files, recipe(listed))
        facts = read_facts(Dataset(dataset))
        with geolookup.open(dataset) as engine:
            records = list(engine.networks())
        for family in (4, 6):
            _check(facts, family, [each for each in records if each[0].version == family])


def _check(facts: Facts, family: int, records: list[Record]) -> None:
    space = facts.space[family]
    lengths = Counter(network.prefixlen for network, _ in records)
    assert dict(enumerate(space.lengths.tolist())) == {
        at: lengths[at] for at in range(len(space.lengths))
    }
    assert space.space == pytest.approx(sum(_size(network) for network, _ in records))
    assert space.locations.intervals.sum() <= len(records)
    assert _countries(facts, family) == pytest.approx(_by_country(records))
    systems = per_system(facts, space)
    assert dict(zip(systems.numbers.tolist(), systems.prefixes.tolist(), strict=True)) == {
        asn: len(list(collapse_addresses(each))) for asn, each in _by_system(records).items()
    }


def _size(network: Network) -> float:
    return network.num_addresses / (1 if network.version == 4 else 2**64)


def _countries(facts: Facts, family: int) -> dict[str, float]:
    names, _ = countries(facts.tables[COUNTRY])
    spaces = per_country(facts, facts.space[family]).space.tolist()
    rows = zip(names, spaces, strict=True)
    return {name: space for name, space in rows if space and not name.endswith("no country")}


def _by_country(records: list[Record]) -> dict[str, float]:
    found = defaultdict[str, float](float)
    for network, record in records:
        place = record["location"]
        if code := place["country_code"]:
            found[f"{place['country_name']} ({code})"] += _size(network)
    return found


def _by_system(records: list[Record]) -> dict[int, list[Any]]:
    found = defaultdict[int, list[Any]](list)
    for network, record in records:
        if asn := record["network"].get("asn"):
            found[asn].append(network)
    return found
