"""The record of updates, and updates that compile nothing: the dataset would be the same again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

import geolookup
from tests.cli.program import run
from tests.internals.builder import compile as compiler
from tests.internals.history import StoreResult
from tests.internals.updates import STATE, State, read_state, write_state

ROWS = "network,country_code\n8.0.0.0/24,FR\n"
RECIPE = (
    '[dataset]\nname = "r"\n[[source]]\nformat = "csv"\npath = "*.csv"\n[update]\nfail_if = []\n'
    'needs = "a day"\n'
)


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
    text[len(text) // 2 if path.suffix == ".arrow" else 0] ^= 1
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
    told = run("update", str(recipe)).stdout.splitlines()  # nothing to download: no needs
    assert [line.partition(" ")[0] for line in told] == ["a", "held:"]
    assert told[0].endswith("'geolookup store publish' makes it current again")
    assert compiles(recipe)[0]
    for code in ("IT", "FR"):  # new data, and those of the first generation
        _change(recipe.parent / "a.csv", ROWS.replace("FR", code))
        assert geolookup.update(recipe).state == "published"


def test_what_is_written_is_read(tmp_path: Path) -> None:
    failed = State(source="https://x/", index="ab", serial=7).after("failed", "no")
    assert (failed.failures, failed.problem, failed.succeeded_at) == (1, "no", "")
    state = failed.after("published", generation="cd", bytes=5)
    assert (state.failures, state.problem, state.counts) == (0, "", {"failed": 1, "published": 1})
    write_state(tmp_path, state)
    assert read_state(tmp_path) == state
    assert read_state(tmp_path / "nowhere") == State()


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"format": ...},
        {"format_version": 2},
        {"format_version": ...},
        {"serial": "7"},
        {"serial": True},
        {"failures": None},
        {"began_at": "yesterday"},
        {"failed_at": "2026-11-23T10:00:00"},
        {"expires_at": "tomorrow"},
        {"counts": []},
        {"counts": {"unchanged": "1"}},
        {"more": 1},
    ],
)
def test_another_file_is_as_none(tmp_path: Path, change: dict[str, object]) -> None:
    write_state(tmp_path, State(serial=7).after("unchanged"))
    members = {**json.loads((tmp_path / STATE).read_bytes()), **change}
    members = {name: value for name, value in members.items() if value is not ...}
    for text in (json.dumps(members), "", "[]", "null", "{", "[" * 100_000):
        (tmp_path / STATE).write_text(text, encoding="utf-8")
        assert read_state(tmp_path) == State(), text[:99]


def test_an_update_without_news_prunes(recipe: Path, store: Path) -> None:
    """One before it may have ended after its publication."""
    for country in ("DE", "IT"):
        _change(recipe.with_name("a.csv"), ROWS.replace("FR", country))
        geolookup.update(recipe, keep=9, keep_unpacked=9)
    oldest = geolookup.generations(store)[-1].generation
    result = geolookup.update(recipe)
    assert (result.state, result.removed) == ("unchanged", [oldest])
    assert geolookup.update(recipe).removed == []
