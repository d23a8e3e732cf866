"""The figures of a report against counts over all networks of the engine."""

from __future__ import annotations

from collections import Counter, defaultdict
from ipaddress import collapse_addresses
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.contract.fields import COUNTRY
from geolookup.dataset.files import Dataset
from geolookup.reports.dataset.countries import per_country
from geolookup.reports.dataset.coverage import depth_shares
from geolookup.reports.dataset.facts import Facts, read_facts
from geolookup.reports.dataset.networks import per_system
from geolookup.reports.dataset.row_names import LEVELS, countries
from tests.conftest import Build
from tests.datasets import SMALL

#: Rows of one country at all depths, an AS at two places, one of two names, ranges not prefixes.
MIXED = """first,last,continent_code,country_code,region_name,city_name,asn,asn_organization,isp
8.8.8.3,8.8.9.200,,US,,,64500,First,
8.8.9.201,8.8.9.255,,US,Texas,,64500,First,
8.8.10.0,8.8.10.255,,,US,,Austin,64500,Small,
8.8.11.0,8.8.11.255,,,US,Texas,Austin,64501,,
9.0.0.0,9.127.255.255,EU,,,,,,
9.128.0.0,9.255.255.255,,,,,,64501,Other,
2a00::,2a00:1:ffff:ffff:ffff:ffff:ffff:ffff,,,DE,,Berlin,64500,First,
2a00:2::,2a00:2:7fff:ffff:ffff:ffff:ffff:ffff,,,DE,,,64500,First,
2a01::5,2a01::1:0:0:0:7,,FR,,,64502,Third,
11.0.0.0,11.0.0.255,,,,,64503,,a
11.0.1.0,11.0.1.127,,,,,64503,Named,a
11.0.2.0,11.0.2.63,,,,,64503,Other,a
11.0.3.0,11.0.3.79,,,,,64503,Other,b
"""


@pytest.fixture(scope="module", params=["small", "mixed"])
def dataset(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param == "small":
        return SMALL
    from tests.conftest import build_at

    return build_at(tmp_path_factory.mktemp("mixed"), {"a.csv": MIXED})[0]


@pytest.fixture(scope="module")
def facts(dataset: Path) -> Facts:
    return read_facts(Dataset(dataset))


@pytest.fixture(scope="module")
def records(dataset: Path) -> list[tuple[Any, dict[str, Any]]]:
    with geolookup.open(dataset) as engine:
        return list(engine.networks())


def _known(sums: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in sums.items() if value}


def _country(place: dict[str, Any]) -> str:
    if place["country_code"]:
        return f"{place['country_name']} ({place['country_code']})"
    return f"{place['continent_name']}, no country" if place["continent_name"] else "no country"


def _size(network: Any) -> float:
    return float(network.num_addresses) if network.version == 4 else network.num_addresses / 2**64


@pytest.mark.parametrize("family", [4, 6])
def test_countries(facts: Facts, records: list[Any], family: int) -> None:
    space, region, city = (defaultdict[str, float](float) for _ in range(3))
    for network, record in records:
        if network.version == family:
            place = record["location"]
            name = _country(place)
            space[name] += _size(network)
            region[name] += _size(network) * bool(place["region_code"] or place["region_name"])
            city[name] += _size(network) * bool(place["city_name"])
    found = per_country(facts, facts.space[family])
    names, _ = countries(facts.tables[COUNTRY])
    for counted, of in ((found.space, space), (found.with_region, region), (found.with_city, city)):
        sums = dict(zip(names, counted.tolist(), strict=True))
        assert _known(sums) == pytest.approx(_known(of), rel=1e-12)


@pytest.mark.parametrize("family", [4, 6])
def test_intervals_and_prefix_lengths(facts: Facts, records: list[Any], family: int) -> None:
    networks = [network for network, _ in records if network.version == family]
    wanted = Counter(network.prefixlen for network in networks)
    assert dict(enumerate(facts.space[family].lengths.tolist())) == {
        length: wanted[length] for length in range(len(facts.space[family].lengths))
    }
    assert facts.space[family].space == pytest.approx(sum(map(_size, networks)), rel=1e-12)
    assert facts.space[family].locations.prefixes.sum() == len(networks)
    intervals = facts.space[family].locations.intervals.sum()
    assert per_country(facts, facts.space[family]).intervals.sum() == intervals


@pytest.mark.parametrize("family", [4, 6])
def test_systems(facts: Facts, records: list[Any], family: int) -> None:
    of: dict[int, list[Any]] = {}
    names: dict[int, defaultdict[str, float]] = {}
    for network, record in records:
        if network.version == family and (asn := record["network"].get("asn")):
            of.setdefault(asn, []).append(network)
            named = record["network"]["asn_organization"] or ""
            names.setdefault(asn, defaultdict(float))[named] += _size(network)
    found = per_system(facts, facts.space[family])
    assert found.space.tolist() == sorted(found.space.tolist(), reverse=True)
    rows = zip(
        found.numbers.tolist(), found.names, found.space.tolist(), found.prefixes, strict=True
    )
    assert {number: (space, prefixes) for number, _, space, prefixes in rows} == {
        number: (pytest.approx(sum(map(_size, each))), len(list(collapse_addresses(each))))
        for number, each in of.items()
    }
    for number, name in zip(found.numbers.tolist(), found.names, strict=True):
        named = {each: space for each, space in names[number].items() if each}
        assert named.get(name, 0) == max(named.values(), default=0)
        assert bool(name) == bool(named)


@pytest.mark.parametrize("family", [4, 6])
def test_depths(facts: Facts, records: list[Any], family: int) -> None:
    sums = Counter[str]()
    for network, record in records:
        place = record["location"]
        if network.version == family and any(place.values()):
            region = place["region_code"] or place["region_name"]
            finest = zip(
                LEVELS, (place["city_name"], region, place["country_code"], 1), strict=True
            )
            sums[next(name for name, value in finest if value)] += network.num_addresses
    shares = depth_shares(facts, facts.space[family])
    of = facts.known[f"ipv{family}"].of
    assert dict(zip(LEVELS, shares, strict=True)) == pytest.approx(
        {depth: sums[depth] / of for depth in LEVELS}
    )


def test_a_row_without_a_country_is_named_by_what_is_known(build: Build) -> None:
    rows = "network,continent_code,country_code\n9.0.0.0/8,EU,\n8.8.8.0/24,,US\n"
    facts = read_facts(Dataset(build({"a.csv": rows})[0]))
    names, _ = countries(facts.tables[COUNTRY])
    assert sorted(names) == ["Europe, no country", "United States (US)", "no country"]
