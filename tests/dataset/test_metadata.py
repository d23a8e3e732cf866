"""What a dataset says of itself agrees with its recipe, its build report and its content."""

from __future__ import annotations

import dataclasses
import ipaddress
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geolookup
from tests.conftest import Build, build_at
from tests.damage import copied
from tests.datasets import SMALL
from tests.internals.builder import BuildReport
from tests.internals.contract import FIELDS, PUBLIC, ranges_of
from tests.internals.dataset import (
    KnownAddresses,
    Manifest,
    RangeBatch,
    Source,
    any_known,
    known_addresses,
    public_ranges,
)
from tests.internals.dataset import layout as fmt
from tests.internals.dataset import public_ranges_module as module
from tests.internals.kernel import state_of
from tests.walk import rows_at, walk

RECIPE = """
[dataset]
name = "two sources"
[[source]]
format = "csv"
path = "b.csv"
name = "Second file first"
date = "2026-01-31"
licence = "CC0-1.0"
attribution = "Nobody"
url = "https://example.com/b"
[[source]]
format = "csv"
path = "a.csv"
"""
FILES = {
    "a.csv": "network,country_code,city_name\n8.8.0.0/16,US,\n2001:4860::/32,US,Dublin\n",
    "b.csv": "network,asn\n8.8.8.0/24,15169\n8.8.9.0/24,15169\n",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BuildReport]:
    return build_at(tmp_path_factory.mktemp("metadata"), {**FILES}, RECIPE)


def test_what_it_says(built: tuple[Path, BuildReport]) -> None:
    dataset, report = built
    with geolookup.open(dataset) as engine:
        metadata = engine.metadata
    assert metadata.name == "two sources"
    assert metadata.sources == (
        Source(
            *("Second file first", "csv", "2026-01-31", "CC0-1.0", "Nobody"),
            "https://example.com/b",
            {"asn": {"ipv4": 512, "ipv6": 0}},
            rows=2,
        ),
        Source("a.csv", "csv", coverage={"location": {"ipv4": 1 << 16, "ipv6": 1 << 96}}, rows=2),
    )
    assert {"GeoNames", "Unicode CLDR"} <= {credit["name"] for credit in metadata.credits}
    assert all(credit["licence"] and credit["attribution"] for credit in metadata.credits)
    assert metadata.generation == report.generation
    assert (metadata.counts, metadata.coverage) == (report.counts, report.coverage)
    files = sum(path.stat().st_size for path in dataset.iterdir() if path.name != fmt.MANIFEST)
    assert metadata.bytes == files
    assert metadata.coverage["location"] == {"ipv4": 1 << 16, "ipv6": 1 << 96}
    assert metadata.coverage["asn"] == {"ipv4": 512, "ipv6": 0}
    assert metadata.coverage["isp"] == {"ipv4": 0, "ipv6": 0}
    # It needs no engine.
    manifest = json.loads((dataset / fmt.MANIFEST).read_text(encoding="utf-8"))
    assert Manifest("x", manifest).metadata().generation == report.generation


def test_fields_are_what_some_answer_holds(built: tuple[Path, BuildReport]) -> None:
    with geolookup.open(built[0]) as engine:
        fields = set(engine.metadata.fields)
        answers: list[Any] = [engine.lookup(network[0])["data"] for network, _ in walk(engine)]
    assert fields == {
        f"{group}.{member}"
        for answer in answers
        for group in ("location", "time", "currency", "network")
        for member, value in answer[group].items()
        if value is not None
    }


def test_it_is_frozen_and_short(sample: geolookup.Engine) -> None:
    """Changes to its mappings stay the caller's."""
    metadata: Any = sample.metadata
    with pytest.raises(dataclasses.FrozenInstanceError):
        metadata.name = "other"
    mappings = (metadata.counts, metadata.coverage["asn"], metadata.credits[0])
    for mapping in (*mappings, metadata.sources[0].coverage, metadata.sources[1].coverage["asn"]):
        assert mapping
        mapping.clear()
    assert sample.metadata != metadata
    metadata = sample.metadata
    assert all((metadata.counts, metadata.coverage["asn"], metadata.credits[0]))
    assert all((metadata.sources[0].coverage, metadata.sources[1].coverage["asn"]))
    assert repr(metadata).startswith(f"<geolookup.Metadata {metadata.name!r}, generation ")
    assert metadata.generation[:12] in repr(metadata)
    assert len(repr(metadata)) < 120


