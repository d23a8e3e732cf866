"""The targets themselves, without atheris: seeds and some mutations pass, faults are seen."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from geolookup_builder.sources import FORMATS

import geolookup
from geolookup.http.application import address_asked
from tests.conftest import ROOT
from tests.fuzz import forwarded, json_values
from tests.fuzz.recorded import CUT, joined
from tests.fuzz.sources import built_in
from tests.fuzz.target import scrambled
from tests.fuzz.targets import TARGETS
from tests.small_dataset import SMALL

MUTATIONS = 60
SEEDS = 400


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_and_some_mutations_pass(name: str) -> None:
    if name in ("source-mmdb", "source-auto"):  # both read MMDB files
        pytest.importorskip("maxminddb", reason="geolookup[mmdb] is not installed")
    target, rng = TARGETS[name], random.Random(name)
    seeds = list(islice(target.seeds(), SEEDS))
    assert seeds
    for seed in seeds:
        target.run(seed)
    for _ in range(MUTATIONS):
        target.run(target.mutate(rng.choice(seeds), lambda part: scrambled(part, rng), rng))


def test_every_format_has_a_target_with_an_input_that_is_read() -> None:
    assert {name for name in TARGETS if name.startswith("source-")} == {
        f"source-{name}" for name in (*FORMATS, "auto")
    }
    heads = b"".join(seed.partition(CUT)[0] for seed in built_in())
    assert all(f'format = "{name}"'.encode() in heads for name in FORMATS)


def test_a_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.query.address_asked", lambda text: text.partition("=")[2])
    with pytest.raises(AssertionError):
        TARGETS["query"].run(b"ip=%38")
    monkeypatch.setattr(forwarded, "_proxies", forwarded._nobody)
    with pytest.raises(AssertionError):
        TARGETS["forwarded"].run(b"1.1.1.1")
    monkeypatch.setattr("tests.fuzz.address._reference", geolookup.open())
    monkeypatch.setattr("tests.fuzz.address.column", lambda *_given: [])
    with pytest.raises(AssertionError):
        TARGETS["address"].run(b"8.8.8.8")
    assert address_asked("ip=%38") == "8"


def test_a_source_error_of_two_lines_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geolookup.errors._escaped", str)
    source = b'[[source]]\nformat = "csv"\npath = "a\\nb.csv"\n'
    with pytest.raises(AssertionError):
        TARGETS["source-csv"].run(joined(source, {"a.csv": b"network,isp\n"}))


def test_json_stays_json() -> None:
    rng = random.Random(1)
    document = (SMALL / "manifest.json").read_bytes()
    changes = [json_values.changed(document, rng) for _ in range(100)]
    assert len({json.dumps(json.loads(each)) for each in changes}) > 90


def test_the_command_runs_one_input(tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(b"ip=8.8.8.8")
    command = [sys.executable, "-m", "tests.fuzz", "query", "--input", str(tmp_path / "input")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
