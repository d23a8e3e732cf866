"""``geolookup report --truth``: the numbers are those of score, and errors leave no file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.comparison.scoring import Score
from tests.cli.program import run
from tests.comparison.conftest import NEW, dataset

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

from geolookup.reports.truth.section import truth_section

FEED = "8.8.8.0/24,US,,Boston,\n9.9.9.0/24,CH,CH-BE,Bern,\n2a00::/32,FR,,Paris,\n"
LIST = "ip,country,city,latitude,longitude\n8.8.8.130,US,Boston,42.36,-71.06\n8.8.8.7,US,,42,-71\n"
_NOTHING = float("nan")
#: Parts of rows have three digits, kilometres one decimal, shares two of a percentage.
_CLOSE: Any = {"rel": 5e-3, "abs": 1e-4, "nan_ok": True}
PARTS = {"ipv4": "IPv4 addresses", "ipv6": "IPv6 /64 networks", "networks": "rows of the truth"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A dataset, a geofeed and a list of addresses, by name."""
    folder = tmp_path_factory.mktemp("truth")
    texts = {"feed.csv": FEED, "list.csv": LIST, "empty.csv": "10.0.0.0/24,US,,,\n"}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    found = {name: str(folder / name) for name in texts}
    return {**found, "dataset": str(dataset(folder / "new", world=NEW))}


def _tables(found: Score) -> dict[str, list[Sequence[str]]]:
    """The rows of the section's tables and charts by caption, without the head."""
    values = truth_section(found).values
    shown = [*values["first"], *values["tables"], *values["details"]]
    tables = {each.caption: [*each.rows] for each in shown}
    return tables | {each.title: [*each.rows] for each in values["charts"]}


def _number(text: str) -> float:
    if text == "-":
        return _NOTHING
    number = float(text.replace(",", "").rstrip(" %"))
    return number / 100 if text.endswith("%") else number


def _agreement(part: Mapping[str, Any], level: str) -> list[float]:
    found = part["score"][level]
    shares = [found[verdict] for verdict in ("agree", "wrong", "null")]
    values = [(s["count"], s["share"] if s["of"] else _NOTHING) for s in shares]
    return [found["agree"]["of"], *(number for pair in values for number in pair)]


def _distance(part: Mapping[str, Any]) -> list[float]:
    far = part["score"]["kilometres"]
    names = ("p50", "p90", "p99", "max", "within_50", "within_100")
    null = far["null"]["share"] if far["null"]["of"] else _NOTHING
    return [far["of"], *(far[name] if far["of"] else _NOTHING for name in names), null]


def _worst(part: Mapping[str, Any]) -> Iterator[tuple[str, str, float]]:
    for level in ("country", "region", "city"):
        for each in part["worst"][level]:
            yield each["network"], level, each["wrong"]["count"]


@pytest.mark.parametrize("names", [["feed.csv"], ["list.csv"], ["list.csv", "feed.csv"]], ids=str)
def test_the_numbers_are_those_of_score(files: dict[str, str], names: list[str]) -> None:
    truth = [files[name] for name in names]
    options = [word for path in truth for word in ("--truth", path)]
    scored = json.loads(run("score", files["dataset"], *options, "--json").stdout)
    parts = {n: part for n, part in scored["datasets"][0]["parts"].items() if part["score"]["of"]}
    tables = _tables(geolookup.score(files["dataset"], truth))
    agreement = {row[0]: [*map(_number, row[1:])] for row in tables["Agreement"]}
    distances = {row[0]: [*map(_number, row[1:])] for row in tables["Distance from the truth"]}
    assert set(distances) == {PARTS[name] for name in parts}
    for name, part in parts.items():
        for level in ("country", "region", "city"):
            found = agreement[f"{level}, {PARTS[name]}"]
            assert found == pytest.approx(_agreement(part, level), **_CLOSE)
        assert distances[PARTS[name]] == pytest.approx(_distance(part), **_CLOSE)
        worst = tables.get(f"Networks with the most wrong {PARTS[name]}", [])
        expected = list(_worst(part))
        assert [row[:2] for row in worst] == [each[:2] for each in expected]
        counts = [each[2] for each in expected]
        assert [_number(row[2]) for row in worst] == pytest.approx(counts, **_CLOSE)
        countries = tables[f"Country: {PARTS[name]}"]
        of = {group["name"]: group["score"]["of"] for group in part["by"]["country"]}
        assert {row[0]: _number(row[1]) for row in countries} == pytest.approx(of, **_CLOSE)


@pytest.mark.long
def test_the_page_shows_the_truth(files: dict[str, str], tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    truth = ("--truth", files["list.csv"], "--truth", files["feed.csv"])
    done = run("report", files["dataset"], *truth, "--output", str(output))
    assert done.returncode == 0, done.stderr
    html = output.read_text(encoding="utf-8")
    assert "Agreement with ground truth" in html
    assert "8.8.8.130" not in html


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--truth", "missing.csv"], "missing.csv"),
        (["--truth", "empty.csv"], "no row states the location of a public address"),
        (["--truth", "feed.csv", "--truth-format", "geofed"], "'geofeed'"),
    ],
    ids=["missing", "empty", "format"],
)
def test_errors_are_one_line_and_leave_no_file(
    files: dict[str, str], options: list[str], told: str, tmp_path: Path
) -> None:
    named = [files.get(word, word) for word in options]
    output = tmp_path / "report.html"
    done = run("report", files["dataset"], "--output", str(output), *named)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
