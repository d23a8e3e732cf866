"""libFuzzer, by atheris, finds planted bugs; and a run keeps what it learnt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import corpus
from tests.fuzz.targets import TARGETS

SECONDS = 60
#: A reader of text, one of binary data and one of whatever comes; mutations without libFuzzer find
#: the bug of every target (``test_targets``).
CHOSEN = ("query", "rows", "source-auto")


@pytest.mark.long
def test_planted_bugs_are_found(tmp_path: Path) -> None:
    pytest.importorskip("atheris", reason="geolookup[fuzz] is not installed")
    from tests.fuzz.running import fuzzed_for_the_planted_bugs

    runs = list(fuzzed_for_the_planted_bugs(CHOSEN, SECONDS, tmp_path))
    assert [run.name for run in runs if run.found] == [*CHOSEN], runs
    for name in CHOSEN:
        found = [path.read_bytes() for path in (tmp_path / "found").glob(f"{name}-*")]
        assert found
        for data in found:
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
