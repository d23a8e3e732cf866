"""Verify gives back the pages of files that it has read."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from geolookup.dataset import layout as fmt
from geolookup.integrity import files
from geolookup.integrity.coverage import generation
from geolookup.integrity.tables import Tables
from tests.datasets import SMALL


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    folder = shutil.copytree(SMALL, tmp_path / "dataset")
    found = Tables(folder, files.manifest_of(folder), {})
    assert not list(files.load(found))
    return found


def test_columns_have_the_same_values_after_their_pages_are_released(tables: Tables) -> None:
    before = {name: batch.to_pydict() for name, batch in tables.batches.items()}
    tables.release()
    assert {name: batch.to_pydict() for name, batch in tables.batches.items()} == before


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/smaps")
def test_no_page_of_a_digested_dataset_is_in_memory(tables: Tables) -> None:
    path = tables.folder / fmt.LOCATION
    assert _resident(path)
    assert not list(generation(tables))
    assert not _resident(path)


def _resident(path: Path) -> int:
    """Return the kilobytes of a mapped file that are in memory."""
    _, _, found = Path("/proc/self/smaps").read_text(encoding="utf-8").partition(f" {path}\n")
    return int(dict(line.split(":")[:2] for line in found.splitlines()[:5])["Rss"].split()[0])
