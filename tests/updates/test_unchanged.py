"""An update compiles nothing if its dataset would be the current generation again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

import geolookup
from tests.internals.builder import compile as compiler
from tests.internals.history import StoreResult

ROWS = "network,country_code\n8.0.0.0/24,FR\n"
RECIPE = '[dataset]\nname = "r"\n[[source]]\nformat = "csv"\npath = "*.csv"\n'


def _change(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def recipe(tmp_path: Path, store: Path) -> Path:
    """A recipe that the store was made from."""
    _change(tmp_path / "a.csv", ROWS)
    _change(tmp_path / "r.toml", RECIPE)
    assert geolookup.update(tmp_path / "r.toml").state == "published"
    return tmp_path / "r.toml"


def compiles(recipe: Path) -> tuple[bool, StoreResult]:
    """Update, and return whether anything was compiled."""
    compile_recipe = compiler.compile_recipe
    with mock.patch.object(compiler, "compile_recipe", side_effect=compile_recipe) as called:
        result = geolookup.update(recipe)
    return called.called, result


def _damage(path: Path) -> None:
    path.chmod(0o644)
    text = bytearray(path.read_bytes())
    text[len(text) // 2] ^= 1
    path.write_bytes(text)


#: Changes of the recipe's folder or of the generation.
CHANGES: dict[str, Callable[[Path, Path], object]] = {
    "rows of the same size": lambda f, _: _change(f / "a.csv", ROWS.replace("FR", "DE")),
    "a byte of the generation": lambda _, g: _damage(g / "ipv4.arrow"),
    "its manifest": lambda _, g: _damage(g / "manifest.json"),
    "a lost file": lambda _, g: (g / "zone.arrow").unlink(),
    "the record": lambda f, _: next(f.rglob("update.json")).unlink(),
    "a record of another kind": lambda f, _: _change(next(f.rglob("update.json")), "[1]"),
}


def test_the_same_files_are_compiled_once_and_each_change_again(recipe: Path, store: Path) -> None:
    for change in CHANGES.values():
        generation = geolookup.generations()[0].generation
        called, result = compiles(recipe)
        assert (called, result.state, result.generation) == (False, "unchanged", generation)
        change(recipe.parent, store / "generations" / generation)
        assert compiles(recipe)[0]
        geolookup.verify(store)


def test_after_a_rollback(recipe: Path) -> None:
    """The generation that a rollback withdrew is not the one that the record names."""
    _change(recipe.parent / "a.csv", ROWS.replace("FR", "DE"))
    assert geolookup.update(recipe).state == "published"
    geolookup.rollback()
    called, result = compiles(recipe)
    assert (called, result.state) == (True, "held")
    assert compiles(recipe)[0]
    for code in ("IT", "FR"):  # new data, and those of the first generation
        _change(recipe.parent / "a.csv", ROWS.replace("FR", code))
        assert geolookup.update(recipe).state == "published"