_SOURCE = {"name": "x", "format": "csv", "coverage": {}}
#: Values that each member does not have; Ellipsis: it is missing.
_WRONG: dict[str, tuple[object, ...]] = {
    "name": (None, 5, ["text"], {}, ...),
    "sources": (
        *(None, 5, "text", {}, [5], [{}], [{"name": "x"}], ...),
        *([{"name": "x", "format": "csv"}], [_SOURCE | {"name": 5}], [_SOURCE | {"coverage": 5}]),
        *([_SOURCE | {"coverage": {"asn": {"ipv4": "5"}}}], [_SOURCE | {"colour": "red"}]),
    ),
    "credits": (
        *(None, 5, "text", {}, [5], [{"name": 5}], [{}], ...),
        [{"licence": "CC0-1.0", "attribution": "of x", "url": "y"}],
        [{"name": "x", "licence": "CC0-1.0", "url": "y"}],
    ),
    "fields": (None, 5, "text", {}, [5], ...),
    "counts": (None, 5, "text", [5], {"a": "5"}, ...),
    "coverage": (None, 5, "text", [5], {"a": 5}, {"a": {"b": "5"}}, ...),
    "files": ({"ipv4.arrow": {"bytes": "5"}},),
}


def test_a_damaged_manifest(tmp_path: Path) -> None:
    whole = json.loads((SMALL / fmt.MANIFEST).read_text(encoding="utf-8"))
    for member, value in [(name, value) for name in _WRONG for value in _WRONG[name]]:
        manifest = {name: item for name, item in whole.items() if name != member}
        if value is not ...:
            manifest[member] = value
        damaged = Manifest(SMALL, manifest)
        with pytest.raises(geolookup.DatasetError, match="manifest"):
            raise AssertionError(f"{member}: {value}: {damaged.metadata()}")
    # Lookups do without what only the metadata need.
    dataset = copied(SMALL, tmp_path / "copy")
    del whole["sources"]
    (dataset / fmt.MANIFEST).write_text(json.dumps(whole), encoding="utf-8")
    with geolookup.open(dataset) as engine:
        assert engine.lookup("8.8.8.8")["success"]
        with pytest.raises(geolookup.DatasetError, match="manifest"):
            _ = engine.metadata


def test_the_table_of_a_notebook(build: Build) -> None:
    recipe = RECIPE.replace("two sources", "<b>two</b> & <script>").replace("CC0-1.0", "<i>")
    with geolookup.open(build(FILES, recipe)[0]) as engine:
        table = engine.metadata._repr_html_()
        assert engine.metadata.generation in table
    assert "&lt;b&gt;two&lt;/b&gt; &amp; &lt;script&gt;" in table
    assert "Second file first, 2026-01-31, &lt;i&gt;" in table
    assert "a.csv" in table
    assert set(re.findall(r"</?([^ >]*)", table)) == {"table", "caption", "tbody", "tr", "th", "td"}


STORED = [field.path for field in FIELDS if field.table]
IN_RECORDS = [path for path in STORED if path != "time.zone"]  # a record has no time object
PUBLIC_IPV4 = 3_702_258_689


def counted(engine: geolookup.Engine) -> dict[str, dict[str, int]]:
    actual = {family: dict.fromkeys(["any", *IN_RECORDS], 0) for family in ("ipv4", "ipv6")}
    for network, record in walk(engine):
        of_family, size = actual[f"ipv{network.version}"], network.num_addresses
        of_family["any"] += size
        for path in IN_RECORDS:
            group, _, member = path.partition(".")
            of_family[path] += size * (record[group].get(member) is not None)
    return actual


def test_counts_are_those_of_all_networks(sample: geolookup.Engine) -> None:
    known, wanted = known_addresses(SMALL), counted(sample)
    assert known["ipv4"].of == PUBLIC_IPV4
    assert known["ipv6"].of == wanted["ipv6"]["any"]
    coverage = sample.metadata.coverage  # by layer
    for layer, path in (("location", "location.continent_code"), ("asn", "network.asn")):
        assert coverage[layer] == {family: item[path] for family, item in wanted.items()}
    for family, entry in known.items():
        assert list(entry.with_value) == STORED
        for path in IN_RECORDS:
            assert entry.with_value[path] == wanted[family][path], (family, path)


