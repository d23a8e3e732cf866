"""One small run: the harness compares answers before it times, and publishes what it printed."""

from __future__ import annotations

import ipaddress
import itertools
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from benchmarks.__main__ import main
from benchmarks.contenders.answers import UnequalError, compare, digests
from benchmarks.data import cache
from benchmarks.harness import reports, workload
from benchmarks.harness.tables import Ratio
from tests.skips import needs


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Data of tests must not push out data to measure.
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "cache")
    monkeypatch.setattr(reports, "PUBLISHED", tmp_path)
    return tmp_path


def _peers(*options: str) -> Result:
    amounts = ("--scale", "tiny", "--addresses", "20", "--rounds", "1")
    arguments = ["peers", "small", *amounts, "--publish", "peers", *options]
    return CliRunner().invoke(main, arguments)


@needs("maxminddb")
@pytest.mark.long
def test_a_run_compares_times_and_publishes(folder: Path) -> None:
    done = _peers("--only", "geolookup lookup", "--only", "maxminddb (C) get")
    assert done.exit_code == 0, done.output
    assert (folder / "peers.txt").read_text(encoding="utf-8") == done.stdout
    tables = reports.published_tables("peers")
    text, rows = tables["ns per lookup, countries only"]
    assert text in done.stdout
    assert {"geolookup lookup_json", "geolookup lookup", "maxminddb (C) get"} <= set(rows)
    assert all(float(cell.replace(",", "")) > 0 for row in rows.values() for cell in row.values())
    ratio = "maxminddb (C) get + json / geolookup lookup_json, zipf v4 hit"
    assert tables["countries only"][1][ratio]["verdict"] == "reported"

    files = cache.files("tiny")
    for family, hit in itertools.product((4, 6), (True, False)):
        intervals = workload.read(files.dataset, family)
        drawn = intervals.addresses(workload.ZIPF, 200, hit=hit).to_pylist()
        assert drawn == intervals.addresses(workload.ZIPF, 200, hit=hit).to_pylist()
        assert {ipaddress.ip_address(text).version for text in drawn} == {family}
        distinct = intervals.addresses(workload.UNIFORM, 500, hit=hit, distinct=True)
        assert len(set(distinct.to_pylist())) == 500


def test_answers_that_differ_are_not_timed() -> None:
    ours = [("8.8.8.8", {"country": "US"}), ("1.1.1.1", {"country": "AU"})]
    same = [("ours", digests(ours)), ("theirs", digests(ours[::-1]))]
    assert compare(same) == 1
    wrong = digests([ours[0], ("1.1.1.1", {"country": "NZ"})])
    with pytest.raises(UnequalError, match=r"^third and ours differ in country; nothing was timed"):
        compare([*same, ("third", wrong)])


@pytest.mark.parametrize(
    ("value", "goal", "least", "verdict"),
    [
        (2, 2, True, "met"), (1.9, 2, True, "missed"), (2, 2, False, "met"),
        (2.1, 2, False, "missed"), (2, None, False, "reported"),
    ],
)  # fmt: skip
def test_verdicts(value: float, goal: float | None, least: bool, verdict: str) -> None:
    assert Ratio("", value, goal, least).verdict == verdict
