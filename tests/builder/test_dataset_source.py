"""A dataset as a source of a recipe: its forms, its sources in the manifest, its refusals."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import geolookup
from tests.builder.building import fails
from tests.builder.sources.readings import one
from tests.cli.program import run
from tests.conftest import build_at
from tests.damage import copied
from tests.datasets import once
from tests.internals.builder import BuildReport
from tests.internals.dataset import layout as fmt

CITY = "network,country_code,city_name\n8.8.8.0/24,US,Berkeley\n9.9.9.0/24,DE,Berlin\n"
ASN = "network,asn,asn_organization\n8.8.8.0/24,15169,GOOGLE\n1.1.1.0/24,13335,CLOUDFLARENET\n"
SITES = "network,city_name,country_code\n8.8.8.8,Site,US\n"
BASE = """
[dataset]
name = "acme-geo"
[[source]]
format = "csv"
path = "city.csv"
name = "City"
date = "2026-10-01"
licence = "CC-BY-4.0"
attribution = "City by Acme"
[[source]]
format = "csv"
path = "asn.csv"
name = "ASN"
date = "2026-09-01"
"""
OVER = """
[dataset]
name = "over"
[[source]]
format = "csv"
path = "sites.csv"
[[source]]
format = "dataset"
path = "{}"
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """The dataset of both sources; a test may damage it."""
    return copied(once("builder-base", _build_base), tmp_path / "base" / "dataset")


def _build_base(output: Path) -> None:
    with TemporaryDirectory() as folder:
        build_at(Path(folder), {"city.csv": CITY, "asn.csv": ASN}, BASE)[0].rename(output)


def over(
    folder: Path, path: Path | str, sites: str = SITES, more: str = "", **options: object
) -> tuple[Path, BuildReport]:
    return build_at(folder, {"sites.csv": sites}, OVER.format(path) + more, **options)


def test_the_other_fields_of_a_dataset_are_left_out(tmp_path: Path, base: Path) -> None:
    dataset, report = over(tmp_path, base, more='fields = ["country_code"]\n')
    assert report.sources[1].note.endswith(", 1 of them without an address here")
    with geolookup.open(dataset) as engine:
        assert engine.get("8.8.8.9", ["country_code", "city_name", "asn"]) == ("US", None, None)


def test_the_sources_behind_a_dataset_have_its_place(tmp_path: Path, base: Path) -> None:
    dataset, report = over(tmp_path, base)
    with geolookup.open(dataset) as engine:
        assert engine.get("8.8.8.9", "city_name") == "Berkeley"
        sites, city, asn = engine.metadata.sources
        assert (sites.name, sites.dataset) == ("sites.csv", None)
        assert (city.name, city.dataset, city.rows) == ("City", "acme-geo", 2)
        assert (city.date, city.licence, city.attribution) == (
            *("2026-10-01", "CC-BY-4.0"),
            "City by Acme",
        )
        assert city.coverage == {"location": {"ipv4": 511, "ipv6": 0}}
        assert asn.coverage == {"asn": {"ipv4": 512, "ipv6": 0}}
        assert engine.metadata.age.source == "ASN"
        layers = engine.explain("8.8.8.9")["layers"]
        assert (layers["location"]["source"], layers["location"]["dataset"]) == ("City", "acme-geo")
        assert "dataset" not in engine.explain("8.8.8.8")["layers"]["location"]
        names = [credit["name"] for credit in engine.metadata.credits]
        assert len(names) == len(set(names))
    assert "dataset of generation" in "\n".join(report.lines())
    assert "City, by way of dataset acme-geo (csv), 2026-10-01" in run("info", str(dataset)).stdout
    explained = run("explain", "8.8.8.9", "--dataset", str(dataset)).stdout
    assert "City, by way of dataset acme-geo, 2026-10-01, CC-BY-4.0" in explained


def test_stores_and_archives(tmp_path: Path, base: Path) -> None:
    store, archive = tmp_path / "store", tmp_path / "acme.tar.zst"
    geolookup.publish(base, store)
    geolookup.pack(base, archive)
    expected = over(tmp_path, base)[1].generation
    assert over(tmp_path, store)[1].generation == expected
    assert over(tmp_path, archive)[1].generation == expected
    assert not geolookup.check(tmp_path / "recipe.toml").has_problem
    geolookup.update(tmp_path / "recipe.toml", store=store)
    with geolookup.open(store) as engine:
        assert len(engine.metadata.sources) == 3


#: Lines for the recipe of the dataset, and the error.
REFUSED = (
    ("date = '2026-01-01'\n", "source.date belongs to the sources behind a dataset"),
    ("columns = { a = 'b' }\n", "unknown key source.columns"),
    ("path = 'nowhere'\n", "no dataset here"),
)


def test_refused_keys(tmp_path: Path, base: Path) -> None:
    for line, problem in REFUSED:
        text = OVER.format(base) + line
        if line.startswith("path"):
            text = OVER.format("nowhere")
        assert problem in fails(tmp_path, {"sites.csv": SITES}, text).problem


@pytest.mark.parametrize("name", [fmt.LOCATION, fmt.IPV4, fmt.PROVENANCE[4], fmt.MANIFEST])
def test_a_damaged_dataset_is_refused(tmp_path: Path, base: Path, name: str) -> None:
    path = base / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    error = fails(tmp_path, {"sites.csv": SITES}, OVER.format(base))
    assert not (tmp_path / "dataset").exists()
    assert error.path.startswith(str(base))


def test_own_columns_that_differ_are_refused(tmp_path: Path) -> None:
    rows = "network,site,risk\n8.8.8.0/24,HQ,2\n"
    columns = '[columns]\nsite = "text"\nrisk = "integer"\n'
    behind, _ = build_at(tmp_path, {"own.csv": rows}, columns + one("csv", "own.csv"))
    behind.rename(tmp_path / "behind")
    error = fails(tmp_path, {}, columns.replace("integer", "real") + one("dataset", "behind"))
    assert "own.risk has another type, group or private in t" in error.problem
