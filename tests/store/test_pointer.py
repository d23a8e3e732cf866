"""The pointer: what it holds is trusted in nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.store.generations import rollback
from geolookup.store.publish import publish
from tests.store.numbered import shared

ID = "a" * 64
GOOD = {"at": "2026-11-20T00:00:00Z", "generation": ID, "withdrawn": False}


def pointed(published: Any, **members: Any) -> str:
    stated = {"format": "geolookup-store", "format_version": 1, "published": published}
    return json.dumps(stated | members)


DAMAGED = {
    "": "not the pointer",
    "[]": "not the pointer",
    "5": "not the pointer",
    "{}": "not the pointer",
    "[" * 100_000: "not the pointer",
    "\x00\xff": "not the pointer",
    pointed([]): "not the pointer",
    pointed({}): "not the pointer",
    pointed([5]): "not the pointer",
    pointed([{"generation": ID}]): "not the pointer",
    pointed([GOOD | {"withdrawn": True}]): "not the pointer",
    pointed([GOOD | {"generation": "../../../etc"}]): "not the pointer",
    pointed([GOOD | {"generation": [ID]}]): "not the pointer",
    pointed([GOOD | {"generation": f"{ID}\n"}]): "not the pointer",
    pointed([GOOD], format="other"): "not the pointer",
    pointed([GOOD], format_version=2): "format version 2",
    pointed([GOOD], format_version=True): "format version True",
}


def test_a_damaged_pointer(store: Path) -> None:
    uses: list[Callable[[], object]] = [
        lambda: geolookup.open(store),
        lambda: publish(shared(2), store),
        lambda: rollback(store),
    ]
    for text, problem in DAMAGED.items():
        (store / "current").write_text(text, encoding="utf-8")
        for use in uses:
            with pytest.raises(geolookup.DatasetError) as caught:
                use()
            assert caught.value.path == str(store / "current"), text[:80]
            assert caught.value.problem.startswith(problem), text[:80]
            assert (store / "current").read_text(encoding="utf-8") == text


def test_a_pointer_that_is_a_folder(store: Path) -> None:
    (store / "current").unlink()
    (store / "current").mkdir()
    with pytest.raises(geolookup.DatasetError, match="not the pointer of a store; restore it"):
        geolookup.open(store)


def test_a_damaged_pointer_is_refused_by_who_runs(store: Path) -> None:
    with geolookup.open(store) as engine:
        before = engine.generation
        (store / "current").write_text("{}")
        with pytest.raises(geolookup.DatasetError, match="not the pointer"):
            engine.reload()
        assert engine.generation == before
        assert engine.lookup("8.8.8.8")["success"]


def test_a_pointer_to_nothing_and_no_pointer(store: Path) -> None:
    (store / "current").write_text(pointed([GOOD]))
    with pytest.raises(geolookup.DatasetError, match=f"{ID}: no dataset here"):
        geolookup.open(store)
    (store / "current").unlink()
    with pytest.raises(geolookup.DatasetError, match="no dataset here"):
        geolookup.open(store)
