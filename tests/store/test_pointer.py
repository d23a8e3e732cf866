"""The pointer, of which nothing is trusted, and the generation before it as a fallback."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import geolookup
from geolookup import publish
from tests.internals.history import rollback
from tests.store.numbered import generation, published, shared
from tests.tiers import one_of_each

ID = "a" * 64
_AT = "2026-11-20T00:00:00Z"
GOOD = {"at": _AT, "generation": ID, "since": _AT, "withdrawn": False}


def pointed(published: Any, **members: Any) -> str:
    stated = {
        "format": "geolookup-store",
        "format_version": 3,
        "published": published,
        "in_force": [],
    }
    return json.dumps(stated | members)


_MEMBERS: tuple[dict[str, Any], ...] = (
    {"generation": "../../../etc"},
    {"generation": [ID]},
    {"generation": f"{ID}\n"},
    {"withdrawn": True},
    {"withdrawn": "false"},
    {"withdrawn": 0},
    {"at": ["2026"]},
    {"at": None},
    {"since": 5},
)
DAMAGED = [
    *("", "[]", "5", "{}", "[" * 100_000, "\x00\xff"),
    *(pointed(published) for published in ([], {}, [5], [{"generation": ID}])),
    *(pointed([GOOD | members]) for members in _MEMBERS),
    pointed([GOOD], in_force=5),
    pointed([GOOD], in_force=[{"generation": ID}]),
    pointed([GOOD], in_force=[{"generation": "a", "since": _AT}]),
    pointed([GOOD], in_force=[{"generation": ID, "since": 5}]),
    pointed([GOOD], format="other"),
    pointed([GOOD], format_version=2),
    pointed([GOOD], format_version=True),
]


def test_a_damaged_pointer(store: Path) -> None:
    with geolookup.open(store) as engine:
        before = engine.generation
        uses: list[Callable[[], object]] = [
            lambda: geolookup.open(store),
            lambda: publish(shared(2), store),
            lambda: rollback(store),
            engine.reload,
        ]
        for text in DAMAGED:
            (store / "current").write_text(text, encoding="utf-8")
            version = re.search(r'"format_version": (2|t)', text)
            problem = "format version (2|True)" if version else "not the pointer of a store"
            for use in uses:
                with pytest.raises(geolookup.DatasetError, match=f"^{store}/current: {problem}"):
                    use()
                assert (store / "current").read_text(encoding="utf-8") == text
        assert engine.generation == before
        assert engine.lookup("8.8.8.8")["success"]


def test_a_pointer_to_nothing_and_no_pointer(store: Path) -> None:
    current = store / "current"
    changes: tuple[tuple[Callable[[], object], str], ...] = (
        (lambda: current.write_text(pointed([GOOD]), encoding="utf-8"), f"{ID}: no dataset here"),
        (current.unlink, "no dataset here"),
        (current.mkdir, "not the pointer of a store; restore it"),
    )
    for change, problem in changes:
        change()
        with pytest.raises(geolookup.DatasetError, match=problem):
            geolookup.open(store)


NAMES = ("ipv4.arrow", "manifest.json", "zone.arrow")


@pytest.fixture
def three(tmp_path: Path) -> tuple[Path, list[str]]:
    """A store of three generations; their ids, the oldest first."""
    return published(tmp_path / "store", 0, 1, 2), [generation(shared(n)) for n in range(3)]


def _damage(store: Path, generation: str, name: str) -> None:
    os.truncate(store / "generations" / generation / name, 10)


@pytest.mark.parametrize("name", one_of_each(NAMES, lambda name: name == "manifest.json"))
def test_the_last_one_that_opens_answers(
    three: tuple[Path, list[str]], name: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder, (first, second, third) = three
    _damage(folder, third, name)
    with pytest.raises(geolookup.DatasetError, match=name):
        geolookup.open(folder)
    with caplog.at_level(logging.WARNING), geolookup.open(folder, fallback=True) as engine:
        assert engine.generation == second
        with pytest.raises(geolookup.DatasetError, match=name):
            engine.reload()
        assert engine.generation == second
    (record,) = caplog.records
    assert record.name == "geolookup"
    assert name in record.getMessage()
    assert second in record.getMessage()
    # Another generation than its name says.
    copytree(shared(5), folder / "generations" / second, dirs_exist_ok=True)
    with geolookup.open(folder, fallback=True) as engine:
        assert engine.generation == first


def test_who_answers_then(three: tuple[Path, list[str]]) -> None:
    """The current one without damage; never a withdrawn one; an error if none opens."""
    folder, (first, second, third) = three
    for expected, damaged in ((third, None), (second, None), (first, second)):
        if damaged:
            _damage(folder, damaged, NAMES[0])
        with geolookup.open(folder, fallback=True) as engine:
            assert engine.generation == expected
            assert damaged or not engine.reload()
        if expected == third:
            rollback(folder)
    _damage(folder, first, NAMES[0])
    for path, problem in ((folder, second), (folder / "generations" / first, first)):
        with pytest.raises(geolookup.DatasetError, match=problem):
            geolookup.open(path, fallback=True)
