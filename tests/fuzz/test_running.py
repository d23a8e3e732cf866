"""libFuzzer, by atheris, finds planted bugs; and a run keeps what it learnt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import corpus
from tests.fuzz.targets import TARGETS

SECONDS = 60
#: Every target that is no reader, and readers of text, of binary data and of whatever comes.
CHOSEN = [name for name in TARGETS if not name.startswith("source-")]
CHOSEN += ["source-csv", "source-mmdb", "source-auto"]


@pytest.mark.long
@pytest.mark.parametrize("name", CHOSEN)
def test_a_planted_bug_is_found(name: str, tmp_path: Path) -> None:
    pytest.importorskip("atheris", reason="geolookup[fuzz] is not installed")
    from tests.fuzz.running import fuzzed_for_the_planted_bug

    run = fuzzed_for_the_planted_bug(name, SECONDS, 1, tmp_path)
    assert run.found, run.output
    print(f"{name}: after {run.inputs:,} inputs")
    for data in corpus.entries("found", tmp_path):
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
