"""The targets and the corpus without atheris; planted bugs are found, by atheris too."""

from __future__ import annotations

import random
import subprocess
import sys
from contextlib import nullcontext, suppress
from itertools import islice
from pathlib import Path

import pytest
from geolookup_builder.sources import FORMATS

from geolookup.contract.address import parse
from geolookup.errors import InvalidAddressError
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
    result = found_after(tested, islice(tested.seeds(), BEGIN), seed=1, most=MOST)
    assert result is not None, "no input shows the planted bug"
    tested.run(result[1])  # nothing is wrong with it but the bug


def test_every_format_has_an_input_that_is_read() -> None:
    heads = b"".join(seed.partition(CUT)[0] for seed in built_in())
    assert all(f'format = "{name}"'.encode() in heads for name in FORMATS)


@pytest.mark.long
def test_the_command_runs_one_input(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"ip=8.8.8.8")
    command = [sys.executable, "-m", "tests.fuzz", "query", "--input", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    told = f"query: nothing is wrong with {path}\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, told, "")


#: Bytes of all inputs of all targets.
MOST_BYTES = 150_000


def run(data: bytes) -> None:
    with suppress(InvalidAddressError):
        parse(data.decode("latin-1"))


TARGET = Target(run, lambda: [b"8.8.8.8"], nullcontext)


def test_it_is_small_and_of_targets() -> None:
    paths = list(corpus.FOLDER.glob("*/*"))
    assert {path.parent.name for path in paths} <= set(TARGETS)
    for path in paths:
        assert path.name == corpus.file_name(path.read_bytes())
    sizes = [path.stat().st_size for path in paths]
    assert max(sizes) <= corpus.LARGEST
    assert sum(sizes) <= MOST_BYTES


def test_the_smallest_input_that_reaches_new_code_is_chosen(tmp_path: Path) -> None:
    inputs = [b"1.1.1.1", b"2600:1234:5678::1", b"2600::1", b"9.9.9.9"]
    assert corpus.minimal(TARGET, inputs) == [b"2600::1"]
    assert corpus.minimal(TARGET, [b"9.9.9.9"]) == []
    assert corpus.minimal(TARGET, [b"2600::" + b" " * corpus.LARGEST]) == []
    for kept in ([b"a", b"b"], [b"b", b"\0"]):  # what is written replaces what was there
        corpus.write("one", kept, tmp_path)
        assert sorted(corpus.entries("one", tmp_path)) == sorted(kept)
    assert corpus.entries("two", tmp_path) == []


SECONDS = 60
#: A reader of text, one of binary data and one of whatever comes; mutations without libFuzzer find
#: the bug of every target (``test_targets``).
PLANTED_IN = ("query", "rows", "source-auto")


@pytest.mark.long
def test_planted_bugs_are_found(tmp_path: Path) -> None:
    pytest.importorskip("atheris", reason="geolookup[fuzz] is not installed")
    from tests.fuzz.running import fuzzed_for_the_planted_bugs

    runs = list(fuzzed_for_the_planted_bugs(PLANTED_IN, SECONDS, tmp_path))
    assert [run.name for run in runs if run.has_finding] == [*PLANTED_IN], runs
    for name in PLANTED_IN:
        actual = [path.read_bytes() for path in (tmp_path / "found").glob(f"{name}-*")]
        assert actual
        for data in actual:
            TARGETS[name].run(data)  # nothing is wrong with it but the bug


@pytest.mark.long
def test_what_a_run_learnt_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("atheris", reason="geolookup[fuzz] is not installed")
    from tests.fuzz import __main__, running

    monkeypatch.setattr(__main__, "LEARNT", tmp_path / "learnt")
    monkeypatch.setattr(running, "HOME", tmp_path)
    assert __main__.main(["query", "--seconds", "1", "--seed", "1", "--keep", str(tmp_path)]) == 0
    assert len(corpus.entries("query", tmp_path / "learnt")) > 100
    assert (tmp_path / "query").is_dir()
