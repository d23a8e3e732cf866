"""What a user may name: a recipe file, a packaged recipe, or files of data."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import BuildError
from tests.cli.program import run
from tests.internals.builder import PACKAGED, loading

CSV = "network,country_code\n8.8.8.0/24,FR\n"


def refused(named: str | Path) -> str:
    with pytest.raises(BuildError) as caught:
        loading.load(named)
    return str(caught.value)


# --- packaged recipes


def test_names_of_packaged_recipes() -> None:
    assert "world" in loading.names()
    for name in loading.names():
        assert loading.load(Path(name)).path == PACKAGED / f"{name}.toml"
    assert refused(Path("wrld")).endswith("packaged recipe; did you mean 'world'?")
    assert refused(Path("none-of-them")).endswith("'geolookup recipes' lists the packaged recipes")
    assert "packaged recipe" in refused(Path("folder/world"))
    assert "the recipe cannot be read" in refused(Path("world.toml"))


def test_paths_that_exist_and_are_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # A copy's are relative to its own folder.
    (source, *_) = loading.load(Path("dbip-lite")).sources
    assert source.base == Path()
    files = [item for item in loading.load(Path("world")).sources if item.remote is None]
    assert {file.base for file in files} == {PACKAGED}
    assert all(list(file.base.glob(file.path)) for file in files)
    (tmp_path / "below").mkdir()
    shutil.copy(PACKAGED / "dbip-lite.toml", tmp_path / "below" / "my.toml")
    assert loading.load(tmp_path / "below" / "my.toml").sources[0].base == tmp_path / "below"
    (tmp_path / "world").mkdir()
    (tmp_path / "world" / "a.csv").write_text(CSV, encoding="utf-8")
    report = geolookup.build("world", "data")
    assert [item.name for item in report.sources] == ["world"]


def test_an_empty_text_is_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a path it would be the current folder, whose data a slip would publish."""
    monkeypatch.setenv("GEOLOOKUP_STORE", str(tmp_path / "store"))
    assert refused("").startswith("'': names no recipe; name a recipe file")
    for args in (
        ("build", "", "--output", str(tmp_path / "d")),
        ("update", ""),
    ):
        done = run(*args)
        assert (done.returncode, done.stderr.count("names no recipe")) == (2, 1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(CSV, encoding="utf-8")
    with pytest.raises(BuildError, match="names no recipe"):
        geolookup.build("", tmp_path / "d")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


# --- files of data


def test_files_of_data_need_no_recipe(tmp_path: Path) -> None:
    (tmp_path / "acme.geo.csv").write_text(CSV, encoding="utf-8")
    output = tmp_path / "data"
    done = run("build", str(tmp_path / "acme.geo.csv"), "--output", str(output))
    assert (done.returncode, done.stderr) == (0, "")
    assert "detected csv" in done.stdout
    with geolookup.open(output) as engine:
        assert engine.metadata.name == "acme"
        assert [source.name for source in engine.metadata.sources] == ["acme.geo.csv"]
        assert engine.get("8.8.8.8", "country") == "FR"


def test_a_folder_needs_no_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("feeds", "feeds [1]*"):
        feeds = tmp_path / name
        feeds.mkdir()
        (feeds / "one.csv").write_text("8.8.8.0/24,FR,,,\n", encoding="utf-8")
        (feeds / "two.csv").write_text("9.9.9.0/24,DE,DE-BE,Berlin,\n", encoding="utf-8")
        (feeds / "LICENCE").write_text("terms", encoding="utf-8")
        geolookup.build(feeds, tmp_path / "data", force=True)
        monkeypatch.chdir(feeds)
        geolookup.build(".", tmp_path / "again", force=True)
        with geolookup.open(tmp_path / "data") as one, geolookup.open(tmp_path / "again") as other:
            assert one.generation == other.generation
            assert one.metadata.name == name
            assert one.get("9.9.9.9", "location.city_name") == "Berlin"
