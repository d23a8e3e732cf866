"""What a dataset says of itself agrees with its recipe, its build report and its content."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.conftest import Build, build_at
from tests.damage import copied
from tests.datasets import SMALL
from tests.internals.builder import BuildReport
from tests.internals.contract import FIELDS
from tests.internals.dataset import (
    KnownAddresses,
    Manifest,
    Source,
    known_addresses,
)
from tests.internals.dataset import layout as fmt
from tests.walk import walk

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
