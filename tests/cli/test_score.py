"""``geolookup score`` as a shell runs it: text, JSON, gates and their exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest

import geolookup
from tests.cli.program import run
from tests.comparison.conftest import NEW, OLD, dataset
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    folder = tmp_path_factory.mktemp("sides")
    made = [dataset(folder / name, world=text) for name, text in (("old", OLD), ("new", NEW))]
    truth = folder / "truth.csv"
    truth.write_text("8.8.8.0/24,US,,Boston,\n2a00::/32,FR,,Paris,\n", encoding="utf-8")
    return str(made[0]), str(made[1]), str(truth)


def test_json_is_the_score(sides: tuple[str, str, str]) -> None:
    old, new, truth = sides
    done = run("score", old, new, "--truth", truth, "--json", "--worst", "1")
    expected = geolookup.score([old, new], truth, worst=1)
    assert json.loads(done.stdout) == json.loads(json.dumps(asdict(expected)))
    assert (done.returncode, done.stderr) == (0, "")


def test_failed_gates_are_status_1_with_one_line_each(sides: tuple[str, str, str]) -> None:
    gates = ("ipv4.country_agree < 95%", "networks.city_null > 90%")
    options = [word for gate in gates for word in ("--fail-if", gate)]
    done = run("score", sides[1], "--truth", sides[2], *options)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "gate failed: ipv4.country_agree < 95%: ipv4.country_agree is 75 %, the limit is 95 %"
    ]
    assert "country agree  75.00 %" in done.stdout
    assert "8.8.8.128/26" in done.stdout


def test_traffic_from_standard_input(sides: tuple[str, str, str]) -> None:
    text = "8.8.8.129\n8.8.8.129\n8.8.8.1\n10.0.0.1\n"
    gate = ("--fail-if", "requests.country_wrong > 50%")
    done = run("score", sides[1], "--truth", sides[2], "--traffic", "-", *gate, text=text)
    assert done.returncode == 1
    assert "requests.country_wrong is 66.6667 %" in done.stderr
    assert "requests  4, of which 1 for private addresses and 0 for no addresses" in done.stdout
    assert "8.8.8.129" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "more",
    [
        ("--fail-if", "country_agree"),
        ("--fail-if", "country_agree < 95"),
        ("--fail-if", "km_p50 > 1"),
        ("--truth", "/nowhere.csv"),
        ("--truth-format", "geofed"),
        ("--truth-format", "addresses"),
        ("--traffic", "/nowhere.csv"),
        ("--worst", "-1"),
    ],
)
def test_misuse_is_status_2(sides: tuple[str, str, str], more: tuple[str, ...]) -> None:
    done = run("score", sides[0], "--truth", sides[2], *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip()


def test_what_is_missing_is_status_2(sides: tuple[str, str, str]) -> None:
    for words in (("/nowhere", "--truth", sides[2]), (sides[0],), ("--truth", sides[2])):
        done = run("score", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.strip()


@pytest.mark.long
def test_a_signal_leaves_no_temporary_files(sides: tuple[str, str, str], tmp_path: Path) -> None:
    truth, temporary = tmp_path / "feed.csv", tmp_path / "temporary"
    temporary.mkdir()
    rows = (f"{a}.{b}.{c}.0/24,US,,,\n" for a in (8, 9, 11) for b in range(256) for c in range(256))
    truth.write_text("".join(rows), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "geolookup", "score", sides[0], "--truth", str(truth)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
    )
    while not list(temporary.glob("*/truth.toml")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    assert list(temporary.iterdir()) == []
