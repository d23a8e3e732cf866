"""Damaged datasets: prefixes are answered or refused with DatasetError."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import geolookup
from geolookup.dataset import layout as fmt
from tests.damage import copied, refused
from tests.tiers import scaled

_FILES = (fmt.IPV4, fmt.IPV6, fmt.LOCATION, fmt.NETWORK)


def survey(dataset: Path) -> str:
    """Return "answered" or "refused"; fail at anything that is neither."""
    try:
        with geolookup.open(dataset) as engine:
            engine.prefix_table(["country=US,null", "lat>=0"], by=["asn", "city"]).validate(
                full=True
            )
    except geolookup.DatasetError as error:
        return refused(error, str(dataset))
    return "answered"


@pytest.mark.long
@pytest.mark.parametrize("name", _FILES)
def test_flipped_bits(sample: geolookup.Engine, tmp_path: Path, name: str) -> None:
    dataset, rng = copied(sample.path, tmp_path / "copy"), random.Random(name)
    original, outcomes = (dataset / name).read_bytes(), set()
    for flips in [1, 3, 30] * scaled(1, 10):
        content = bytearray(original)
        for _ in range(flips):
            content[rng.randrange(len(content))] ^= rng.choice((1, 2, 16, 128, 255))
        # A new file each time: the last one may still be mapped.
        (dataset / name).unlink()
        (dataset / name).write_bytes(content)
        outcomes.add(survey(dataset))
    assert "refused" in outcomes
