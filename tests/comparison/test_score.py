"""What a score says as a whole: of itself, of gates, of several datasets, of private addresses."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

import geolookup
from tests.comparison.conftest import dataset
from tests.internals.comparison import NAMES
from tests.internals.comparison import text_lines as lines

_FEED = "8.8.8.0/24,US,,Boston,\n9.9.9.0/24,CH,CH-BE,Bern,\n2a00::/32,FR,,Paris,\n"


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    path = tmp_path / "feed.csv"
    path.write_text(_FEED, encoding="utf-8")
    return path


def test_addresses_are_never_shown(tmp_path: Path) -> None:
    rows = "network,country_code\n8.8.8.77/32,DE\n2a00::77/128,DE\n"
    data = dataset(tmp_path / "data", world=rows)
    table, feed = tmp_path / "t.csv", tmp_path / "feed.csv"
    table.write_text("ip,country\n8.8.8.77,US\n2a00::77,US\n", encoding="utf-8")
    feed.write_text("8.8.8.0/24,US,,,\n2a00::/32,US,,,\n", encoding="utf-8")
    asked = tmp_path / "asked.txt"
    asked.write_text("8.8.8.77\n2a00::77\n", encoding="utf-8")
    for item in (
        geolookup.score(data, truth=table),
        geolookup.score(data, truth=[feed, table]),
        geolookup.score(data, truth=feed, traffic=asked),
    ):
        text = json.dumps(asdict(item)) + "\n".join(lines(item))
        assert "::77" not in text
        assert "8.8.77" not in text
        assert "8.8.8.0/24" in text
        assert "2a00::/48" in text
    assert "8.8.8.77/32" in json.dumps(asdict(geolookup.score(data, truth=feed)))


def test_gates(pair: tuple[Path, Path], feed: Path) -> None:
    # NEW knows half of Switzerland, and has a quarter of Boston in Canada.
    gates = [
        "country_agree < 90%",
        "ipv4.country_agree < 90%",
        "ipv4.city_null > 10%",
        "networks.country_wrong > 0.249",
        "city_agree == 0",
    ]
    report = geolookup.score(pair[1], truth=feed, fail_if=gates)
    measured = {
        gate: dict(verdict.measured) for gate, verdict in zip(gates, report.gates, strict=True)
    }
    assert measured[gates[1]] == {"ipv4.country_agree": 0.625}
    assert [verdict.gate for verdict in report.failed] == gates[:4]
    assert measured[gates[3]] == {"networks.country_wrong": pytest.approx(0.25)}
    metrics = report.datasets[0].parts["ipv4"].metrics
    assert list(metrics) == list(NAMES)
    unmeasured = [name for name, value in metrics.items() if value is None]
    # The truth states no coordinates.
    assert unmeasured == ["km_p50", "km_p90", "within_50_km", "within_100_km", "coordinates_null"]
    both = geolookup.score(pair, truth=feed, fail_if="ipv4.country_agree < 90%")
    assert both.failed[0].failed == ["2.ipv4.country_agree"]
    assert list(both.gates[0].measured) == ["1.ipv4.country_agree", "2.ipv4.country_agree"]


def test_a_gate_does_not_pass_unmeasured(pair: tuple[Path, Path], feed: Path) -> None:
    for gate, told in (
        ("km_p50 > 10", "states nothing"),
        ("requests.country_agree < 95%", "--traffic"),
        ("country_agree < 95", "write a percentage"),
        ("country_agrees < 95%", "did you mean 'country_agree'"),
        ("all.country_agree < 95%", "no metric 'all.country_agree'"),
        ("qqqq < 1", "docs/data/score.md"),
        ("km_p50 > 1%", "kilometres"),
        ("country_agree", "write one like"),
    ):
        with pytest.raises(geolookup.DiffError, match="gate") as raised:
            geolookup.score(pair[1], truth=feed, fail_if=gate)
        assert told in str(raised.value)
