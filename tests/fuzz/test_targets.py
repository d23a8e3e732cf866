"""Every target accepts its seeds, its corpus and some mutations, without atheris."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.fuzz.sources import CUT, built_in
from tests.fuzz.target import Target, corpus, scrambled
from tests.fuzz.targets import TARGETS
from tests.internals.builder import FORMATS
from tests.skips import needs
from tests.tiers import one_of_each, scaled


def _kind(name: str) -> bool:
    return name.startswith("source-")


def target(name: str) -> Target:
    if name == "envelope":
        pytest.importorskip("cryptography", reason="geolookup[sign] is not installed")
    if name in ("source-mmdb", "source-ipinfo", "source-auto"):  # they read MMDB files
        pytest.importorskip("maxminddb", reason="geolookup[mmdb] is not installed")
    return TARGETS[name]


@pytest.mark.parametrize("name", one_of_each(TARGETS, _kind))
def test_seeds_corpus_and_some_mutations_pass(name: str) -> None:
    tested, rng = target(name), random.Random(name)
    seeds = list(islice(tested.seeds(), scaled(20, 400)))
    assert seeds
    for data in [*seeds, *corpus(name)]:
        tested.run(data)
    for _ in range(scaled(8, 60)):
        tested.run(tested.mutate(rng.choice(seeds), lambda part: scrambled(part, rng), rng))


def test_every_format_has_an_input_that_is_read() -> None:
    heads = b"".join(seed.partition(CUT)[0] for seed in built_in())
    assert all(f'format = "{name}"'.encode() in heads for name in FORMATS)


@needs("atheris")
@pytest.mark.long
def test_the_command_fuzzes(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"ip=8.8.8.8")
    for options in (["--input", str(path)], ["--seconds", "1", "--seed", "1"]):
        command = [sys.executable, "-m", "tests.fuzz", "query", *options]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    assert b"Instrumenting geolookup.contract.address" in done.stderr
