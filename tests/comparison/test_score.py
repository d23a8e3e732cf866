"""What a score says as a whole: its report, gates, own columns, several datasets, addresses."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict
from pathlib import Path

import pytest

import geolookup
from tests.comparison.conftest import dataset
from tests.conftest import build_at
from tests.internals.comparison import SCORE_NAMES, score_lines

_FEED = "8.8.8.0/24,US,,Boston,\n9.9.9.0/24,CH,CH-BE,Bern,3000\n2a00::/32,FR,,Paris,\n"
_REPORT = Path(__file__).with_name("score_report.txt")


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    path = tmp_path / "feed.csv"
    path.write_text(_FEED, encoding="utf-8")
    return path


def test_report(pair: tuple[Path, Path], feed: Path) -> None:
    files_and_datasets, report = 3, list(score_lines(geolookup.score(pair, truth=feed)))
    assert report[0].endswith("feed.csv, geofeed, 3 rows, 0 rejected, 0 invalid values")
    text = "\n".join([*report[files_and_datasets:], ""])
    assert text == _REPORT.read_text(encoding="utf-8")


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
        assert sum(part.levels["country"].wrong.count for part in item.datasets[0].parts.values())
        text = json.dumps(asdict(item)) + "\n".join(score_lines(item))
        assert "::77" not in text
        assert "8.8.77" not in text


def test_gates(pair: tuple[Path, Path], feed: Path) -> None:
    # NEW knows half of Switzerland, and has a quarter of Boston in Canada.
    gates = [
        "country_agree < 90%",
        "ipv4.country_agree < 90%",
        "ipv4.city_missing > 10%",
        "ipv6.wrong.city > 0.499",
        "missing.postal > 99%",
        "city_agree == 0",
    ]
    report = geolookup.score(pair[1], truth=feed, fail_if=gates)
    measured = {gate: verdict.measured for gate, verdict in zip(gates, report.gates, strict=True)}
    assert measured[gates[0]] == {"ipv4.country_agree": 0.625, "ipv6.country_agree": 0.5}
    assert measured[gates[3]] == {"ipv6.wrong.location.city_name": pytest.approx(0.5)}
    # The truth of IPv6 states no postal code.
    assert measured[gates[4]] == {"ipv4.missing.location.postal_code": 1.0}
    assert [verdict.gate for verdict in report.failed] == gates[:5]
    metrics = report.datasets[0].parts["ipv4"].metrics
    assert {name for name in metrics if "." not in name} == set(SCORE_NAMES)
    # The truth states no coordinates.
    assert {name for name, value in metrics.items() if value is None} == set(SCORE_NAMES[-5:])
    both = geolookup.score(pair, truth=feed, fail_if="ipv4.country_agree < 90%")
    assert both.failed[0].failed == ["2.ipv4.country_agree"]
    assert list(both.gates[0].measured) == ["1.ipv4.country_agree", "2.ipv4.country_agree"]


def test_requests_are_measured_together_and_read_once(
    pair: tuple[Path, Path], feed: Path, tmp_path: Path
) -> None:
    asked = tmp_path / "asked.txt"
    asked.write_text("8.8.8.129\n8.8.8.129\n8.8.8.1\n2a00::1\n10.0.0.1\n", encoding="utf-8")
    gates = ["country_wrong > 49%", "ipv6.country_wrong > 49%"]
    report = geolookup.score(pair, truth=feed, traffic=asked, fail_if=gates)
    assert report.gates[0].measured == {"1.country_wrong": 0.0, "2.country_wrong": 0.5}
    assert report.gates[1].failed == []
    assert {part.unit for one in report.datasets for part in one.parts.values()} == {"requests"}
    assert report.requests is not None
    assert (report.requests.total, report.requests.private) == (5, 1)
    asked.write_text("11.0.0.1\n", encoding="utf-8")
    report = geolookup.score(pair, truth=feed, traffic=asked)
    assert [*score_lines(report)][-1] == "no request is for an address of the truth"


def test_rows_are_the_ranges_that_contradict_or_lack_the_truth(
    pair: tuple[Path, Path], feed: Path, tmp_path: Path
) -> None:
    """NEW knows more than the truth, such as networks and 11.0.0.0/24: no rows."""
    output = tmp_path / "rows.csv"
    geolookup.score(pair[1], truth=feed, rows=output)
    with output.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    places = ("country_code", "city_name")
    sides = [f"location_{name}_{side}" for side in ("before", "after") for name in places]
    assert [(row["first"], row["last"], *(row[name] for name in sides)) for row in rows] == [
        ("8.8.8.128", "8.8.8.191", "US", "Boston", "CA", "Ottawa"),
        ("8.8.8.192", "8.8.8.255", "US", "Boston", "US", ""),
        ("9.9.9.0", "9.9.9.127", "CH", "Bern", "CH", ""),
        ("9.9.9.128", "9.9.9.255", "CH", "Bern", "", ""),
        ("2a00:0:8000::", "2a00:0:ffff:ffff:ffff:ffff:ffff:ffff", "FR", "Paris", "DE", "Berlin"),
    ]
    # No columns of what the truth does not state, such as networks.
    stated = ("country_code", "region_code", "city_name", "postal_code")
    assert [name for name in rows[0] if name.endswith("_before")] == [
        *(f"location_{name}_before" for name in stated),
        "source_location_before",
    ]
    with pytest.raises(geolookup.errors.OutputError, match="exists already"):
        geolookup.score(pair[1], truth=feed, rows=output)
    with pytest.raises(ValueError, match="one dataset"):
        geolookup.score(pair, truth=feed, rows=output, force=True)


def test_fields_that_follow_from_the_country_are_not_the_truth(tmp_path: Path) -> None:
    """A country has a continent and may have one time zone: they count if a source has them."""
    data = dataset(tmp_path / "data", world="network,country_code\n8.8.8.0/24,FR\n")
    for head, cells, stated in (
        ("country_code", "FR", ["country_code"]),
        ("country_code,time_zone", "FR,Europe/Paris", ["country_code", "zone"]),
        ("country_code,continent_code", "FR,EU", ["continent_code", "country_code"]),
    ):
        truth = tmp_path / "truth.csv"
        truth.write_text(f"network,{head}\n8.8.8.0/24,{cells}\n", encoding="utf-8")
        report = geolookup.score(data, truth=truth)
        part = report.datasets[0].parts["ipv4"]
        assert [path.rpartition(".")[2] for path in part.fields] == stated
        names = [name for name in part.metrics if name.startswith("agree.")]
        assert names == [f"agree.{path}" for path in part.fields]
        text = "\n".join(score_lines(report))
        assert ("time.zone agree" in text) == ("zone" in stated)


def test_a_gate_does_not_pass_unmeasured(pair: tuple[Path, Path], feed: Path) -> None:
    for gate, told in (
        ("km_p50 > 10", "states nothing"),
        ("agree.asn < 95%", "states nothing"),
        ("agree.continent < 95%", "states nothing"),  # it follows from the country
        ("agree.country_name < 95%", "no metric"),
        ("all.country_agree < 95%", "--traffic"),
        ("country_agrees < 95%", "did you mean 'country_agree'"),
        ("requests.country_agree < 95%", "no metric 'requests.country_agree'"),
        ("qqqq < 1", "docs/data/compare.md"),
        ("country_agree", "write one like 'country_agree < 95%'"),
    ):
        with pytest.raises(geolookup.errors.DiffError, match="gate") as raised:
            geolookup.score(pair[1], truth=feed, fail_if=gate)
        assert told in str(raised.value)


_OWN = """[dataset]
name = "x"
[columns]
site = { type = "text", private = true }
risk = "integer"
[[source]]
format = "csv"
path = "rows.csv"
"""


def test_own_columns_and_networks(tmp_path: Path) -> None:
    """A private column counts in special-purpose space, another one does not."""
    rows = "network,own.site,own.risk,asn\n10.0.0.0/25,HQ,,\n8.8.8.0/24,A,5,15169\n"
    data = build_at(tmp_path, {"rows.csv": rows}, _OWN)[0]
    ranges, table = tmp_path / "ranges.csv", tmp_path / "table.csv"
    ranges.write_text(
        "network,own.site,own.risk,asn\n10.0.0.0/24,HQ,1,\n8.8.8.0/25,B,5,15169\n"
        "9.9.9.0/24,,7,19281\n",
        encoding="utf-8",
    )
    part = geolookup.score(data, truth=ranges).datasets[0].parts["ipv4"]
    metrics = {name: value for name, value in part.metrics.items() if "." in name}
    assert metrics == pytest.approx(
        {
            "agree.network.asn": 1 / 3,
            "wrong.network.asn": 0,
            "missing.network.asn": 2 / 3,
            "agree.own.site": 1 / 3,
            "wrong.own.site": 1 / 3,
            "missing.own.site": 1 / 3,
            "agree.own.risk": 1 / 3,
            "wrong.own.risk": 0,
            "missing.own.risk": 2 / 3,
        }
    )
    table.write_text("ip,own.site,own_risk\n10.0.0.1,HQ,x\n10.0.0.200,HQ,1\n", encoding="utf-8")
    report = geolookup.score(data, truth=table, fail_if="agree.own.site < 40%")
    assert report.gates[0].measured == {"ipv4.agree.own.site": 0.5}
    assert (report.truth[0].rows, report.truth[0].rejected, report.truth[0].nulled) == (2, 0, 1)
    assert "ipv4, in addresses: only own columns with a truth" in score_lines(report)


def test_coordinates_count_in_rows_only_if_they_are_missing(tmp_path: Path) -> None:
    head = "network,country_code,latitude,longitude\n"
    data = dataset(tmp_path / "data", world=f"{head}8.8.8.0/24,US,1,2\n8.8.9.0/24,US,,\n")
    truth = tmp_path / "truth.csv"
    truth.write_text(f"{head}8.8.8.0/24,US,1.001,2\n8.8.9.0/24,US,1,2\n", encoding="utf-8")
    geolookup.score(data, truth=truth, rows=tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as stream:
        assert [row["first"] for row in csv.DictReader(stream)] == ["8.8.9.0"]


def test_an_empty_path_of_a_truth_is_no_folder(pair: tuple[Path, Path]) -> None:
    with pytest.raises(
        geolookup.errors.DiffError, match="the path of a truth is empty; name a file"
    ):
        geolookup.score(pair[1], truth=["", "feed.csv"])
