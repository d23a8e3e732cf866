"""``geolookup slice``: inputs, provenance, own columns, errors."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import geolookup
from tests.cli import program
from tests.conftest import build_at

ROWS = (
    "network,country_code,city_name,isp\n8.8.0.0/16,DE,Berlin,a\n"
    "8.9.0.0/16,AT,Wien,b\n2a00::/32,DE,Bonn,d\n"
)
RECIPE = """[dataset]
name = "whole"
[[source]]
format = "csv"
path = "a.csv"
name = "Places"
date = "2026-11-01"
licence = "CC0-1.0"
attribution = "Places of Acme"
url = "https://acme.example"
"""


def run(*arguments: object) -> CompletedProcess[str]:
    return program.run(*map(str, arguments))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_at(tmp_path_factory.mktemp("whole"), {"a.csv": ROWS}, RECIPE)[0]


def test_a_part_keeps_sources_and_credits(whole: Path, tmp_path: Path) -> None:
    part = tmp_path / "part"
    done = run("slice", whole, "--only", "country=DE,AT", "--not", "city=Wien", "--output", part)
    assert done.returncode == 0
    assert "left out" in done.stdout
    with geolookup.open(part) as engine, geolookup.open(whole) as full:
        assert engine.get("8.8.8.8", "city") == "Berlin"
        assert engine.get("8.9.0.1", "isp") is None
        (source,), (original,) = engine.metadata.sources, full.metadata.sources
        assert engine.metadata.name == "part"
        assert engine.metadata.credits == full.metadata.credits
    for member in ("name", "date", "licence", "attribution", "url", "rows"):
        assert getattr(source, member) == getattr(original, member)
    printed = run("info", part).stdout
    assert "Places" in printed
    assert "CC0-1.0" in printed
    assert "by way of dataset whole" in run("explain", "8.8.8.8", "--dataset", part).stdout


def test_stores_archives_and_the_bundled_dataset(whole: Path, tmp_path: Path) -> None:
    geolookup.publish(whole, tmp_path / "store")
    geolookup.pack(whole, tmp_path / "whole.tar.zst")
    generations = set()
    for number, dataset in enumerate((whole, tmp_path / "store", tmp_path / "whole.tar.zst")):
        options = ("--family", "6", "--name", "six", "--json", "--output", tmp_path / f"{number}")
        generations.add(json.loads(run("slice", dataset, *options).stdout)["generation"])
    assert len(generations) == 1
    networks = ("--within", "8.8.8.0/24", "--within", "1.1.1.0/24")
    done = run("slice", "bundled", *networks, "-f", "country", "--output", tmp_path / "three")
    assert done.returncode == 0
    with geolookup.open(tmp_path / "three") as engine, geolookup.open("bundled") as bundled:
        for address in ("8.8.8.8", "1.1.1.1"):
            assert engine.get(address, "country") == bundled.get(address, "country")
        assert engine.get("8.8.9.1", "country") is None


def test_a_part_by_a_call_of_python(whole: Path, tmp_path: Path) -> None:
    source = {"path": str(whole), "only": {"location.country_code": "DE"}, "families": [4]}
    geolookup.build(sources=[source], output=tmp_path / "part", fields=("country",))
    with geolookup.open(tmp_path / "part") as engine:
        assert engine.get("8.8.8.8", "country", "city") == ("DE", None)
        for address in ("8.9.0.1", "2a00::1"):
            assert engine.get(address, "country") is None
    with pytest.raises(ValueError, match="fields goes with sources"):
        geolookup.build(whole, tmp_path / "x", fields=["country"])
