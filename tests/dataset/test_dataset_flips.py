"""Flipped bits: whatever the bytes are, the answer is an envelope or a DatasetError."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from geolookup.dataset import layout as fmt
from tests.damage import copied, survey, whole
from tests.tiers import scaled


def flip(path: Path, at: int, mask: int) -> None:
    with path.open("r+b") as stream:
        stream.seek(at)
        byte = stream.read(1)[0]
        stream.seek(at)
        stream.write(bytes([byte ^ mask]))


@pytest.mark.parametrize("explain", ["sources", "full"])
def test_flipped_bits(tmp_path: Path, explain: str) -> None:
    dataset = copied(whole(explain), tmp_path / "copy")
    names, flips = ((fmt.MANIFEST, *fmt.FILES), scaled(10, 100))
    if explain == "full":
        names, flips = fmt.EXPLAINING, scaled(4, 50)
    for name in names:
        path, rng = dataset / name, random.Random(name)
        for at in rng.sample(range(path.stat().st_size), flips):
            mask = rng.choice((1, 2, 4, 8, 16, 32, 64, 128, 255, rng.randrange(1, 256)))
            flip(path, at, mask)
            survey(dataset)
            flip(path, at, mask)
    assert survey(dataset) == "answered"


def test_many_flips_at_once(tmp_path: Path) -> None:
    for seed in range(scaled(10, 40)):
        dataset, rng = copied(whole(), tmp_path / "copy"), random.Random(seed)
        for name in fmt.FILES:
            path = dataset / name
            size = path.stat().st_size
            for _ in range(rng.choice((0, 3, 50))):
                flip(path, rng.randrange(size), rng.randrange(1, 256))
        survey(dataset)
