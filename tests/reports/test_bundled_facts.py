"""The figures of the bundled dataset against what the engine answers and lists."""

from __future__ import annotations

from pathlib import Path

import pytest

import geolookup
from geolookup.contract.fields import COUNTRY
from geolookup.dataset.files import Dataset
from geolookup.reports.dataset.countries import per_country
from geolookup.reports.dataset.facts import Facts, read_facts
from geolookup.reports.dataset.networks import per_system
from geolookup.reports.dataset.row_names import countries

pytestmark = pytest.mark.long
BUNDLED = Path(geolookup.__file__).parent / "world"


@pytest.fixture(scope="module")
def facts() -> Facts:
    return read_facts(Dataset(BUNDLED))


@pytest.mark.parametrize("code", ["CH", "NZ", "VA"])
def test_a_country_has_the_addresses_of_its_prefixes(facts: Facts, code: str) -> None:
    names, _ = countries(facts.tables[COUNTRY])
    (row,) = (at for at, name in enumerate(names) if name.endswith(f"({code})"))
    with geolookup.open(BUNDLED) as engine:
        sizes = {4: 0, 6: 0}
        for network in engine.prefixes({"location.country_code": code}):
            sizes[network.version] += network.num_addresses
    assert per_country(facts, facts.space[4]).space[row] == sizes[4]
    assert per_country(facts, facts.space[6]).space[row] == pytest.approx(sizes[6] / 2**64)


@pytest.mark.parametrize("family", [4, 6])
def test_the_largest_systems_are_those_of_the_engine(facts: Facts, family: int) -> None:
    found = per_system(facts, facts.space[family])
    with geolookup.open(BUNDLED) as engine:
        for row in (0, 1, 49):
            asn = int(found.numbers[row])
            networks = list(engine.prefixes({"network.asn": asn}, family=family))  # type: ignore[arg-type]
            assert found.prefixes[row] == len(networks)
            addresses = sum(network.num_addresses for network in networks)
            assert found.space[row] == pytest.approx(addresses / (1 if family == 4 else 2**64))
            assert engine.data(networks[0][0])["network"]["asn"] == asn


def test_the_known_space_is_that_of_the_manifest(facts: Facts) -> None:
    coverage = facts.metadata.coverage["asn"]
    for family, unit in ((4, 1), (6, 2**64)):
        space = per_system(facts, facts.space[family]).space.sum()
        assert space == pytest.approx(coverage[f"ipv{family}"] / unit, rel=1e-12)
