"""``geolookup diff`` as a shell runs it: text, JSON, gates and their exit status."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from geolookup import comparison as diff
from tests.cli.program import run
from tests.comparison.conftest import NEW, OLD, dataset


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("pair")
    made = [dataset(folder / name, world=text) for name, text in (("old", OLD), ("new", NEW))]
    return str(made[0]), str(made[1])


def test_json_is_the_comparison(pair: tuple[str, str]) -> None:
    done = run("diff", *pair, "--json", "--fail-if", "ipv6.country_moved < 50%")
    found = json.loads(done.stdout)
    gates = found.pop("gates")
    assert found == json.loads(json.dumps(asdict(diff.compare(*pair))))
    measured = {"ipv6.country_moved": 0.5}
    text = "ipv6.country_moved < 50%"
    assert gates == [{"gate": text, "limit": 0.5, "measured": measured, "failed": []}]
    assert (done.returncode, done.stderr) == (0, "")


def test_text_names_what_moved(pair: tuple[str, str]) -> None:
    done = run("diff", *pair)
    assert "country moved    64 (16.67 %) of 384 known in both" in done.stdout
    assert "AS2 Two" in done.stdout
    assert "world.csv" in done.stdout
    assert done.returncode == 0


def test_failed_gates_are_status_1_with_one_line_each(pair: tuple[str, str]) -> None:
    gates = ("country_moved > 20%", "ipv6.km_max > 800", "coverage_lost > 50%")
    done = run("diff", *pair, *(word for gate in gates for word in ("--fail-if", gate)))
    assert done.returncode == 1
    first, second = done.stderr.splitlines()
    assert first == (
        "gate failed: country_moved > 20%: ipv6.country_moved is 50 %, the limit is 20 %"
    )
    assert second.startswith("gate failed: ipv6.km_max > 800: ipv6.km_max is 87")
    assert second.endswith(" km, the limit is 800 km")


def test_traffic_weighs(pair: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("ip,n\n8.8.8.129,3\n8.8.8.1,1\n10.0.0.1,7\nx,2\n", encoding="utf-8")
    options = ("--traffic", str(path), "--ip-column", "ip", "--traffic-count", "n")
    done = run("diff", *pair, *options, "--fail-if", "country_moved >= 75%")
    assert done.returncode == 1
    assert "country_moved is 75 %" in done.stderr
    assert "requests  13, of which 7 for private addresses and 2 for no addresses" in done.stdout
    assert "8.8.8.1" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "more",
    [
        ("--fail-if", "country_moved"),
        ("--fail-if", "country_moves > 2%"),
        ("--traffic", "/nowhere.csv"),
        ("--traffic", "README.md", "--traffic-count", "n"),
        ("--top", "-1"),
    ],
)
def test_misuse_is_status_2(pair: tuple[str, str], more: tuple[str, ...]) -> None:
    done = run("diff", *pair, *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip()


def test_datasets_that_are_none_are_status_2(pair: tuple[str, str]) -> None:
    for sides in (("/nowhere", pair[1]), (pair[0], "/nowhere"), (pair[0],)):
        done = run("diff", *sides)
        assert (done.returncode, done.stdout) == (2, "")


def test_traffic_from_standard_input_is_a_list(pair: tuple[str, str]) -> None:
    text = "8.8.8.129\n10.0.0.1\n"
    done = run("diff", *pair, "--traffic", "-", text=text)
    assert "requests  2, of which 1 for private addresses and 0 for no addresses" in done.stdout
    csv = ("--input-format", "csv", "--no-header", "--ip-column", "column1")
    assert run("diff", *pair, "--traffic", "-", *csv, text=text).stdout == done.stdout
