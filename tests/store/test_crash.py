"""Changes of a store beside a model, and a process that ends at any step of one."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup import publish
from geolookup.archives.pack import pack
from geolookup.history.generations import generations, rollback
from geolookup.history.pruning import prune
from geolookup.history.publishing import publish as publish_archive
from geolookup.integrity import verify
from geolookup.store import pointer
from tests.conftest import ROOT
from tests.datasets import once
from tests.store.dying import DONE, KILLED, REFUSED, Kind, endings
from tests.store.numbered import answers_of, id_of, shared
from tests.tiers import one_of_each, scaled

Change = Callable[[Path], object]


def test_rollback_refuses_a_damaged_generation(store: Path) -> None:
    (store / "generations" / id_of(0) / "zone.arrow").unlink()
    with pytest.raises(geolookup.DatasetError, match=r"zone.arrow"):
        rollback(store)
    assert answers_of(store) == answers_of(shared(1))


def test_a_removed_generation_still_answers_who_has_it_open(store: Path) -> None:
    with geolookup.open(store) as engine:
        publish(shared(2), store)
        prune(store, 1)
        assert not engine.path.exists()
        assert [engine.lookup_json("8.8.8.8", at=0)] == answers_of(shared(1))[:1]
        assert len(list(engine.prefixes())) == 4


def test_changes_that_cannot_be(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="keep"):
        prune(store, 0)
    (store / "generations" / id_of(5)).mkdir()  # never came to be published
    assert prune(store, 9) == [id_of(5)]
    (tmp_path / "empty").mkdir()
    changes: tuple[Callable[[Path], object], ...] = (rollback, prune, generations)
    for change in changes:
        with pytest.raises(geolookup.DatasetError, match="no store here"):
            change(tmp_path / "empty")
        assert list((tmp_path / "empty").iterdir()) == []


