"""A file of each format, damaged or of another kind: read, or refused in one line."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from geolookup_builder.sources import FORMATS

from geolookup.errors import BuildError
from tests.builder.sources.readings import read_at
from tests.builder.sources.recipes import one, refused
from tests.builder.sources.test_auto import FILES, HOSTING, LIBRARIES, beside
from tests.filesystem.test_signatures import FILES as KINDS
from tests.skips import needs
from tests.tiers import scaled

#: Options that a format demands.
OPTIONS = {"cidr-list": HOSTING}


def damaged(whole: bytes, turns: int, seed: str) -> Iterator[bytes]:
    """A part of a file, then the whole of it with one bit flipped, at ``turns`` places."""
    rng = random.Random(seed)
    for _ in range(turns):
        at = rng.randrange(1, len(whole))
        yield whole[:at]
        yield whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs(*LIBRARIES.get(name, "").split())) for name in FILES]
)
def test_cut_or_changed_anywhere(tmp_path: Path, name: str) -> None:
    """No row is missing from the counts: a bit makes at most one line of one, or one of two."""
    file, content = next(iter(FILES[name].items()))
    whole = content if isinstance(content, bytes) else content.encode()
    text = one(name, "*.csv" if name == "maxmind" else file, OPTIONS.get(name, ""))
    most = read_at(tmp_path, {file: whole, **beside(name)}, text).source.read + 1
    told = list[str]()
    for data in damaged(whole, scaled(4, 40), name):
        try:
            source = read_at(tmp_path, {file: data}, text).source
        except BuildError as error:
            told.append(str(error))
        else:
            assert source.rejected.total() <= source.read <= most, data
    assert all(each.startswith(str(tmp_path)) and "\n" not in each for each in told)


#: Options that a format demands, and the formats that read a kind.
DEMANDED = {
    "cidr-list": 'fields = { isp = "x" }',
    "dbip": 'layout = "country-lite"',
    "ip2location": "db = 1",
    "ip2proxy": "db = 2",
}
READ = {
    ("mmdb", "MMDB"), ("parquet", "Parquet"), ("ipinfo", "Parquet"),
    *(("geofeed", name) for name in KINDS if name.startswith("UTF-")),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs(*["maxminddb"] * (name == "mmdb"))) for name in FORMATS]
)
def test_a_file_of_another_kind(tmp_path: Path, name: str) -> None:
    text = one(name, "a.data", DEMANDED.get(name, ""))
    for kind, (content, called) in KINDS.items():
        if (name, kind) not in READ:
            error = refused(tmp_path, "a.data", content, text)
            assert str(error).startswith(f"{tmp_path / 'a.data'}: this looks like {called}; "), kind


def test_another_kind_than_the_name_says(tmp_path: Path) -> None:
    kinds = {".gz": "gzip", ".xz": "xz", "zip": "zip", "tgz": "gzip"}
    for name in ("a.csv.gz", "a.csv.xz", "a.csv.bz2", "a.zst", "a.zip", "a.tgz"):
        for kind in ("HTML", "Parquet", "gzip", "zip", "xz", "PDF", "SQLite"):
            if kinds.get(name[-3:]) == kind:
                continue
            content, called = KINDS[kind]
            error = refused(tmp_path, name, content, one("csv", name))
            assert error.problem == f"this looks like {called}, not as its name says", (name, kind)
    for kind, (content, called) in KINDS.items():
        error = refused(tmp_path, "a.gz", gzip.compress(content), one("csv", "a.gz"))
        assert error.problem == f"this looks like {called}", kind
    for kind in [name for name in KINDS if name not in ("Parquet", "MMDB")]:
        content, called = KINDS[kind]
        error = refused(tmp_path, "a.data", content, one("auto", "a.data"))
        assert error.problem == f"not recognised: this looks like {called}"
