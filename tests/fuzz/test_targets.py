"""The targets themselves, without atheris: what is right passes, and faults are seen."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from geolookup_builder.sources import FORMATS

from tests.conftest import ROOT
from tests.fuzz import corpus
from tests.fuzz.sources import BUGS, CUT, built_in
from tests.fuzz.target import Target, found_after, scrambled
from tests.fuzz.targets import TARGETS
from tests.tiers import one_of_each, scaled

#: The seeds that the search for a planted bug begins with, and the mutations that it may take.
BEGIN = 60
MOST = 2000
_SOURCES = [name for name in TARGETS if name.startswith("source-")]
_OTHERS = [name for name in TARGETS if name not in _SOURCES]


def _reader(name: str) -> str:
    """What reads a format: most share the reader of delimited text, the others have a bug each."""
    return name if name.removeprefix("source-") in BUGS else "delimited text"


every = pytest.mark.parametrize("name", [*_OTHERS, *one_of_each(_SOURCES, _reader)])


def target(name: str) -> Target:
    if name == "envelope":
        pytest.importorskip("cryptography", reason="geolookup[sign] is not installed")
    if name in ("source-mmdb", "source-ipinfo", "source-auto"):  # they read MMDB files
        pytest.importorskip("maxminddb", reason="geolookup[mmdb] is not installed")
    if name in ("source-mrt", "source-auto"):
        pytest.importorskip("ftlbgp", reason="geolookup[mrt] is not installed")
    return TARGETS[name]


@every
def test_seeds_and_some_mutations_pass(name: str) -> None:
    tested, rng = target(name), random.Random(name)
    seeds = list(islice(tested.seeds(), scaled(60, 400)))
    assert seeds
    for seed in seeds:
        tested.run(seed)
    for _ in range(scaled(8, 60)):
        tested.run(tested.mutate(rng.choice(seeds), lambda part: scrambled(part, rng), rng))


@every
def test_the_corpus_passes(name: str) -> None:
    inputs = corpus.entries(name)
    # An empty folder would pass: only of these do the seeds reach all that fuzzing has reached.
    assert bool(inputs) != (name in {"logs", "query"}), f"python -m tests.fuzz {name} --keep"
    for data in inputs:
        target(name).run(data)


@every
def test_a_planted_bug_is_found(name: str) -> None:
    tested = target(name)
    found = found_after(tested, islice(tested.seeds(), BEGIN), seed=1, most=MOST)
    assert found is not None
    tested.run(found[1])  # nothing is wrong with it but the bug


def test_every_format_has_an_input_that_is_read() -> None:
    heads = b"".join(seed.partition(CUT)[0] for seed in built_in())
    assert all(f'format = "{name}"'.encode() in heads for name in FORMATS)


@pytest.mark.long
def test_the_command_runs_one_input(tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(b"ip=8.8.8.8")
    command = [sys.executable, "-m", "tests.fuzz", "query", "--input", str(tmp_path / "input")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
