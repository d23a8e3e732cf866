"""MRT tables: origins, containers, damage; and the same table as the text of bgpdump."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import subprocess
from pathlib import Path as File

import pytest

from tests.builder.sources.formats.mrt_writing import (
    BGP4MP,
    ROUTES,
    TABLE,
    TABLE_DUMP_V2,
    old_table,
    record,
    table,
    table_record,
)
from tests.builder.sources.readings import Read, Reading
from tests.builder.sources.recipes import one, refused
from tests.skips import needs

pytestmark = needs("ftlbgp")

FOUND = {
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


def origins(reading: Reading) -> dict[str, int]:
    return {network: each["asn"] for network, each in reading.ranges().items()}


RECIPE = one("mrt", "rib")


@pytest.mark.parametrize("ids", [False, True])
def test_a_table(read: Read, ids: bool) -> None:
    reading = read({"rib": table(ROUTES, ids=ids)}, RECIPE)
    source = reading.source
    assert (source.read, source.rejected.total(), dict(source.nulled)) == (13, 0, {"asn": 1})
    assert origins(reading) == FOUND


def test_the_first_version_packed_and_named(read: Read) -> None:
    small = {net: paths for net, paths in ROUTES.items() if net != "9.7.0.0/17"}
    reading = read({"rib": old_table(small)}, RECIPE)
    assert (reading.source.read, reading.source.rejected.total()) == (12, 0)
    assert reading.values("asn", "8.8.8.8", "2600:100::2", "9.4.0.1") == [15169, 701, 3356]
    files = {"rib.gz": gzip.compress(TABLE, mtime=0), "names.csv": b"15169,Google\n"}
    reading = read(files, one("mrt", "rib.gz", 'names = "names.csv"'))
    assert reading.stated("8.8.8.8") == [{"asn": 15169, "asn_organization": "Google"}]


def test_a_folder_of_tables(read: Read, tmp_path: File) -> None:
    """Of two tables the later one decides over a prefix that both have."""
    later = table({"8.8.8.0/24": [[3000, 36040]]})
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "rib.20261120.0000.bz2").write_bytes(bz2.compress(TABLE))
    (tmp_path / "tables" / "rib.20261120.0200.xz").write_bytes(lzma.compress(later))
    reading = read({}, one("mrt", str(tmp_path / "tables"), 'releases = "all"'))
    assert (reading.source.read, reading.source.duplicates) == (14, 1)
    assert reading.values("asn", "8.8.8.8", "8.0.0.1") == [36040, 3356]


def test_a_route_that_is_damaged_is_rejected(read: Read) -> None:
    whole = table_record(50, "9.9.9.0/24", [[3000, 19281]])
    cut = record(TABLE_DUMP_V2, 2, whole[12:-9])
    data = TABLE + cut + table_record(51, "9.9.10.0/24", [[3000, 42]])
    reading = read({"rib": data}, RECIPE)
    source = reading.source
    assert dict(source.rejected) == {"not a route of a table": 1}
    assert (source.read, reading.values("asn", "9.9.10.1")) == (15, [42])
    assert [line for line, _ in reading.bad_lines()] == [sum(map(len, ROUTES.values())) + 1]


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


def test_the_text_of_bgpdump_gives_the_same(read: Read, tmp_path: File) -> None:
    if shutil.which("bgpdump") is None:
        pytest.skip("no bgpdump here")
    (tmp_path / "table").write_bytes(TABLE)
    command = ["bgpdump", "-m", str(tmp_path / "table")]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    reading = read({"rib.txt": text}, one("bgpdump", "rib.txt"))
    assert (reading.source.read, reading.source.rejected.total()) == (13, 0)
    assert origins(reading) == FOUND
