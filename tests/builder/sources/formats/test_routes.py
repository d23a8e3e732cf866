"""Routing tables in MRT and as text of bgpdump: origins over all lines of a prefix, damage."""

from __future__ import annotations

import gzip
from pathlib import Path as File

import pyarrow as pa
import pytest

from tests.builder.sources.formats.mrt_writing import (
    BGP4MP,
    ROUTES,
    TABLE,
    TABLE_DUMP_V2,
    first_version,
    record,
    table,
)
from tests.builder.sources.readings import Read, one, refused
from tests.internals.builder import delimited, origins
from tests.skips import needs

LINES = [
    ("0.0.0.0/0", "3000 3356"),
    ("8.0.0.0/9", "3000 3356"),
    ("8.8.8.0/24", "3000 36040"),
    ("8.8.8.0/24", "3001 15169 15169"),
    ("8.8.8.0/24", "3002 174 15169"),
    ("9.0.0.0/8", "3000 20"),
    ("9.0.0.0/8", "3001 10"),
    ("9.1.0.0/16", "3000 3356 {5,6}"),
    ("9.1.0.0/16", "3001 7"),
    ("9.2.0.0/16", "3000 {5,6}"),
    ("9.3.0.0/16", "3000 3356 {5}"),
    ("9.4.0.0/16", "3000 3356 64512 65001"),
    ("9.5.0.0/16", ""),
    ("9.6.0.0/16", "3000 3356 23456"),
    ("2600:100::/32", "3000 701"),
    ("8.8.8.0/24", "3003 36040"),  # tables are in order, and need not be
    ("8.8.8.0/24", "3004 36040"),
]
ORIGINS = {
    "8.0.0.0-8.8.7.255": 3356,
    "8.8.8.0/24": 36040,
    "8.8.9.0-8.127.255.255": 3356,
    "9.0.0.0/16": 10,
    "9.1.0.0/16": 7,
    "9.3.0.0/16": 5,
    "9.4.0.0/16": 3356,
    "9.6.0.0/16": 3356,
    "9.7.0.0-9.255.255.255": 10,
    "2600:100::/32": 701,
}


def line(network: str, path: str, kind: str = "TABLE_DUMP2", flag: str = "B") -> str:
    remainder = "IGP|10.0.0.1|0|0|3356:3 3356:86|NAG||"
    return f"{kind}|1763600000|{flag}|10.0.0.1|3000|{network}|{path}|{remainder}\n"


TEXT = "".join(line(*item) for item in LINES)
OF_LINES = one("bgpdump", "rib")


@pytest.mark.parametrize("block", [200, 1 << 20])
def test_a_table_as_text(read: Read, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", block)
    for text in (
        TEXT,
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("TABLE_DUMP2", "TABLE_DUMP"),
        TEXT.replace("|10.0.0.1|0|0|3356:3 3356:86|NAG||", ""),  # as -M writes it
    ):
        reading = read({"rib": text}, OF_LINES)
        source = reading.source
        assert (source.read, source.rejected.total(), dict(source.nulled)) == (11, 0, {"asn": 1})
        assert reading.by_network("asn") == ORIGINS


with_ftlbgp = needs("ftlbgp")
DETECTED = {
    "8.0.0.0-8.8.7.255": 3356,
    "8.8.8.0/24": 15169,
    "8.8.9.0-8.127.255.255": 3356,
    "9.0.0.0/16": 10,
    "9.1.0.0/16": 7,
    "9.3.0.0/16": 5,
    "9.4.0.0/15": 3356,
    "9.7.0.0/17": 4_000_000_000,
    "9.7.128.0-9.255.255.255": 10,
    "2600:100::/128": 701,
    "2600:100::1/128": 702,
    "2600:100::2-2600:100:ffff:ffff:ffff:ffff:ffff:ffff": 701,
}


RECIPE = one("mrt", "rib")


@with_ftlbgp
@pytest.mark.parametrize("ids", [False, True])
def test_a_table(read: Read, ids: bool) -> None:
    reading = read({"rib": table(ROUTES, ids=ids)}, RECIPE)
    source = reading.source
    assert (source.read, source.rejected.total(), dict(source.nulled)) == (13, 0, {"asn": 1})
    assert reading.by_network("asn") == DETECTED


@with_ftlbgp
def test_a_table_of_the_first_version(read: Read) -> None:
    """All routes but the one whose AS number takes four bytes."""
    routes = {network: paths for network, paths in ROUTES.items() if network != "9.7.0.0/17"}
    reading = read({"rib": first_version(routes)}, RECIPE)
    assert (reading.source.read, reading.source.rejected.total()) == (12, 0)
    expected = {**DETECTED, "9.7.0.0-9.255.255.255": 10}
    del expected["9.7.0.0/17"], expected["9.7.128.0-9.255.255.255"]
    assert reading.by_network("asn") == expected


@with_ftlbgp
def test_a_file_that_ends_inside_a_record_and_another_file(tmp_path: File) -> None:
    packed = gzip.compress(TABLE, mtime=0)
    for cut in (1, 40, len(TABLE) // 2):
        for name, data in (("rib", TABLE[:-cut]), ("rib.gz", packed[: -min(cut, 200)])):
            problem = refused(tmp_path, name, data, one("mrt", name)).problem
            assert "truncated or damaged" in problem, (name, cut)
    for data in OTHERS:
        assert refused(tmp_path, "rib", data, RECIPE).problem == "not an MRT routing table", data
    packed = gzip.compress(TABLE, mtime=0)
    assert refused(tmp_path, "rib", packed, RECIPE).problem == "this looks like gzip"


OTHERS = (
    b"x",
    bytes(5000),
    record(BGP4MP, 4, bytes(40)),
    record(TABLE_DUMP_V2, 99, bytes(40)),
    record(TABLE_DUMP_V2, 1, b""),
    b"TABLE_DUMP2|0|B|10.0.0.1|3000|8.8.8.0/24|3000 15169|IGP\n",
    TABLE[:8] + b"\xff\xff\xff\xff" + TABLE[12:],
)


def test_braces_and_digits_without_end() -> None:
    """Each brace and each digit is read once; ``int`` refuses a text of 5,000 digits."""
    paths = ["3000 " + "{" * 60_000, "3000 15169 " + "9" * 5_000, "3000 {15169,{5}"]
    assert origins(pa.array(paths)).tolist() == [3000, 15169, 5]
