"""Flipped bits of every kind of dataset: a seeded sample."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.corrupt.probe import LOOKUPS
from tests.corrupt.sweep import sweep
from tests.damage import crowded, whole
from tests.internals.dataset import layout as fmt
from tests.own_sources import own_dataset
from tests.skips import needs
from tests.tiers import one_of_each, scaled


class Case(NamedTuple):
    """A dataset, the files to damage, flips in the two tiers, and how they are made."""

    dataset: Callable[[], Path]
    files: Collection[str]
    fast: int
    full: int
    together: int = 1
    forged: bool = False
    #: the least share of an outcome: "found" by verify, "answered" and "refused" lookups
    shares: Mapping[str, float] = {"found": 1}


EVERY = (fmt.MANIFEST, *fmt.FILES)
_OWN = (fmt.OWN, fmt.IPV4, fmt.IPV6)
_SEARCHED = (fmt.IPV4_JUMP, fmt.IPV4, fmt.IPV6, fmt.IPV6_SPARSE_INDEX)
#: The rest of the bytes is padding.
_FORGED = {"found": 0.34}
_ANSWERED = {"found": 1, "answered": 0.25, "refused": 0.1}
CASES = {
    "any file": Case(whole, EVERY, 24, 800, shares=_ANSWERED),
    "forged": Case(whole, EVERY[1:], 20, 150, forged=True, shares=_FORGED),
    "own columns": Case(own_dataset, _OWN, 6, 120),
    "own columns, forged": Case(own_dataset, _OWN, 8, 120, forged=True, shares=_FORGED),
    "many intervals close together": Case(crowded, _SEARCHED, 12, 150),
    "many flips at once": Case(whole, EVERY[1:], 4, 60, together=90),
}


@needs("geolookup.kernel._compiled")
@pytest.mark.parametrize("name", one_of_each(CASES, lambda name: CASES[name].shares is _FORGED))
def test_every_flip_is_found_and_no_lookup_leaves_the_contract(name: str) -> None:
    """In this process, or in processes of their own, whose crash is a failure like others."""
    case = CASES[name]
    flips = scaled(case.fast, case.full)
    counts, failures = sweep(
        case.dataset(),
        sample=flips,
        forged=case.forged,
        files=case.files,
        together=case.together,
        jobs=scaled(1, 2),
        lookups=scaled(0, LOOKUPS // 4),
    )
    assert failures == []
    total = {
        outcome: sum(count for (_, label), count in counts.items() if label == outcome)
        for outcome in ("found", "missed", "answered", "refused")
    }
    assert total["found"] + total["missed"] == total["answered"] + total["refused"] == flips
    assert {file for file, _ in counts} == ({*case.files} if case.together == 1 else {"several"})
    for outcome, share in case.shares.items():
        assert total[outcome] >= flips * share, outcome
