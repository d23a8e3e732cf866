"""Files of another kind than a format reads: one line that names the kind and the remedy."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from geolookup_builder.sources import FORMATS

from tests.builder.sources.recipes import one, refused
from tests.filesystem.test_signatures import FILES
from tests.skips import needs

#: Options that a format demands, and the formats that read a kind.
OPTIONS = {
    "cidr-list": 'fields = { isp = "x" }',
    "dbip": 'layout = "country-lite"',
    "ip2location": "db = 1",
    "ip2proxy": "db = 2",
}
READ = {
    ("mmdb", "MMDB"), ("parquet", "Parquet"), ("ipinfo", "Parquet"),
    *(("geofeed", name) for name in FILES if name.startswith("UTF-")),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=needs(*["maxminddb"] * (name == "mmdb"))) for name in FORMATS],
)
def test_a_file_of_another_kind(tmp_path: Path, name: str) -> None:
    text = one(name, "a.data", OPTIONS.get(name, ""))
    for kind, (content, called) in FILES.items():
        if (name, kind) not in READ:
            error = refused(tmp_path, "a.data", content, text)
            assert str(error).startswith(f"{tmp_path / 'a.data'}: this looks like {called}; "), kind


def test_auto(tmp_path: Path) -> None:
    for kind in [name for name in FILES if name not in ("Parquet", "MMDB")]:
        content, called = FILES[kind]
        error = refused(tmp_path, "a.data", content, one("auto", "a.data"))
        assert error.problem == f"not recognised: this looks like {called}"


def test_another_kind_than_the_name_says(tmp_path: Path) -> None:
    kinds = {".gz": "gzip", ".xz": "xz", "zip": "zip", "tgz": "gzip"}
    for name in ("a.csv.gz", "a.csv.xz", "a.csv.bz2", "a.zst", "a.zip", "a.tgz"):
        for kind in ("HTML", "Parquet", "gzip", "zip", "xz", "PDF", "SQLite"):
            if kinds.get(name[-3:]) == kind:
                continue
            content, called = FILES[kind]
            error = refused(tmp_path, name, content, one("csv", name))
            assert error.problem == f"this looks like {called}, not as its name says", (name, kind)


def test_packed_files_of_another_kind(tmp_path: Path) -> None:
    for kind, (content, called) in FILES.items():
        error = refused(tmp_path, "a.gz", gzip.compress(content), one("csv", "a.gz"))
        assert error.problem == f"this looks like {called}", kind
