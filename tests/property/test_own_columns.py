"""Own columns of random recipes: their values, provenance and explanations, as in the oracle."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import read, starts_of
from geolookup.dataset.intervals import Addresses
from tests.oracle import Address, OwnColumn, Source, SourceRow, carried, is_public, own_decided
from tests.property.test_previous import built, content, says_the_same
from tests.range_strategies import addresses, edges, own_recipes
from tests.tiers import scaled

_SITE = OwnColumn("site_id", "text", private=True)
_RISK = OwnColumn("risk", "integer")


def row(first: str, last: str, **cells: str) -> SourceRow:
    named = {f"own.{name}": cell for name, cell in cells.items()}
    return SourceRow(ip_address(first), ip_address(last), named)


#: A row around private space, known there in one of its layers, and one folded over its end.
CASE = (
    [_SITE, _RISK],
    [
        Source([row("9.255.0.0", "11.0.0.255", site_id="wide", risk="5")]),
        Source([row("::ffff:10.255.255.0", "::ffff:11.0.0.1", site_id="folded", risk="x")]),
    ],
)


class Columns:
    """The own columns and the provenance of a dataset, read from its files."""

    def __init__(self, dataset: Path) -> None:
        self.own = read(dataset / fmt.OWN)[0].to_pylist()
        self.intervals = {4: read(dataset / fmt.IPV4)[0], 6: read(dataset / fmt.IPV6)[0]}
        self.provenance = {
            family: read(dataset / name)[0] for family, name in fmt.PROVENANCE.items()
        }

    def values(self, address: Address) -> dict[str, Any]:
        own = self.own[_at(self.intervals[address.version], address)["own"]]
        return {name: value for name, value in own.items() if not name.startswith("json")}

    def rows(self, address: Address) -> tuple[int, int]:
        interval = _at(self.intervals[address.version], address)
        return interval["location"], interval["network"]

    def sources(self, address: Address) -> dict[str, int]:
        return _at(self.provenance[address.version], address)


def _at(batch: Any, address: Address) -> dict[str, Any]:
    value = Addresses.of(address.version, [int(address)])
    item: dict[str, Any] = batch.slice(int(starts_of(batch).search(value)[0]) - 1, 1).to_pylist()[0]
    return item


@example(CASE, [])
@settings(max_examples=scaled(8, 120), suppress_health_check=list(HealthCheck))
@given(own_recipes(), st.lists(addresses, min_size=20, max_size=40))
def test_own_columns_equal_the_oracle(
    drawn: tuple[list[OwnColumn], list[Source]], probes: list[Address]
) -> None:
    columns, listed = drawn
    with TemporaryDirectory() as folder:
        dataset = built(Path(folder) / "sources", listed, columns=columns)
        compare(dataset, columns, listed, {*probes, *edges(listed)})
        with geolookup.open(dataset) as engine:
            for probe in {*probes, *edges(listed)}:
                decided = own_decided(listed, columns, str(probe))
                values = {name: item for _, of in decided.values() for name, item in of.items()}
                expected = {column.name: values.get(column.name) for column in columns}
                assert engine.own(probe) == expected, probe


def compare(
    dataset: Path, columns: list[OwnColumn], listed: list[Source], probes: Iterable[Address]
) -> None:
    stored = Columns(dataset)
    for address in {carried(probe) for probe in probes}:
        decided = own_decided(listed, columns, str(address))
        values = {name: item for _, of in decided.values() for name, item in of.items()}
        assert stored.values(address) == {c.name: values.get(c.name) for c in columns}, address
        sources = stored.sources(address)
        assert {layer: sources.get(layer, 0) for layer in decided} == {
            layer: number for layer, (number, _) in decided.items()
        }, address
        if not is_public(address):
            assert stored.rows(address) == (0, 0)


@example(CASE, [])
@settings(max_examples=scaled(3, 60), suppress_health_check=list(HealthCheck))
@given(own_recipes(), st.lists(addresses, min_size=20, max_size=40))
def test_explain_names_the_sources_of_own_columns(
    drawn: tuple[list[OwnColumn], list[Source]], probes: list[Address]
) -> None:
    """Of private addresses too; the rows that ``explain = "full"`` keeps agree."""
    columns, listed = drawn
    has_private = any(column.private for column in columns)
    with TemporaryDirectory() as folder:
        dataset = built(Path(folder) / "sources", listed, keys='explain = "full"', columns=columns)
        geolookup.verify(dataset, deep=True)
        with geolookup.open(dataset) as engine:
            for address in {*probes, *edges(listed)}:
                if is_public(carried(address)) or has_private:
                    check_explained(engine.explain(address), listed, columns)


def check_explained(explained: Any, listed: list[Source], columns: list[OwnColumn]) -> None:
    decided = own_decided(listed, columns, explained["ip"])
    for layer, (number, values) in decided.items():
        item = explained["layers"][layer]
        assert (item and item["source"]) == (f"{number - 1}.csv" if number else None)
        known = {f"own.{name}": value for name, value in values.items()}
        assert (item["values"] if item else {}) == known
        rows = [row["values"].get(layer) for row in explained["sources"]]
        assert next(filter(None, rows), {}) == known
    if not is_public(carried(ip_address(explained["ip"]))):
        public = explained["layers"].keys() - {c.layer for c in columns if c.private}
        assert not any(explained["layers"][layer] for layer in public)


@settings(max_examples=scaled(2, 20), suppress_health_check=list(HealthCheck))
@given(old=own_recipes(), new=own_recipes())
def test_a_previous_dataset_changes_only_the_numbers_of_own_rows(
    old: tuple[list[OwnColumn], list[Source]], new: tuple[list[OwnColumn], list[Source]]
) -> None:
    """Also if its own columns are others, or of other types."""
    with TemporaryDirectory() as target:
        folder = Path(target)
        before = built(folder / "before", old[1], columns=old[0])
        alone = built(folder / "alone", new[1], columns=new[0])
        dataset = built(folder / "next", new[1], before, columns=new[0])
        geolookup.verify(dataset, deep=True)
        says_the_same(alone, dataset)
        assert content(built(folder / "same", old[1], before, columns=old[0])) == content(before)
