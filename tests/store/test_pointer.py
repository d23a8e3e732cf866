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
    with geolookup.open(store) as engine:
        before = engine.generation
        uses: list[Callable[[], object]] = [
            lambda: geolookup.open(store),
            lambda: publish(shared(2), store),
            lambda: rollback(store),
            engine.reload,
        ]
        for text, problem in DAMAGED.items():
            (store / "current").write_text(text, encoding="utf-8")
            for use in uses:
                with pytest.raises(geolookup.DatasetError) as caught:
                    use()
                assert caught.value.path == str(store / "current"), text[:80]
                assert caught.value.problem.startswith(problem), text[:80]
                assert (store / "current").read_text(encoding="utf-8") == text
        assert engine.generation == before
        assert engine.lookup("8.8.8.8")["success"]


def test_a_pointer_to_nothing_and_no_pointer(store: Path) -> None:
    current = store / "current"
    changes: tuple[tuple[Callable[[], object], str], ...] = (
        (lambda: current.write_text(pointed([GOOD])), f"{ID}: no dataset here"),
        (current.unlink, "no dataset here"),
        (current.mkdir, "not the pointer of a store; restore it"),
    )
    for change, problem in changes:
        change()
        with pytest.raises(geolookup.DatasetError, match=problem):
            geolookup.open(store)
