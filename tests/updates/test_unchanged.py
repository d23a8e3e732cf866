"""An update compiles nothing if its dataset would be the current generation again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from geolookup_builder import compile as compiler

import geolookup
from geolookup.updates import unchanged
from geolookup.updates.in_store import UpdateResult

ROWS = "network,country_code\n8.0.0.0/24,FR\n"
RECIPE = '[dataset]\nname = "r"\n[[source]]\nformat = "csv"\npath = "*.csv"\n'


@pytest.fixture
def recipe(tmp_path: Path, store: Path) -> Path:
    """A recipe that the store was made from."""
    (tmp_path / "a.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    assert geolookup.update(tmp_path / "r.toml").state == "updated"
    return tmp_path / "r.toml"


def compiles(recipe: Path) -> tuple[bool, UpdateResult]:
    """Update, and return whether anything was compiled."""
    compile_recipe = compiler.compile_recipe
    with mock.patch.object(compiler, "compile_recipe", side_effect=compile_recipe) as called:
        result = geolookup.update(recipe)
    return called.called, result


def test_the_same_files_are_not_compiled_again(recipe: Path) -> None:
    generation = geolookup.generations()[0].generation
    for _ in range(2):
        called, result = compiles(recipe)
        assert (called, result.state, result.generation) == (False, "current", generation)


def _change(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


CHANGES: dict[str, Callable[[Path, Path], object]] = {
    "rows of the same size": lambda f, _: _change(f / "a.csv", ROWS.replace("FR", "DE")),
    "another file": lambda f, _: _change(f / "b.csv", ROWS.replace("FR", "DE")),
    "a renamed file": lambda f, _: (f / "a.csv").rename(f / "c.csv"),
    "the recipe": lambda f, _: _change(f / "r.toml", f"{RECIPE}date = '2026-01-01'\n"),
    "a byte of the generation": lambda _, g: _damage(g / "ipv4.arrow"),
    "its manifest": lambda _, g: _damage(g / "manifest.json"),
    "a lost file": lambda _, g: (g / "zone.arrow").unlink(),
    "the record": lambda f, _: next(f.rglob("update.json")).unlink(),
    "a record of another kind": lambda f, _: _change(next(f.rglob("update.json")), "[1]"),
}


def _damage(path: Path) -> None:
    path.chmod(0o644)
    text = bytearray(path.read_bytes())
    text[len(text) // 2] ^= 1
    path.write_bytes(text)


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_compiled(recipe: Path, store: Path, change: str) -> None:
    generation = store / "generations" / str(geolookup.generations()[0].generation)
    CHANGES[change](recipe.parent, generation)
    assert compiles(recipe)[0]
    geolookup.verify(store)
    assert not compiles(recipe)[0]


def test_another_compiler_compiles(recipe: Path) -> None:
    with mock.patch.object(unchanged, "_machine", return_value=["another"]):
        assert compiles(recipe)[0]
        assert not compiles(recipe)[0]
    assert compiles(recipe)[0]


def test_after_a_rollback(recipe: Path) -> None:
    """The generation that a rollback withdrew is not the one that the record names."""
    _change(recipe.parent / "a.csv", ROWS.replace("FR", "DE"))
    assert geolookup.update(recipe).state == "updated"
    geolookup.rollback()
    called, result = compiles(recipe)
    assert (called, result.state) == (True, "withdrawn")
    assert compiles(recipe)[0]
