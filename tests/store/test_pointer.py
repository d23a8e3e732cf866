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
from tests.store.numbered import id_of, published, shared
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


_WRONG: dict[str, tuple[Any, ...]] = {
    "generation": ("../../../etc", [ID], f"{ID}\n", "A" * 64, "0" * 63, "0" * 65, "." * 64),
    "withdrawn": (True, "false", 0),
    "at": (["2026"], None),
    "since": (5,),
}
_ENTRIES = [GOOD | {name: value} for name, values in _WRONG.items() for value in values]
_PUBLISHED: tuple[Any, ...] = ([], {}, [5], [{"generation": ID}], *([entry] for entry in _ENTRIES))
_CHANGES = ({"generation": ID}, {"generation": "a", "since": _AT}, {"generation": ID, "since": 5})
DAMAGED = [
    *("", "[]", "5", "{}", "[" * 100_000, "\x00\xff"),
    *map(pointed, _PUBLISHED),
    *(pointed([GOOD], in_force=in_force) for in_force in (5, *([change] for change in _CHANGES))),
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
        (current.mkdir, "current: cannot be read"),
    )
    for change, problem in changes:
        change()
        with pytest.raises(geolookup.DatasetError, match=problem):
            geolookup.open(store)


NAMES = ("ipv4.arrow", "manifest.json", "zone.arrow")


@pytest.mark.parametrize("name", one_of_each(NAMES, lambda name: name == "manifest.json"))
def test_the_last_one_that_opens_answers(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Never a withdrawn one, nor one that states another id; an error if none opens."""
    store = published(tmp_path / "store", 0, 1, 2, 3)
    folders = [store / "generations" / id_of(number) for number in range(4)]
    for current in (3, 2):
        with geolookup.open(store, fallback=True) as engine:
            assert engine.path == folders[current]
            assert not engine.reload()
        if current == 3:
            rollback(store)
    assert not caplog.records
    os.truncate(folders[2] / name, 10)
    with pytest.raises(geolookup.DatasetError, match=name):
        geolookup.open(store)
    with geolookup.open(store, fallback=True) as engine:
        with pytest.raises(geolookup.DatasetError, match=name):
            engine.reload()
        assert engine.path == folders[1]
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("geolookup", logging.WARNING)
    assert name in record.getMessage()
    assert id_of(1)[:12] in record.getMessage()
    copytree(shared(5), folders[1], dirs_exist_ok=True)
    with geolookup.open(store, fallback=True) as engine:
        assert engine.path == folders[0]
    os.truncate(folders[0] / name, 10)
    for path, problem in ((store, id_of(2)), (folders[0], id_of(0))):
        with pytest.raises(geolookup.DatasetError, match=problem):
            geolookup.open(path, fallback=True)
