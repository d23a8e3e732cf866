"""``peers`` and ``target`` run and print their figures, with the peers that are installed."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import geolookup
from benchmarks.__main__ import main
from benchmarks.data import cache, mmdb
from benchmarks.harness import workload
from benchmarks.peers import check, contenders, floor, start
from benchmarks.peers.libraries import Files
from benchmarks.peers.ratios import ratios
from benchmarks.target import command as target
from geolookup.contract.address import canonical
from tests.benchmarks.conftest import Measured, Run, check_drawn
from tests.conftest import ROOT
from tests.skips import needs, optional

maxminddb = optional("maxminddb")
pytestmark = needs("maxminddb", "mmdb_writer")  # the MMDB is checked by reading it


@pytest.fixture(scope="module")
def files() -> Files:
    return Files(cache.dataset("tiny"), cache.mmdb("tiny"))


@pytest.fixture(scope="module")
def result(run: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("results")
    options = ["--scale", "tiny", "--addresses", "60", "--rounds", "2", "--starts", "1"]
    plots = ["--plot", str(folder / "plots")] if find_spec("vl_convert") else []
    printed = run("peers", *options, *plots, "--json", str(folder / "peers.json"))
    if plots:
        check_drawn(folder / "plots", printed)
    outcome: dict[str, Any] = json.loads((folder / "peers.json").read_text(encoding="utf-8"))
    return {**outcome, "printed": printed}


def test_the_result_says_what_it_depends_on(result: dict[str, Any]) -> None:
    assert str(ROOT) not in json.dumps(result)
    for contender in contenders.CONTENDERS:
        row = result["rows"][contender.name]
        assert f"\n{contender.name} " in result["printed"]
        if "refused" in row:
            assert f"did not take part: {row['refused']}" in result["printed"]
        else:
            assert set(row["rounds"]) == set(result["workloads"])
            assert all(len(rounds) == 2 and min(rounds) > 0 for rounds in row["rounds"].values())
    assert len(result["workloads"]) == 16
    assert "reads its vendor's BIN files only" in result["rows"]["IP2Location get_all"]["refused"]

    for name in ("geolookup (python) lookup", "maxminddb (C) get", "floor"):
        assert "refused" not in result["rows"][name]
    assert result["compared"] == 8 * 60
    assert result["exponent"] == 1
    assert min(result["file_bytes"].values()) > 0
    assert "zipf with exponent 1 " in result["printed"]
    assert result["rows"][start.BARE]["start"]["median_ms"] > 0
    for name, row in result["rows"].items():
        if name.startswith("geolookup") and "start" in row:
            assert row["start"]["loads"] == []
    actual = {ratio.text: ratio for ratio in ratios(result["rows"])}
    assert all(f"\n{text} " in result["printed"] for text in actual)
    (text,) = (item for item in actual if re.match(r"maxminddb \(C\) get / .* lookup, zipf", item))
    peer, own = text.removesuffix(", zipf").split(" / ")
    rounds = [result["rows"][name]["rounds"]["zipf IPv4 hit"] for name in (peer, own)]
    mean = sum(a / b for a, b in zip(*rounds, strict=True)) / 2
    assert actual[text].value == pytest.approx(mean)


def test_the_mmdb_holds_the_ranges_and_the_floor_the_envelope(files: Files) -> None:
    actual = [
        (int(network.network_address), network.version)
        for network, _ in maxminddb.open_database(files.mmdb)
    ]
    listed = [
        (first, family) for family in (4, 6) for _, family, first, _ in _networks(files, family)
    ]
    assert sorted(actual) == sorted(listed)
    intervals = workload.read(files.dataset, 6)
    addresses = ["8.8.8.8", *workload.addresses(intervals, "uniform", 50, hit=True)]
    built = list(floor.open_floor(files)(addresses)())
    with geolookup.open(files.dataset) as engine:
        assert built == [engine.lookup(address, at=floor.INSTANT) for address in addresses]


def _networks(files: Files, family: int) -> list[mmdb.Network]:
    return list(mmdb.networks(files.dataset, family))


def test_comparison_fails_on_a_wrong_mmdb(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = tmp_path / "wrong.mmdb"
    listed = [item for family in (4, 6) for item in _networks(files, family)]
    # Two locations in each other's place.
    swapped = {2: 3, 3: 2}
    moved = [(swapped.get(row, row), *remainder) for row, *remainder in listed]
    mmdb.write(files.dataset, wrong, ((row, *remainder) for row, *remainder in moved))  # type: ignore[misc]
    addresses = [canonical(family, first) for row, family, first, _ in listed if row in swapped]
    check.check(files.dataset, files.mmdb, addresses)
    with pytest.raises(check.UnequalError) as caught:
        check.check(files.dataset, wrong, addresses)
    assert not any(address in str(caught.value) for address in addresses)
    monkeypatch.setattr(cache, "mmdb", lambda _scale: wrong)
    done = CliRunner().invoke(main, ["peers", "--scale", "tiny", "--addresses", "5000"])
    assert done.exit_code == 1
    assert "differ in" in done.output


def run_target(*options: str) -> tuple[int, str]:
    arguments = ("target", "--scale", "tiny", "--addresses", "20", "--starts", "2", *options)
    done = CliRunner().invoke(main, arguments)
    return done.exit_code, done.output


def test_target_prints_percentiles_and_fails_where_a_median_misses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "GOAL_MS", 1e9)  # no time is asserted
    path = tmp_path / "target.json"
    status, printed = run_target("--json", str(path))
    assert status == 0, printed
    assert all(text in printed for text in ("p50", "p95", "p99", "p99.9", "max", "fresh process"))
    has_http = find_spec("granian") is not None
    assert (target.OVER_HTTP if has_http else target.NO_HTTP) in printed
    ways = json.loads(path.read_text(encoding="utf-8"))["ways"]
    assert len(ways) == 3 + has_http
    assert all(way["p50"] <= way["p95"] <= way["p99.9"] <= way["p100"] for way in ways.values())
    monkeypatch.setattr(target, "GOAL_MS", 0.0)
    status, printed = run_target()
    assert status == 1
    assert "missed" in printed


def test_chosen_contenders_only(measured: Measured) -> None:
    options = ("--scale", "tiny", "--addresses", "20", "--rounds", "1", "--starts", "1")
    result, _ = measured("peers", *options, "--threads", "1", "--only", "(C) get + json")
    assert set(result["rows"]) == {"maxminddb (C) get + json", start.BARE}
