"""``explain`` on a dataset that keeps the rows of its sources: the additions, and their origin."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as papq
import pytest

import geolookup
from tests.archives.test_pack import digests
from tests.builder.building import recipe as recipe_of
from tests.conftest import Build, build_at
from tests.damage import copied
from tests.internals.archives import pack, unpack
from tests.internals.builder import delimited
from tests.internals.dataset import layout as fmt

FILES = {
    "top.csv": 'network,isp,city_name\n\n8.8.8.0/26,"To\np",\n8.8.8.64/26,,Berlin\n9.0.0.0/8,,\n',
    "wide.csv": "first,last,isp,asn\n0.0.0.0,255.255.255.255,Never,0\n8.0.0.0,10.0.0.9,Wide,5\n",
}
SOURCES = ('path = "top.csv"\nname = "Top"\ndate = 2026-01-31\nlicence = "L"', 'path = "wide.csv"')
TOP = {"source": "Top", "date": "2026-01-31", "licence": "L", "file": "top.csv"}
WIDE = {
    "source": "wide.csv",
    "date": None,
    "licence": None,
    "file": "wide.csv",
    "line": 3,
    "range": "8.0.0.0-10.0.0.9",
    "values": {"isp": {"isp": "Wide"}, "asn": {"asn": 5}},
}

RECORDS = [
    {"network": network, "country": "US", "continent": "NA"}
    for network in ("8.8.8.0/24", "8.8.4.0/24")
]


def full(*sources: str) -> str:
    return recipe_of(*sources).replace("\n", '\nexplain = "full"\n', 1)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_at(tmp_path_factory.mktemp("full"), {**FILES}, full(*SOURCES))[0]


@pytest.fixture(scope="module")
def engine(dataset: Path) -> Iterator[geolookup.Engine]:
    with geolookup.open(dataset) as opened:
        yield opened


def places(dataset: Path, *addresses: str) -> list[tuple[str, int | None]]:
    with geolookup.open(dataset) as engine:
        rows = [engine.explain(address)["sources"][0] for address in addresses]
    return [(row["file"], row["line"]) for row in rows]


def test_what_each_source_says(engine: geolookup.Engine) -> None:
    explained = engine.explain("8.8.8.8")
    said, wide = {"isp": "To\np"}, "8.0.0.0-9.255.255.255"
    top = {**TOP, "line": 3, "range": "8.8.8.0-8.8.8.63", "values": {"isp": said}}
    assert explained["sources"] == [top, WIDE]
    position = ("file", "line", "range")
    # As far as the source decides: private space (no lookup reaches it) ends it.
    of_wide = {"range": wide, "values": {"asn": 5}, "same_values": wide, "prefix": "8.0.0.0/7"}
    of_top = {"values": said, "same_values": "8.8.8.0-8.8.8.63", "prefix": "8.8.8.0/26"}
    known = {layer: item for layer, item in explained["layers"].items() if item}
    assert known == {
        layer: {name: row[name] for name in ("source", "date", "licence", "range")}
        | stated
        | {"row": {name: row[name] for name in position}}
        for layer, row, stated in (("isp", top, of_top), ("asn", WIDE, of_wide))
    }


def columns(dataset: Path, name: str) -> dict[str, list[Any]]:
    with pa.ipc.open_file(dataset / name) as reader:
        result: dict[str, list[Any]] = reader.read_all().to_pydict()
    return result


def test_only_rows_that_decide_are_kept(build: Build) -> None:
    text = "network,isp\n8.8.8.0/24,a\n8.8.8.0/24,b\n10.0.0.0/8,c\n8.8.8.0/25,\n8.8.8.128/25,d\n"
    dataset, _ = build({"a.csv": text}, full('path = "a.csv"'))
    assert columns(dataset, fmt.EXPLAINED_TABLES)["row"] == [1, 3]
    assert columns(dataset, fmt.EXPLAINED_LINES)["line"] == [None, 5]  # and the one after
    assert places(dataset, "8.8.8.8", "8.8.8.200") == [("a.csv", 5), ("a.csv", 6)]


def test_without_it_nothing_is_kept(build: Build, dataset: Path) -> None:
    """Answers and their files are the same."""
    plain, _ = build({**FILES}, recipe_of(*SOURCES))
    before, kept = digests(plain), digests(dataset)
    assert set(before) == {*fmt.FILES, fmt.MANIFEST}
    assert set(kept) - set(before) == {*fmt.EXPLAINING}
    assert {name for name in before if kept[name] != before[name]} == {fmt.MANIFEST}
    stated = recipe_of(*SOURCES).replace("\n", '\nexplain = "sources"\n', 1)
    assert digests(build({**FILES}, stated)[0]) == before
    with geolookup.open(plain) as engine:
        assert engine.metadata.explain == "sources"
        explained = engine.explain("8.8.8.8")
    assert set(explained) == {"ip", "network", "same_sources", "layers"}
    members = {"source", "date", "licence", "range", "values", "same_values", "prefix"}
    assert set(explained["layers"]["isp"]) == members


def test_members_of_archives(build: Build) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, row in (("b.csv", "8.8.8.0/24,b"), ("sub/a.csv", "8.8.4.0/24,a")):
            archive.writestr(name, f"network,isp\n\n{row}\n")
    files = {"z.zip": stream.getvalue(), "y.csv.gz": gzip.compress(b"network\n8.0.0.0/24\n")}
    dataset, _ = build(files, full('path = "z.zip"', 'path = "y.csv.gz"'))
    result = places(dataset, "8.8.8.8", "8.8.4.4", "8.0.0.1")
    assert result == [("z.zip!b.csv", 3), ("z.zip!sub/a.csv", 3), ("y.csv.gz", 2)]


def test_rejected_and_broken_rows_are_counted_as_lines(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 60)
    rows = ["x,bad", "a,b,c,d", '8.{n}.0.0/16,"a\nb"', "", "8.{n}.4.0/24,ok"]
    text, expected, line = "network,isp\n", {}, 2
    for number in range(40):
        for row in rows:
            if row.startswith("8."):
                expected[f"8.{number}.{4 if 'ok' in row else 0}.1"] = line
            line += row.count("\n") + 1
            text += row.format(n=number) + "\n"
    dataset, _ = build({"a.csv": text}, full('path = "a.csv"'))
    assert places(dataset, *expected) == [("a.csv", line) for line in expected.values()]


def test_files_of_a_glob_are_named_from_the_recipes_folder(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for number, name in enumerate(("in/a.csv", "in/deep/b.csv")):
        (tmp_path / name).write_text(f"network,isp\n8.8.{number}.0/24,x\n", encoding="utf-8")
    for pattern, cut in (("in/**/*.csv", ""), (str(tmp_path / "in" / "**" / "*.csv"), "in/")):
        dataset, _ = build_at(tmp_path, {}, full(f"path = '{pattern}'"))
        result = places(dataset, "8.8.0.1", "8.8.1.1")
        assert result == [(name.removeprefix(cut), 2) for name in ("in/a.csv", "in/deep/b.csv")]
        assert str(tmp_path).encode() not in b"".join(
            path.read_bytes() for path in dataset.iterdir()
        )


def test_lines_of_other_formats(build: Build) -> None:
    """Comments above and between, lines of JSON; rows of Parquet are numbered."""
    stream = io.BytesIO()
    papq.write_table(pa.Table.from_pylist(RECORDS), stream)
    feed = "# a feed\n8.8.8.0/24,US,,,\n# more\n\n8.8.4.0/24,DE,,,\n"
    for name, kind, content, lines in (
        ("f.txt", "geofeed", feed, (2, 5)),
        ("i.json", "ipinfo", "\n \n".join(map(json.dumps, RECORDS)), (1, 3)),
        ("i.parquet", "ipinfo", stream.getvalue(), (1, 2)),
    ):
        text = full(f'path = "{name}"').replace('"csv"', f'"{kind}"')
        dataset, _ = build({name: content}, text)
        assert places(dataset, "8.8.8.8", "8.8.4.4") == [(name, line) for line in lines]


def test_the_same_bytes_twice_in_whatever_blocks(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 48)
    assert digests(build_at(tmp_path, {**FILES}, full(*SOURCES))[0]) == digests(dataset)
    # A moved line is another generation.
    moved = FILES["wide.csv"].replace("asn\n", "asn\n\n")
    other, _ = build_at(tmp_path, {**FILES, "wide.csv": moved}, full(*SOURCES))
    manifests = [json.loads((item / fmt.MANIFEST).read_bytes()) for item in (dataset, other)]
    assert manifests[0]["generation"] != manifests[1]["generation"]
    assert manifests[0]["files"][fmt.IPV4] == manifests[1]["files"][fmt.IPV4]


def test_it_is_packed_and_described(dataset: Path, tmp_path: Path) -> None:
    pack(dataset, tmp_path / "d.tar.zst", force=False)
    unpack(tmp_path / "d.tar.zst", tmp_path / "copy", force=False)
    assert digests(tmp_path / "copy") == digests(dataset)
    with geolookup.open(tmp_path / "copy") as engine:
        assert engine.metadata.explain == "full"
        sizes = sum(path.stat().st_size for path in dataset.iterdir() if path.suffix == ".arrow")
        assert engine.metadata.bytes == sizes
        assert len(engine.explain("8.8.8.8")["sources"]) == 2
    for name in fmt.EXPLAINING:  # lookups map none of it
        (tmp_path / "copy" / name).unlink()
    with geolookup.open(tmp_path / "copy") as engine:
        assert engine.lookup("8.8.8.8")["success"]
        assert any(engine.prefixes())
        with pytest.raises(geolookup.DatasetError, match=r"explained_lines\.arrow: missing"):
            engine.explain("8.8.8.8")


#: A column, the bytes that all its values become, and the message.
DAMAGE: dict[str, tuple[str, str, bytes, str]] = {
    "rows": (fmt.EXPLAINED[4], "row", b"\xff", "row 4294967295 in table 0 does not exist"),
    "order": (fmt.EXPLAINED[4], "start", b"\xff", "the intervals are out of order"),
    "ends": (fmt.EXPLAINED_TABLES, "ipv4", b"\xff", "the intervals are out of order"),
    "first": (fmt.EXPLAINED_TABLES, "row", b"\xff", "row 1 in table 0 does not exist"),
    "numbers": (fmt.EXPLAINED_TABLES, "isp", b"\xff", "there is no number for row 1"),
    "layer": (fmt.EXPLAINED_TABLES, "isp", b"\0", "its files differ about isp"),
    "files": (fmt.EXPLAINED_LINES, "file", b"\xee", "there is no file 4008636142"),
    "none": (fmt.EXPLAINED_LINES, "file", b"\0", "there is no source 0"),
    "lines": (fmt.EXPLAINED_LINES, "row", b"\xff", "row 1 does not exist"),
    "values": (fmt.EXPLAINED_NUMBERS, "value", b"\xff", "row 4294967295 does not exist"),
    "silence": (fmt.EXPLAINED_NUMBERS, "value", b"\0", "its files differ about asn"),
    "family": (fmt.EXPLAINED_RANGES, "family", b"\5", "has no range"),
    "range": (fmt.EXPLAINED_RANGES, "last_low", b"\0", "has no range"),
    "wide": (fmt.EXPLAINED_RANGES, "last_high", b"\1", "has no range"),
    "words": (fmt.EXPLAINED_VALUES, "isp", b"\x7f", "row 3 is damaged"),
    "numbered": (fmt.EXPLAINED_VALUES, "asn", b"\2", "is damaged"),
    "sources": (fmt.EXPLAINED_FILES, "source", b"\3", "there is no source 3"),
    "swapped": (fmt.EXPLAINED_FILES, "source", b"\1", "its files differ about asn"),
    "sums": (fmt.EXPLAINED_VALUES, fmt.CHECKSUMS, b"\1", "is damaged"),
}


def test_no_index_is_trusted(dataset: Path, tmp_path: Path) -> None:
    for case, (file, column, byte, problem) in DAMAGE.items():
        copy = copied(dataset, tmp_path / case)
        described = json.loads((copy / fmt.MANIFEST).read_text(encoding="utf-8"))["files"][file]
        offset, length = described["columns"][column]["buffers"][1]
        data = bytearray((copy / file).read_bytes())
        data[offset : offset + length] = byte * length
        (copy / file).write_bytes(data)
        with geolookup.open(copy) as engine:
            with pytest.raises(geolookup.DatasetError, match=problem):
                engine.explain("8.8.8.8")
            assert engine.get("8.8.8.8", "isp") == "To\np", case
    copy = copied(dataset, tmp_path / "not UTF-8")
    path = copy / fmt.EXPLAINED_FILES
    assert b"top.csv" in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(b"top.csv", b"top.cs\xff"))
    with geolookup.open(copy) as engine, pytest.raises(geolookup.DatasetError, match="no file 1"):
        engine.explain("8.8.8.8")


def test_a_source_of_several_tables_has_a_row_of_each(build: Build) -> None:
    city = "network,geoname_id,latitude,longitude\n8.8.8.0/24,,37.4,-122.1\n"
    asn = "network,autonomous_system_number\n8.8.0.0/16,15169\n"
    text = full('path = "*.csv"\nname = "M"').replace('"csv"', '"maxmind"')
    names = "geoname_id,locale_code,continent_code\n1,en,EU\n"
    files = {"c-City-Blocks.csv": city, "a-ASN-Blocks.csv": asn, "c-City-Locations-en.csv": names}
    with geolookup.open(build(files, text)[0]) as engine:
        rows: list[dict[str, Any]] = engine.explain("8.8.8.8")["sources"]
    assert [(row["source"], row["file"], [*row["values"]]) for row in rows] == [
        ("M", "c-City-Blocks.csv", ["location"]),
        ("M", "a-ASN-Blocks.csv", ["asn"]),
    ]


def test_columns_of_a_group_need_not_be_neighbours(tmp_path: Path) -> None:
    own = '[columns]\na = { type = "integer", group = "g" }\nb = "integer"\n'
    own += 'c = { type = "integer", group = "g" }\n[[source]]'
    text = full('path = "own.csv"').replace("[[source]]", own)
    built, _ = build_at(tmp_path, {"own.csv": "network,a,b,c\n8.8.8.0/24,1,2,3\n"}, text)
    with geolookup.open(built) as engine:
        layers = engine.explain("8.8.8.8")["layers"]
    values = {name: decided["values"] for name, decided in layers.items() if decided}
    assert values == {"own.g": {"own.a": 1, "own.c": 3}, "own.b": {"own.b": 2}}