def test_zones_are_known_where_answers_have_one(build: Build) -> None:
    rows = "8.8.8.0/24,US,America/Denver\n9.0.0.0/8,US,\n2001:4860::/32,FR,Europe/Paris\n"
    dataset, _ = build({"a.csv": "network,country_code,time_zone\n" + rows})
    known = known_addresses(dataset)
    assert known["ipv4"].with_value["time.zone"] == 256
    assert known["ipv4"].with_value["location.country_code"] == 256 + 2**24
    assert known["ipv6"] == KnownAddresses(2**96, known["ipv6"].with_value)
    assert known["ipv6"].share("time.zone") == 1
    empty = known_addresses(build({"a.csv": "network,country_code\n"})[0])
    assert {share for value in empty.values() for share in map(value.share, STORED)} == {0}


Row = tuple[int, int, int, int]


def rows(batches: Iterator[RangeBatch]) -> list[Row]:
    listed = []
    for batch in batches:
        halves = [half.tolist() for half in batch[1:5] if isinstance(half, np.ndarray)]
        numbers = [column.tolist() for column in batch.rows.values()]
        for fh, fl, lh, ll, location, network in zip(*halves, *numbers, strict=True):
            listed.append((fh << 64 | fl, lh << 64 | ll, location, network))
    return listed


def expected(engine: geolookup.Engine, family: int, within: object = None) -> list[Row]:
    state = state_of(engine)
    actual = []
    for network, _ in walk(engine, within):
        if network.version == family:
            first, last = int(network[0]), int(network[-1])
            at = state.dataset.starts(family).interval(first)
            actual.append((first, last, *rows_at(state.dataset, family, at)))
    return actual


def merged(listed: list[Row]) -> list[Row]:
    actual: list[Row] = []
    for first, last, *both in listed:
        if actual and actual[-1][1] + 1 == first and actual[-1][2:] == tuple(both):
            first = actual.pop()[0]
        actual.append((first, last, both[0], both[1]))
    return actual


@pytest.mark.parametrize("family", [4, 6])
def test_known_ranges_are_those_of_networks(
    sample: geolookup.Engine, monkeypatch: pytest.MonkeyPatch, family: int
) -> None:
    dataset = state_of(sample).dataset
    for within in (None, "8.0.0.0/7", "2001:4860::/30", "10.0.0.0/8"):
        wanted = merged(expected(sample, family, within))
        for batch in (3, 1 << 17):
            monkeypatch.setattr(module, "BATCH", batch)
            assert merged(rows(public_ranges(dataset, family, within, any_known))) == wanted, within


@pytest.mark.parametrize("family", [4, 6])
def test_all_ranges_are_public_space(sample: geolookup.Engine, family: int) -> None:
    dataset = state_of(sample).dataset
    result = rows(public_ranges(dataset, family))
    everything = merged([(first, last, 0, 0) for first, last, *_ in result])
    assert tuple((first, last) for first, last, *_ in everything) == ranges_of(family, PUBLIC)
    batch = next(public_ranges(dataset, family))
    assert [item.dtype for item in batch[1:5] if isinstance(item, np.ndarray)] == [np.uint64] * 4
    assert [item.dtype for item in batch.rows.values()] == [np.uint32] * 2


def test_parts(sample: geolookup.Engine) -> None:
    """Within a part of an interval, and chosen ranges only."""
    dataset = state_of(sample).dataset
    network = ipaddress.ip_network("8.8.8.8/31")
    result = rows(public_ranges(dataset, 4, network))
    assert [item[:2] for item in result] == [(int(network[0]), int(network[-1]))]
    assert rows(public_ranges(dataset, 6, network)) == []
    for text in ("2001:4860:4860:0:8000::/65", "2001:4860:4860:1::/64", "2001:4860::/128"):
        in_ipv6 = ipaddress.ip_network(text)
        result = rows(public_ranges(dataset, 6, in_ipv6))
        assert [item[:2] for item in result] == [(int(in_ipv6[0]), int(in_ipv6[-1]))]
    with pytest.raises(ValueError, match="within must be a network"):
        public_ranges(dataset, 4, "8.8.8.8/8")
    everything = rows(public_ranges(dataset, 4))
    selection = rows(public_ranges(dataset, 4, None, lambda of_table: of_table["location"] == 3))
    assert selection == [item for item in everything if item[2] == 3] != []
