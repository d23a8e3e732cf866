"""``geolookup slice`` and ``size``: inputs, provenance, own columns, errors, bytes."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import geolookup
from tests.cli import program
from tests.conftest import build_at

ROWS = (
    "network,country_code,city_name,isp,risk,site\n8.8.0.0/16,DE,Berlin,a,7,\n"
    "8.9.0.0/16,AT,Wien,b,2,\n10.0.0.0/8,,,,9,office\n2a00::/32,DE,Bonn,d,,\n"
)
RECIPE = """[dataset]
name = "whole"
[columns]
risk = "integer"
site = { type = "text", private = true }
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--only", "land=DE"), "source.only: no field 'land'"),
        (("--only", "country=Germany"), "did you mean 'DE'?"),
        (("--only", "country=FR"), "meets only, families and within"),
        (("--within", "8.8.8.8/8"), "source.within: '8.8.8.8/8' is not a network"),
        (("--fields", "land"), "dataset.fields: no field 'land'"),
        (("--fields", "user_type"), "no answer has a value of dataset.fields"),
    ],
)
def test_errors_are_one_line(
    options: tuple[str, str], message: str, whole: Path, tmp_path: Path
) -> None:
    for command in (("slice", whole, "--output", tmp_path / "part"), ("size", whole)):
        done = run(*command, *options)
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert not [*tmp_path.iterdir()]
    done = run("slice", tmp_path / "none", "--output", tmp_path / "part")
    assert done.returncode == 2


def test_the_size_is_exact_but_for_the_manifest(whole: Path, tmp_path: Path) -> None:
    recipe = whole.parent / "recipe.toml"
    part = tmp_path / "part"
    run("slice", whole, "--only", "country=DE", "--output", part)
    for dataset, arguments in ((whole, (recipe,)), (part, (whole, "--only", "country=DE"))):
        report = json.loads(run("size", *arguments, "--json").stdout)
        files = {path.name: path.stat().st_size for path in dataset.iterdir()}
        del files["manifest.json"]
        assert report["files"] == files
        assert report["bytes"] == sum(files.values())
        with geolookup.open(dataset) as engine:
            assert report["counts"] == engine.metadata.counts
    for name in (recipe, whole, "bundled"):
        lines = run("size", name).stdout.splitlines()
        assert lines[0].startswith("about ")
