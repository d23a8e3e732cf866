"""Text of bgpdump: origins over all lines of a prefix, other columns, lines that are no routes."""

from __future__ import annotations

import pyarrow as pa
import pytest
from geolookup_builder.sources.reading import delimited
from geolookup_builder.sources.reading.origins import origin, origins

import geolookup
from tests.builder.sources.readings import Read
from tests.builder.sources.recipes import one
from tests.conftest import Build

ROUTES = [
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
    rest = "IGP|10.0.0.1|0|0|3356:3 3356:86|NAG||"
    return f"{kind}|1763600000|{flag}|10.0.0.1|3000|{network}|{path}|{rest}\n"


TEXT = "".join(line(*each) for each in ROUTES)
RECIPE = one("bgpdump", "rib")


@pytest.mark.parametrize("block", [200, 1 << 20])
def test_a_table(read: Read, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", block)
    for text in (
        TEXT,
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("TABLE_DUMP2", "TABLE_DUMP"),
        TEXT.replace("|10.0.0.1|0|0|3356:3 3356:86|NAG||", ""),  # as -M writes it
    ):
        reading = read({"rib": text}, RECIPE)
        source = reading.source
        assert (source.read, source.rejected.total(), dict(source.nulled)) == (11, 0, {"asn": 1})
        assert {net: each["asn"] for net, each in reading.ranges().items()} == ORIGINS


BAD = {
    line("8.8.8.0/33", "1"): "not a prefix length",
    line("8.8.8.1/24", "1"): "host bits set",
    line("8.8.8", "1"): "not an address",
    line("", "1"): "not an address",
    line("8.8.8.0/24", "1", "BGP4MP"): "not a route of a table",
    line("8.8.8.0/24", "1", flag="W"): "not a route of a table",
    "TABLE_DUMP2|0|B|x\n": "wrong number of cells",
    line("8.8.8.0/24|", "1"): "wrong number of cells",
}


def test_bad_lines_are_rejected_with_their_numbers(read: Read) -> None:
    text = TEXT + "".join(BAD) + line("9.9.9.0/24", "3000 19281")
    reading = read({"rib": text}, RECIPE)
    assert reading.source.read == 12 + len(BAD)
    assert reading.bad_lines() == list(enumerate(BAD.values(), len(ROUTES) + 1))
    assert reading.values("asn", "9.9.9.9") == [19281]


def test_a_row_is_explained_by_the_first_line_of_its_origin(build: Build) -> None:
    text = RECIPE.replace('name = "t"', 'name = "t"\nexplain = "full"')
    dataset, _ = build({"rib": TEXT}, text)
    with geolookup.open(dataset) as engine:
        row = engine.explain("8.8.8.8")["layers"]["asn"]["row"]
    assert row == {"file": "rib", "line": 3, "range": "8.8.8.0-8.8.8.255"}


PATHS: list[tuple[list[int | list[int]], int]] = [
    ([1, 2], 2),
    ([1, 2, 2, 2], 2),
    ([], 0),
    ([64512], 0),
    ([3, 64512, 65534, 4_200_000_000], 3),
    ([3, 0], 3),
    ([3, [7]], 7),
    ([3, [7, 8]], 0),
    ([3, [64512]], 3),
    ([3, [64512, 7]], 0),
    ([3, 1 << 32], 3),
]


def test_the_origin_of_a_path() -> None:
    for path, expected in PATHS:
        assert origin(path) == expected, path
    halves = pa.array(["7 3.10", "7 {3.10}", "7 {3.10,8}", "3.10 64512", "7 1.0"])
    assert origins(halves).tolist() == [196618, 196618, 0, 196618, 7]
