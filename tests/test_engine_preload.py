"""``preload``: the files that lookups need are in memory once the dataset is open."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

import geolookup
from geolookup.dataset import layout as fmt
from geolookup.engine import BUNDLED
from tests.datasets import SMALL

AT = 1_800_000_000


def test_a_preloaded_dataset_has_the_same_answers() -> None:
    with geolookup.open(SMALL, preload=True) as preloaded, geolookup.open(SMALL) as plain:
        for address in ("8.8.8.8", "2001:4860:4860::8888", "10.0.0.1", "none"):
            assert preloaded.lookup(address, at=AT) == plain.lookup(address, at=AT)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/smaps")
def test_all_pages_of_a_preloaded_dataset_are_mapped(tmp_path: Path) -> None:
    folder = shutil.copytree(BUNDLED, tmp_path / "dataset")
    names = (fmt.IPV4, fmt.IPV6, fmt.LOCATION, fmt.NETWORK)
    with geolookup.open(folder):
        mapped = [_mapping(folder / name) for name in names]
        assert any(resident < size for size, resident in mapped)
    with geolookup.open(folder, preload=True):
        assert all(
            0 < size == resident for size, resident in map(_mapping, map(folder.joinpath, names))
        )


def _mapping(path: Path) -> tuple[int, int]:
    """Return the kilobytes of a mapped file, and those of them in memory."""
    _, _, found = Path("/proc/self/smaps").read_text(encoding="utf-8").partition(f" {path}\n")
    fields = dict(line.split(":")[:2] for line in found.splitlines()[:5])
    return int(fields["Size"].split()[0]), int(fields["Rss"].split()[0])
