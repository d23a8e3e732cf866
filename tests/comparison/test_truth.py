"""Ground truth in its usual forms: geofeeds, sources, tables of addresses; and other files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import geolookup
from tests.comparison.conftest import dataset
from tests.internals.comparison import Score

_DATA = (
    "network,country_code,region_code,city_name,latitude,longitude\n"
    "202.196.224.0/24,AT,9,Vienna,48.2,16.37\n"
    "2.125.160.0/24,GB,WBK,Boxford,51.45,-1.36\n"
    "2a02:ecc0::/29,US,NJ,Newark,40.7,-74.2\n"
)


DatasetScore = Callable[..., Score]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dataset(tmp_path_factory.mktemp("scored") / "data", world=_DATA)


@pytest.fixture
def score(scored: Path, tmp_path: Path) -> DatasetScore:
    """Score the dataset by a truth of a text, a geofeed by its name."""

    def scored_by(truth: str | bytes, name: str = "feed.csv", **options: Any) -> Score:
        data = truth.encode() if isinstance(truth, str) else truth
        (tmp_path / name).write_bytes(data)
        return geolookup.score(scored, truth=tmp_path / name, **options)

    return scored_by


def counts(result: Score, part: str = "ipv4") -> dict[str, tuple[int, ...]]:
    """By level: how many agree, are wrong and are missing."""
    levels = result.datasets[0].parts[part].levels
    kinds = ("agree", "wrong", "missing")
    return {
        level: tuple(getattr(agreement, kind).count for kind in kinds)
        for level, agreement in levels.items()
    }


@pytest.mark.long
def test_geofeeds_from_the_wild(scored: Path, shared_data: Path) -> None:
    for name in ("geofeed-valid.csv", "geofeed-valid-lax.csv", "geofeed-valid-utf8-bom.csv"):
        report = geolookup.score(scored, truth=shared_data / "geofeed" / name)
        assert report.truth[0].format == "geofeed"
        assert (report.truth[0].rows, report.truth[0].rejected) == (3, 0)
        nine = (9, 0, 0)
        assert counts(report) == {"country": nine, "region": nine, "city": nine}
        all_ipv6 = (1 << 35, 0, 0)
        assert counts(report, "ipv6") == {
            "country": all_ipv6, "region": all_ipv6, "city": (0, 1 << 35, 0)
        }  # fmt: skip
    path = shared_data / "geofeed" / "geofeed-invalid-network.csv"
    report = geolookup.score(scored, truth=path, truth_format="geofeed")
    assert (report.truth[0].rows, report.truth[0].rejected) == (2, 1)
    assert counts(report, "ipv6")["country"] == (1 << 35, 0, 0)


def test_the_first_truth_decides(scored: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_text("202.196.224.0/25,AT,,,\n202.196.225.0/24,,,,\n", encoding="utf-8")
    other.write_text("ip,country\n202.196.224.1,DE\n202.196.224.200,DE\n2a02:ecc0::1,US\n", "utf-8")
    report = geolookup.score(scored, truth=[one, other])
    assert [file.format for file in report.truth] == ["geofeed", "addresses"]
    assert counts(report)["country"] == (128, 1, 0)
    # An address in IPv6 is less than one network of /64: the JSON has at least 1.
    assert counts(report, "ipv6")["country"] == (1, 0, 0)
    assert counts(geolookup.score(scored, truth=[other, one]), "ipv4")["country"] == (127, 2, 0)


_ROWS: list[dict[str, str | None]] = [
    {"Address": "202.196.224.9", "Country": "at", "State": "AT-9", "City": "VIENNA"},
    {"Address": "::ffff:2.125.160.7", "Country": "GB", "State": "Berkshire", "City": None},
    {"Address": "10.0.0.1", "Country": "GB", "State": None, "City": None},
]


def test_tables_of_every_format(scored: Path, tmp_path: Path) -> None:
    lines = [",".join(_ROWS[0]), *(",".join(cell or "" for cell in row.values()) for row in _ROWS)]
    (tmp_path / "t.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _ROWS), "utf-8")
    table = pa.Table.from_pylist(_ROWS)
    encoded = table.set_column(0, "Address", table["Address"].dictionary_encode())
    parquet.write_table(encoded, tmp_path / "t.parquet")
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        report = geolookup.score(scored, truth=tmp_path / name)
        file = report.truth[0]
        assert (file.format, file.rows, file.rejected, file.nulled) == ("addresses", 3, 0, 0)
        # The region of the second is a name, the dataset's a code: they cannot be compared.
        levels = {"country": (2, 0, 0), "region": (1, 0, 0), "city": (1, 0, 0)}
        assert counts(report, "ipv4") == levels, name


def test_countries_by_another_code(scored: Path, tmp_path: Path) -> None:
    """``UK`` and ``EL`` are compared as the datasets name them, also before a region."""
    results = []
    for code in ("GB", "UK", "uk"):
        path = tmp_path / f"{code}.csv"
        path.write_text(f"ip,country,state\n2.125.160.7,{code},{code.upper()}-ENG\n", "utf-8")
        results.append(counts(geolookup.score(scored, truth=path), "ipv4"))
    assert results[0] == results[1] == results[2]
    assert results[0]["country"] == (1, 0, 0)


_UNUSABLE = (
    ("t.csv", "", "auto", "empty"),
    ("t.csv", "nothing known\n", "auto", "not recognised"),
    ("t.csv", "198.51.100.7;x;y\n", "auto", "name its format by --truth-format"),
    ("t.csv", "ip,country\n", "auto", "no row states"),
    ("t.csv", "ip,note\n198.51.100.7,x\n", "auto", "no column of a country"),
    ("t.csv", "ip,lat\n198.51.100.7,1\n", "auto", "no column of a country"),
    ("t.csv", "ip,lat,latitude,lon\n198.51.100.7,1,1,1\n", "auto", "two columns of the latitude"),
    ("t.csv", "ip,addr,cc\n198.51.100.7,x,US\n", "auto", "two columns of the address"),
    ("t.csv", "ip,country\n198.51.100.7,US,9\n", "addresses", "cells where"),
    ("t.csv", "198.51.100.7\n198.51.100.8\n", "auto", "t.csv: not recognised; correct"),
    ("t.csv", "3325256711;x\n", "auto", "t.csv: not recognised; correct"),
    ("t.csv", "ip,country\n10.0.0.1,US\nx,US\n", "auto", "no row states"),
    ("t.csv", "ip,own.site\n198.51.100.7,US\n", "auto", "no dataset has the column 'own.site'"),
    ("t.csv", "network,own.site\n198.51.100.0/24,US\n", "auto", "unknown column 'own.site'"),
    ("t.csv", b"ip,state\n198.51.100.7,\xff\n", "auto", "column 'state' is not UTF-8"),
    ("t.csv", b"ip,city\n198.51.100.7,\xff\n", "auto", "column 'city' is not UTF-8"),
    ("t.csv", "a,country\n198.51.100.7,US\n", "addresses", "no column of add"),
    ("t.xyz", "ip,country\n", "addresses", "suffix"),
    ("t.csv", "x\n", "geofed", "did you mean 'geofeed'"),
)


def test_what_cannot_be_used_is_told_without_an_address(score: DatasetScore) -> None:
    for name, truth, kind, told in _UNUSABLE:
        with pytest.raises(geolookup.GeoLookupError) as raised:
            score(truth, name, truth_format=kind)
        assert told in str(raised.value), truth
        assert "198.51.100.7" not in str(raised.value)
        assert "3325256711" not in str(raised.value)
        assert "\n" not in str(raised.value)


def test_what_is_not_used_is_named_and_counted(score: DatasetScore) -> None:
    """A column of another name, and the region of another country."""
    rows = "8.8.8.8,US,US-CA,x\n8.8.8.9,US,FR-75,y\n8.8.8.7,US,Texas,\n"
    (file,) = score(f"ip,country,region,comment\n{rows}").truth
    assert (file.unread, file.nulled) == (("comment",), 1)
    (file,) = score("network,country_code,country_name\n8.8.8.0/24,US,USA\n", "a.csv").truth
    assert (file.format, file.unread) == ("csv", ("country_name",))
