"""Flipped bytes, by the command that flips all of them: here a seeded sample."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import pytest

import geolookup
from geolookup.dataset import layout as fmt
from tests.conftest import ROOT
from tests.corrupt.probe import LOOKUPS
from tests.corrupt.sweep import sweep
from tests.tiers import scaled


@pytest.fixture(scope="module")
def kernel() -> str:
    with geolookup.open() as engine:
        return engine.kernel


def swept(kernel: str, sample: int, *, forged: bool, own: bool = False) -> Counter[tuple[str, str]]:
    """Flip in this process, or in processes of their own, whose crash is a failure like others."""
    amounts = {"jobs": scaled(1, 2), "lookups": scaled(100, LOOKUPS)}
    counts, failures = sweep(
        kernel, sample=sample, seed=20261121, forged=forged, own=own, **amounts
    )
    assert failures == []
    return counts


def total(counts: Counter[tuple[str, str]], *whats: str) -> int:
    return sum(count for (_, label), count in counts.items() if label in whats)


def test_every_flip_is_found_and_no_lookup_leaves_the_contract(kernel: str) -> None:
    # The Python kernel takes four times as long for the same thousand lookups.
    flips = scaled(30, 4_000 if kernel == "compiled" else 2_500)
    counts = swept(kernel, flips, forged=False)
    assert total(counts, "found") == flips
    assert total(counts, "answered", "refused") == flips
    assert {name for name, _ in counts} == {fmt.MANIFEST, *fmt.FILES, *fmt.EXPLAINING}
    assert total(counts, "answered") > flips // 4
    assert total(counts, "refused") > flips // 10


def test_flips_whose_digest_was_made_to_fit(kernel: str) -> None:
    flips = scaled(20, 400)
    counts = swept(kernel, flips, forged=True)
    assert total(counts, "found", "missed") == flips
    assert total(counts, "found") > flips // 3  # two thirds of all bytes; the rest is padding


@pytest.mark.parametrize("forged", [False, True])
def test_flips_of_own_columns(kernel: str, forged: bool) -> None:
    counts = swept(kernel, scaled(25, 1_000), forged=forged, own=True)
    assert (fmt.OWN, "found") in counts or forged
    assert forged or not total(counts, "missed")


@pytest.mark.long
def test_the_command() -> None:
    command = [sys.executable, "-m", "tests.corrupt.sweep", "--sample", "30", "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-4000:]
    counts = re.findall(r"^\S+ +found +([\d,]+)$", done.stdout, re.MULTILINE)
    assert sum(map(int, counts)) == 30
    assert done.stdout.endswith("\n0 failures\n")
