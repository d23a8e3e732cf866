"""What address maps show of a dataset, against single lookups; the colours of known prefixes."""

from __future__ import annotations

import ipaddress
import random
from bisect import bisect_right
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.cli.program import run
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.internals.comparison import read_tables
from tests.internals.contract import BITS
from tests.internals.dataset import Dataset
from tests.internals.pictures import View
from tests.internals.reports import LEVELS, dataset_views
from tests.pictures.random_views import starts_in
from tests.skips import needs
from tests.tiers import scaled

CARRYING_IPV4 = [
    ipaddress.IPv6Network(text) for text in ("2002::/16", "64:ff9b::/96", "::ffff:0:0/96")
]
PARTLY_KNOWN = """network,continent_code,country_code,region_code,latitude,longitude,asn
9.0.0.0/8,EU,,,,,
20.0.0.0/16,EU,CY,,35,33,
20.1.0.0/17,AS,CY,,35,33,
8.8.8.0/24,,US,CA,,,64500
8.8.9.0/24,,,,1,2,64500
2a00::/16,AF,,,,,
"""


def _views(path: Path, family: int) -> list[View]:
    dataset = Dataset(path)
    return dataset_views(dataset, read_tables(dataset), family)


def _near_starts(view: View, count: int) -> set[int]:
    starts = random.Random(17).sample(starts_in(view), min(count, len(view.starts)))
    most = (1 << BITS[view.starts.family]) - 1
    return {min(max(start + step, 0), most) for start in starts for step in (-1, 0, 1)}


def expected_labels(engine: geolookup.Engine, address: Any) -> dict[str, str]:
    """The labels of an address, from its answer and its explanation."""
    data: Any = engine.lookup(address)["data"]
    if data is None or any(address in network for network in CARRYING_IPV4):
        return dict.fromkeys(("country", "depth", "as", "source"), "special-purpose")
    location = engine.explain(address)["layers"]["location"]
    members, network = data["location"], data["network"]
    country = f"{members['country_name']} ({members['country_code']})"
    if not members["country_code"] and members["continent_name"]:
        country = f"{members['continent_name']}, no country"
    region = members["region_code"] or members["region_name"]
    known = (members["city_name"], region, members["country_code"], any(members.values()))
    depth = [level for level, value in zip(LEVELS, known, strict=True) if value]
    asn = f"AS{network.get('asn')} {network['asn_organization'] or ''}".rstrip()
    return {
        "country": country if members["continent_name"] else "unknown",
        "depth": depth[0] if depth else "unknown",
        "as": asn if network.get("asn") else "unknown",
        "source": location["source"] if location else "unknown",
    }


@pytest.fixture(scope="module")
def partly_known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Locations without a country or the name of their region; a country on two continents."""
    recipe = (
        '[dataset]\nname = "a"\n[[source]]\nformat = "csv"\npath = "a.csv"\ndate = "2026-11-01"'
    )
    return build_at(tmp_path_factory.mktemp("partly"), {"a.csv": PARTLY_KNOWN}, recipe)[0]


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("name", ["small", "partly known"])
def test_the_labels_of_an_address_are_those_of_its_answer(
    name: str, family: int, partly_known: Path
) -> None:
    kind = {4: ipaddress.IPv4Address, 6: ipaddress.IPv6Address}[family]
    dataset = {"small": SMALL, "partly known": partly_known}[name]
    views = _views(dataset, family)
    assert all(len(set(view.labels)) == len(view.labels) for view in views)
    starts = {view.name: starts_in(view) for view in views}
    addresses = [kind(value) for value in _near_starts(views[0], scaled(60, 400)) | {0, 1}]
    with geolookup.open(dataset) as engine:
        for address in addresses:
            places = {name: bisect_right(item, int(address)) - 1 for name, item in starts.items()}
            actual = {view.name: view.labels[view.values[places[view.name]]] for view in views}
            assert actual == expected_labels(engine, address), address


@needs("jinja2", "PIL", "vl_convert")
def test_a_page_on_all_of_ipv6_stays_small(tmp_path: Path) -> None:
    """A million blocks are known."""
    dataset = build_at(tmp_path, {"a.csv": "network,country_code\n::/0,FR\n"}, None)[0]
    page = tmp_path / "page.html"
    assert run("report", str(dataset), "--output", str(page)).returncode == 0
    assert page.stat().st_size < 500_000
