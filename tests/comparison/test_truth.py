"""Ground truth and traffic in their usual forms, and other files.

No error quotes an address.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from pyarrow import parquet

import geolookup
from geolookup.errors import TableFileError
from tests.comparison.conftest import dataset
from tests.files.tables import KINDS, packed, written
from tests.internals.comparison import (
    Requests,
    Score,
    Traffic,
    diff,
    lay_over,
    measure,
    open_dataset,
)

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


ADDRESSES = ["8.8.8.129", "8.8.8.1", "2a00::1", "10.0.0.1", "8.8.8.129", "nonsense", None]
COUNTS = [3, 1, 4, 1, 5, 9, 2]


TABLE = pa.table({"status": [200] * 7, "client": ADDRESSES, "hits": COUNTS})
ENCODED = TABLE.set_column(1, "client", TABLE["client"].dictionary_encode())
#: The same addresses as numbers, invalid ones as bytes of another length.
RAW = TABLE.set_column(
    1,
    "client",
    pa.array([*(ip_address(item).packed for item in ADDRESSES[:5] if item), b"x", None]),
)
FILES = {
    **{f"t.{kind}": (TABLE, kind) for kind in KINDS},
    "t.csv.gz": (TABLE, "csv"),
    "raw.parquet": (RAW, "parquet"),
}


def _listed(path: Path) -> Path:
    """Write the requests as a list, one address a line; a line that is none where it is null."""
    lines = [a or "-" for a, n in zip(ADDRESSES, COUNTS, strict=True) for _ in range(n)]
    path.write_text("\r\n".join(lines), encoding="utf-8")
    return path


def _counted(pair: tuple[Path, Path], traffic: Traffic) -> dict[str, Any]:
    comparison = measure(lay_over(open_dataset(pair[0]), open_dataset(pair[1]), traffic))
    return {"requests": comparison.requests, "parts": asdict(comparison)["parts"]}


def test_every_format_counts_alike(pair: tuple[Path, Path], tmp_path: Path) -> None:
    expected = _counted(pair, Traffic(_listed(tmp_path / "list.txt")))
    for name, (table, kind) in FILES.items():
        (tmp_path / name).write_bytes(packed(written(table, kind), Path(name).suffix))
        assert _counted(pair, Traffic(tmp_path / name, "client", "hits")) == expected, name
    named = diff(*pair, traffic=tmp_path / "raw.parquet", ip_column="client", traffic_count="hits")
    assert named.requests == expected["requests"] == Requests(total=25, private=1, invalid=11)
    assert expected["parts"]["all"]["moved"]["country"] == {"count": 8, "of": 13, "share": 8 / 13}


_ERRORS: tuple[tuple[str, str | None, str | None, str], ...] = (
    ("t.csv", "8.8.8.8\n8.8.4.4\n", None, "pass --no-header"),
    ("t.csv", "address,n\n8.8.8.8,1\n", None, "name another by --ip-column; known are address, n"),
    ("t.csv", "ip,n\n8.8.8.8,1\n", "hits", "name another by --traffic-count; known are ip, n"),
    ("t.csv", "ip,n\n8.8.8.8,8.8.4.4\n", "n", "column 'n' holds a value that is not a count"),
    ("t.csv", "ip,n\n8.8.8.8,-1\n", "n", "not a count"),
    ("t.csv", "ip,n\n8.8.8.8,1.5\n", "n", "not a count"),
    ("t.csv", "ip,n\n8.8.8.8,\n", "n", "not a count"),
    ("t.csv", "ip,n\n8.8.8.8,1\n8.8.8.8,8.8.4.4,3\n", "n", "3 cells where the header"),
    ("t.txt", "8.8.8.8\n", "n", "no column 'n'"),
    ("t.dat", "8.8.8.8\n", None, "name the format by --input-format"),
    ("t.parquet", "8.8.8.8\n", None, "damaged or not of the format parquet"),
    ("missing/t.csv", None, None, "directory); check its name and permissions"),
    ("missing/t.txt", None, None, "directory); check its name and permissions"),
)


def test_errors_quote_no_address(pair: tuple[Path, Path], tmp_path: Path) -> None:
    for name, content, count, told in _ERRORS:
        path = tmp_path / name
        if content is not None:
            path.write_text(content, encoding="utf-8")
        with pytest.raises(TableFileError) as raised:
            diff(*pair, traffic=path, traffic_count=count)
        assert str(raised.value).startswith((f"{path}: ", f"{path}, row ")), name
        said = str(raised.value).removeprefix(str(path))  # which may hold any digits
        assert told in said, name
        assert "8.8." not in said
        assert "\n" not in said

    path = tmp_path / "typed.parquet"
    columns = {"number": [1, 2], "ip": ["8.8.8.8", "8.8.4.4"], "share": [1.5, 2.0]}
    pa_parquet.write_table(pa.table(columns), path)
    with pytest.raises(TableFileError, match="column 'share' holds a value that is not a count"):
        diff(*pair, traffic=path, traffic_count="share")
    with pytest.raises(TableFileError, match=r"int64 holds no addresses.*--ip-column"):
        diff(*pair, traffic=path, ip_column="number")
