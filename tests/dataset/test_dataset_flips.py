"""Flipped bits: whatever the bytes are, the answer is an envelope or a DatasetError.

Every file that is small is flipped throughout, at seeded places and bits;
each flip is taken back before the next one.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from geolookup.dataset import layout as fmt
from tests.conftest import build_at
from tests.damage import CSV, copied, survey
from tests.tiers import scaled

FLIPS = scaled(24, 100)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_at(tmp_path_factory.mktemp("whole"), {"a.csv": CSV})[0]


def flip(path: Path, at: int, mask: int) -> None:
    with path.open("r+b") as stream:
        stream.seek(at)
        byte = stream.read(1)[0]
        stream.seek(at)
        stream.write(bytes([byte ^ mask]))


@pytest.mark.parametrize("name", [fmt.MANIFEST, *fmt.FILES])
def test_flipped_bits(whole: Path, tmp_path: Path, name: str) -> None:
    dataset = copied(whole, tmp_path / "copy")
    path, rng = dataset / name, random.Random(name)
    size = path.stat().st_size
    outcomes: Counter[str] = Counter()
    for at in rng.sample(range(size), min(size, FLIPS)):
        mask = rng.choice((1, 2, 4, 8, 16, 32, 64, 128, 255, rng.randrange(1, 256)))
        flip(path, at, mask)
        outcomes[survey(dataset)] += 1
        flip(path, at, mask)
    assert survey(dataset) == "answered"
    assert outcomes.total() > FLIPS * 5 // 6


@pytest.mark.parametrize("seed", range(scaled(10, 40)))
def test_many_flips_at_once(whole: Path, tmp_path: Path, seed: int) -> None:
    dataset, rng = copied(whole, tmp_path / "copy"), random.Random(seed)
    for name in fmt.FILES:
        path = dataset / name
        size = path.stat().st_size
        for _ in range(rng.choice((0, 3, 50))):
            flip(path, rng.randrange(size), rng.randrange(1, 256))
    survey(dataset)
