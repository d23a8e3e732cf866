"""What a score says as a whole: of itself, of gates, of several datasets, of private addresses."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

import geolookup
from geolookup.comparison.scoring.agreement import NAMES
from geolookup.comparison.scoring.text import lines
from tests.comparison.conftest import dataset

_FEED = "8.8.8.0/24,US,,Boston,\n9.9.9.0/24,CH,CH-BE,Bern,\n2a00::/32,FR,,Paris,\n"


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    path = tmp_path / "feed.csv"
    path.write_text(_FEED, encoding="utf-8")
    return path


def test_worst_networks_are_ranked_and_cut(pair: tuple[Path, Path], feed: Path) -> None:
    report = geolookup.score(pair[1], truth=feed)
    worst = report.datasets[0].parts["ipv4"].worst
    country, *more = worst["country"]
    assert more == []
    assert (country.network, country.truth, country.dataset) == ("8.8.8.128/26", "US", "CA")
    assert (country.wrong.count, country.wrong.of, country.source) == (64, 64, "world.csv")
    [city] = worst["city"]
    assert (city.network, city.truth, city.dataset) == ("8.8.8.128/26", "Boston", "Ottawa")
    [network] = report.datasets[0].parts["ipv6"].worst["country"]
    assert network.network == "2a00:0:8000::/33"
    none = geolookup.score(pair[1], truth=feed, worst=0).datasets[0].parts["ipv4"]
    assert list(none.worst.values()) == [[], [], []]
    assert none.country_pairs == []


def test_wrong_countries_are_ranked_and_a_range_is_no_prefix(tmp_path: Path) -> None:
    rows = "8.8.8.0,8.8.8.255,DE\n8.8.9.3,8.8.9.130,FR\n9.9.9.0,9.9.9.255,US\n"
    data = dataset(tmp_path / "data", world=f"first,last,country_code\n{rows}")
    # Two rows of the truth have one code.
    truth = "8.8.8.0/25,US,,Boston,\n8.8.8.128/25,US,,Reno,\n8.8.9.0/24,DE,,,\n9.9.9.0/24,US,,,\n"
    (tmp_path / "t.csv").write_text(truth, encoding="utf-8")
    for most in (10, 1):
        result = geolookup.score(data, truth=tmp_path / "t.csv", worst=most)
        part = result.datasets[0].parts["ipv4"]
        pairs = [(pair.truth, pair.dataset, pair.wrong.count) for pair in part.country_pairs]
        assert pairs == [("US", "DE", 256), ("DE", "FR", 128)][:most]
        assert part.country_pairs[0].wrong.of == 768
        worst = [(item.network, item.wrong.count) for item in part.worst["country"]]
        assert worst == [("8.8.8.0/24", 256), ("8.8.9.3-8.8.9.130", 128)][:most]


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


def test_requests_weigh(pair: tuple[Path, Path], feed: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,n\n8.8.8.129,3\n8.8.8.1,1\n10.0.0.1,7\nx,2\n11.0.0.1,5\n", "utf-8")
    report = geolookup.score(pair[1], truth=feed, traffic=path, ip_column="who", traffic_count="n")
    assert report.requests is not None
    assert (report.requests.total, report.requests.private, report.requests.invalid) == (18, 7, 2)
    country = report.datasets[0].parts["requests"].score.country
    assert (country.agree.count, country.wrong.count, country.agree.of) == (1, 3, 4)


def test_the_report_as_text(pair: tuple[Path, Path], feed: Path) -> None:
    text = list(lines(geolookup.score(pair, truth=feed)))
    golden = Path(__file__).with_name("report.txt").read_text(encoding="utf-8").splitlines()
    shown = [line.replace(str(pair[0].parents[1]), "…") for line in text[3:]]
    assert shown == golden
