"""Dates that files state: read for each format, and used unless the recipe states a date."""

from __future__ import annotations

import gzip
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.builder.sources.formats.mmdb_writing import mmdb
from tests.builder.sources.formats.test_prefix_lists import AWS, AZURE, CLOUDFLARE, GOOGLE, ORACLE
from tests.builder.sources.readings import one
from tests.conftest import build_at
from tests.internals.builder import FORMATS, Member, Options, compile_recipe, date_in, loading
from tests.internals.progress import Progress
from tests.skips import needs

NETWORK = "8.8.8.0/24"
TREE = mmdb({NETWORK: {"country": {"iso_code": "US"}}})  # built at 1,700,000,000
VERSION = "2|ripencc|1700693999|2|19830705|20231122|+0100\n"
#: Format, content, date. The first lines are as the publishers of the files write them.
STATED: list[tuple[str, str | bytes, str | None]] = [
    ("mmdb", TREE, "2023-11-14"),
    ("mmdb", gzip.compress(TREE), "2023-11-14"),
    ("ipinfo", TREE, "2023-11-14"),
    ("ipinfo", "network,asn,name,domain\n", None),
    ("rir", VERSION + "ripencc|NL|ipv4|193.0.0.0|2048|19930901|allocated\n", "2023-11-22"),
    ("rir", "# 2026\n2.3|apnic|20260101|2|19830613|20251231|+1000\n", "2025-12-31"),
    ("rir", "2|arin|1700567896530|2|19700101|00000000|-0500\n", None),
    ("rir", "ripencc|NL|ipv4|193.0.0.0|2048|20260901|allocated\n", None),
    ("pfx2as", "; IP-ASN32-DAT file\n; Original file : data/rib.20140513.0600.bz2\n", "2014-05-13"),
    ("pfx2as", "8.8.8.0\t24\t64500\n", None),
    ("tor", "@type tordnsel 1.0\nDownloaded 2026-01-31 12:00:00\n", "2026-01-31"),
    ("tor", "8.8.8.8\n", None),
    ("cidr-list", "; Spamhaus DROP List\n; Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\n",
     "2024-01-01"),
    ("cidr-list", "#\n# Source File Date: Thu Sep 10 23:59:49 UTC 2026\n#\n", "2026-09-10"),
    ("cidr-list", f"{NETWORK} ; Last-Modified: 2026-01-01\n", None),
    ("cloud", json.dumps(AWS), "2026-11-20"),
    ("cloud", json.dumps(GOOGLE, indent=2), "2026-11-20"),
    ("cloud", json.dumps(ORACLE), "2026-11-20"),
    ("cloud", json.dumps(AZURE), None),
    ("cloud", json.dumps(CLOUDFLARE), None),
    ("csv", "# Last-Modified: 2026-01-01\nnetwork,isp\n", None),
]  # fmt: skip


def member(content: str | bytes) -> Member:
    data = content if isinstance(content, bytes) else content.encode()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    return Member("a", lambda: io.BytesIO(data))


@needs("maxminddb")
@pytest.mark.parametrize(("name", "content", "date"), STATED)
def test_of_each_format(name: str, content: str | bytes, date: str | None) -> None:
    assert FORMATS[name].stated_date(member(content)) == date


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("20261120", "2026-11-20"),
        ("2026-11-20-00-33-12", "2026-11-20"),
        ("1763600000", "2025-11-20"),
        ("2026-02-30T00:00:00Z", None),
        ("19700101", None),
        ("99999999999", None),
        ("9999999999", None),  # in the year 2286
        ("Fri, 31 Dec 9999 23:59:59 GMT", None),
        ("", None),
    ],
)
def test_days(text: str, day: str | None) -> None:
    assert date_in(text) == day


def test_a_day_in_the_future_is_not_a_date() -> None:
    """Its data would never be too old. Clocks may differ by a day."""
    today = datetime.now(UTC).date()
    for days in (0, 1, 10, 10_000):
        day = (today + timedelta(days=days)).isoformat()
        assert date_in(day) == (day if days <= 1 else None)


def dates(dataset: Path) -> list[str | None]:
    with geolookup.open(dataset) as engine:
        return [source.date for source in engine.metadata.sources]


@needs("maxminddb")
def test_a_build_of_a_file(tmp_path: Path) -> None:
    """``geolookup build FILE.mmdb``: the age is known, and ``max_age`` compares it."""
    (tmp_path / "a.mmdb").write_bytes(TREE)
    recipe = loading.load(tmp_path / "a.mmdb")
    compile_recipe(recipe, tmp_path / "dataset", Options(), Progress(silent=True))
    assert dates(tmp_path / "dataset") == ["2023-11-14"]
    with geolookup.open(tmp_path / "dataset", max_age=1_000_000, on_stale="refuse") as engine:
        assert engine.metadata.age.date == "2023-11-14"
    with pytest.raises(geolookup.DatasetError, match=r"a\.mmdb, 2023-11-14\), above max_age"):
        geolookup.open(tmp_path / "dataset", max_age=1, on_stale="refuse")


def test_several_files(tmp_path: Path) -> None:
    """The oldest date is that of the source; none if one of the files states none."""
    row = "ripencc|NL|ipv4|{}|2048|19930901|allocated\n"
    files: dict[str, Any] = {
        "a.txt": VERSION + row.format("193.0.0.0"),
        "b.txt": VERSION.replace("20231122", "20231101") + row.format("193.1.0.0"),
    }
    dataset, _ = build_at(tmp_path, files, one("rir", "*.txt"))
    assert dates(dataset) == ["2023-11-01"]
    files["c.txt"] = row.format("193.2.0.0")
    dataset, _ = build_at(tmp_path, files, one("rir", "*.txt"))
    assert dates(dataset) == [None]
