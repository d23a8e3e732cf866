"""Flipped bytes, by the command that flips all of them: here a seeded sample.

Each kernel has its turn in a run of its own, as ``GEOLOOKUP_KERNEL`` says.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import geolookup
from geolookup.dataset import layout as fmt
from tests.conftest import ROOT
from tests.tiers import scaled

#: Flips by kernel: the Python kernel takes four times as long for the same thousand lookups.
SAMPLE = {"compiled": scaled(30, 4_000), "python": scaled(30, 2_500)}
FORGED = scaled(20, 400)


@pytest.fixture(scope="module")
def kernel() -> str:
    with geolookup.open() as engine:
        return engine.kernel


def sweep(*args: str) -> dict[tuple[str, str], int]:
    """Run the command in a process of its own, so that a crash is a failure like others."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.corrupt.sweep", *args],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    lines = re.findall(r"^(\S+) +(\w+) +([\d,]+)$", done.stdout, re.MULTILINE)
    return {(name, what): int(count.replace(",", "")) for name, what, count in lines}


def total(counts: dict[tuple[str, str], int], *whats: str) -> int:
    return sum(count for (_, what), count in counts.items() if what in whats)


def test_every_flip_is_found_and_no_lookup_leaves_the_contract(kernel: str) -> None:
    flips = SAMPLE[kernel]
    counts = sweep("--kernel", kernel, "--sample", str(flips))
    assert total(counts, "found") == flips
    assert total(counts, "answered", "refused") == flips
    assert {name for name, _ in counts} == {fmt.MANIFEST, *fmt.FILES, *fmt.EXPLAINING}
    assert total(counts, "answered") > flips // 4
    assert total(counts, "refused") > flips // 10


def test_flips_whose_digest_was_made_to_fit(kernel: str) -> None:
    counts = sweep("--kernel", kernel, "--sample", str(FORGED), "--forged")
    assert total(counts, "found", "missed") == FORGED
    assert total(counts, "found") > FORGED // 3  # two thirds of all bytes; the rest is padding
