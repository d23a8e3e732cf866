"""``geolookup diff`` and ``score`` as a shell runs them: text, JSON, gates and exit status."""

from __future__ import annotations

import json
import signal
from dataclasses import asdict
from pathlib import Path

import pytest

import geolookup
from tests.cli.program import held, run
from tests.comparison.conftest import NEW, OLD, dataset
from tests.datasets import once
from tests.internals.comparison import diff


@pytest.fixture(scope="module")
def pair() -> tuple[str, str]:
    old = once("cli-comparison-old", lambda folder: dataset(folder, world=OLD))
    new = once("cli-comparison-new", lambda folder: dataset(folder, world=NEW))
    return str(old / "dataset"), str(new / "dataset")


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("truth") / "truth.csv"
    path.write_text("8.8.8.0/24,US,,Boston,\n2a00::/32,FR,,Paris,\n", encoding="utf-8")
    return str(path)


def test_json_and_text_of_the_comparison_and_the_score(pair: tuple[str, str], truth: str) -> None:
    done = run("diff", *pair, "--json", "--fail-if", "ipv6.country_moved < 50%")
    measured = {"ipv6.country_moved": 0.5}
    text = "ipv6.country_moved < 50%"
    gate = {"gate": text, "limit": 0.5, "measured": measured, "failed": []}
    expected = {**asdict(diff(*pair)), "gates": [gate]}
    assert json.loads(done.stdout) == json.loads(json.dumps(expected))
    assert (done.returncode, done.stderr) == (0, "")
    done = run("score", *pair, "--truth", truth, "--json")
    scored = geolookup.score([*pair], truth=truth)
    assert json.loads(done.stdout) == json.loads(json.dumps(asdict(scored)))
    assert (done.returncode, done.stderr) == (0, "")
    done = run("diff", *pair)
    assert "country moved    64 (16.67 %) of 384 known in both" in done.stdout
    assert "AS2 Two" in done.stdout
    assert "world.csv" in done.stdout
    assert done.returncode == 0


def test_failed_gates_are_status_1_with_one_line_each(pair: tuple[str, str], truth: str) -> None:
    gates = ("country_moved > 20%", "ipv6.km_max > 800", "coverage_lost > 50%")
    done = run("diff", *pair, *(word for gate in gates for word in ("--fail-if", gate)))
    assert done.returncode == 1
    first, second = done.stderr.splitlines()
    assert first == (
        "gate failed: country_moved > 20%: ipv6.country_moved is 50 %, the limit is 20 %"
    )
    assert second.startswith("gate failed: ipv6.km_max > 800: ipv6.km_max is 87")
    assert second.endswith(" km, the limit is 800 km")

    of_score = ("ipv4.country_agree < 95%", "ipv6.city_missing > 90%")
    options = [word for gate in of_score for word in ("--fail-if", gate)]
    done = run("score", pair[1], "--truth", truth, *options)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "gate failed: ipv4.country_agree < 95%: ipv4.country_agree is 75 %, the limit is 95 %"
    ]
    assert ["country", "agree", "75.00", "%"] in [line.split() for line in done.stdout.splitlines()]


def test_traffic_weighs(pair: tuple[str, str], truth: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("ip,n\n8.8.8.129,3\n8.8.8.1,1\n10.0.0.1,7\nx,2\n", encoding="utf-8")
    options = ("--traffic", str(path), "--ip-column", "ip", "--traffic-count", "n")
    done = run("diff", *pair, *options, "--fail-if", "country_moved >= 75%")
    assert done.returncode == 1
    assert "country_moved is 75 %" in done.stderr
    assert "requests  13: 7 for private addresses and 2 for no addresses" in done.stdout
    assert "8.8.8.1" not in done.stdout + done.stderr

    text = "8.8.8.129\n8.8.8.129\n8.8.8.1\n10.0.0.1\n"
    gate = ("--fail-if", "country_wrong > 50%")
    done = run("score", pair[1], "--truth", truth, "--traffic", "-", *gate, text=text)
    assert done.returncode == 1
    assert "country_wrong is 66.6667 %" in done.stderr
    assert "requests  4: 1 for private addresses and 0 for no addresses" in done.stdout
    assert "8.8.8.129" not in done.stdout + done.stderr


def test_rows_of_a_score(pair: tuple[str, str], truth: str, tmp_path: Path) -> None:
    output = str(tmp_path / "rows.jsonl")
    for sides, options, told in (
        (pair, ("--rows", output), "--rows need one dataset, not 2; name one"),
    ):
        done = run("score", *sides, "--truth", truth, *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"geolookup: {told}")
    for force in ((), ("--force",)):
        done = run("score", pair[1], "--truth", truth, "--rows", output, *force)
        assert done.returncode == 0
    first = json.loads((tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert (first["first"], first["kind"]) == ("8.8.8.128", "country moved")


@pytest.mark.long
def test_a_signal_leaves_no_files(pair: tuple[str, str], truth: str, tmp_path: Path) -> None:
    """The process waits where it renames the dataset that it compiled of the truth."""
    args = ("score", pair[0], "--truth", truth)
    with held("os.rename", "/truth", *args, TMPDIR=str(tmp_path)) as process:
        assert list(tmp_path.rglob("manifest.json"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
