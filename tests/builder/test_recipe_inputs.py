"""The digest of a recipe: every input of its dataset is in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import geolookup
from tests.internals.builder import downloads, load

ROWS = "network,country_code\n8.0.0.0/24,FR\n"
RECIPE = '[dataset]\nname = "r"\n[[source]]\nformat = "csv"\npath = "*.csv"\n'
#: A recipe with every kind of file.
FULL = (
    RECIPE.replace("*.csv", "a*.csv") + '[[source]]\nformat = "pfx2as"\npath = "routes"\n'
    '[tables]\ncountries = "countries"\n'
)
FILES = ("a.csv", "routes", "countries", "r.toml")


def _change(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _lengthened(name: str) -> Callable[[Path, pytest.MonkeyPatch], object]:
    return lambda f, _: _change(f / name, (f / name).read_text("utf-8") + "\n")


def digest_of(folder: Path) -> str:
    return downloads.inputs_of(load(folder / "r.toml"), None)


#: What decides a dataset, and a change of it.
INPUTS: dict[str, Callable[[Path, pytest.MonkeyPatch], object]] = {
    **{f"the content of {name}": _lengthened(name) for name in FILES},
    "bytes of the same size": lambda f, _: _change(f / "a.csv", ROWS.replace("FR", "DE")),
    "another file": lambda f, _: _change(f / "ab.csv", ROWS),
    "the name of a file": lambda f, _: (f / "a.csv").rename(f / "ac.csv"),
    "the version": lambda _, patch: patch.setattr(geolookup, "__version__", "9.9"),
    "the zone names": lambda _, patch: patch.setattr(downloads, "zone_names", lambda: ["UTC"]),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A recipe with its files."""
    for name in FILES:
        _change(tmp_path / name, ROWS)
    _change(tmp_path / "r.toml", FULL)
    return tmp_path


@pytest.mark.parametrize("name", INPUTS)
def test_every_input_is_in_the_digest(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest_of(folder)
    assert before == digest_of(folder) != ""
    INPUTS[name](folder, monkeypatch)
    assert digest_of(folder) not in (before, "")


def test_what_does_not_decide_the_dataset_has_no_digest(folder: Path) -> None:
    """Ground truth and another dataset may change without a file; a missing source is told."""
    for more in (
        '[quality]\nexpect = [["8.0.0.1", "country", "DE"]]\n',
        '[[source]]\nformat = "dataset"\npath = "other"\n',
        '[[source]]\nformat = "csv"\npath = "none"\non_missing = "skip"\n',
        '[[source]]\nformat = "csv"\npath = "https://h.example/a.csv"\n',
    ):
        _change(folder / "r.toml", FULL + more)
        assert digest_of(folder) == "", more
