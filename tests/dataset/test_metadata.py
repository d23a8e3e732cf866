"""What a dataset says of itself agrees with its recipe, its build report and its content."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from geolookup_builder.report import BuildReport

import geolookup
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import Manifest
from geolookup.dataset.metadata import Source
from tests.conftest import Build, build_at
from tests.damage import copied
from tests.datasets import SMALL

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
    manifest = json.loads((dataset / fmt.MANIFEST).read_text())
    assert Manifest("x", manifest).metadata().generation == report.generation


def test_fields_are_what_some_answer_holds(built: tuple[Path, BuildReport]) -> None:
    with geolookup.open(built[0]) as engine:
        fields = set(engine.metadata.fields)
        answers = [engine.data(network[0]) for network, _ in engine.networks()]
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
    "base": (None, 5, "", "text", [], {}, "A" * 64, "a" * 63, "../" + "a" * 61),
}


def test_a_damaged_manifest(tmp_path: Path) -> None:
    whole = json.loads((SMALL / fmt.MANIFEST).read_text())
    assert Manifest(SMALL, whole).metadata().base is None
    for member, value in [(name, value) for name in _WRONG for value in _WRONG[name]]:
        manifest = {name: each for name, each in whole.items() if name != member}
        if value is not ...:
            manifest[member] = value
        damaged = Manifest(SMALL, manifest)
        with pytest.raises(geolookup.DatasetError, match="manifest"):
            raise AssertionError(f"{member}: {value}: {damaged.metadata()}")
    metadata = Manifest(SMALL, {**whole, "base": "ab" * 32}).metadata()
    assert (metadata.base, metadata.generation) == ("ab" * 32, whole["generation"])
    assert "ab" * 32 in metadata._repr_html_()
    # Lookups do without what only the metadata need.
    dataset = copied(SMALL, tmp_path / "copy")
    del whole["sources"]
    (dataset / fmt.MANIFEST).write_text(json.dumps(whole))
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
