"""Generic Parquet and JSON lines: the columns and types that they may have, and hostile files.

Strategy: the same rows as CSV, as Parquet and as JSON lines state the same.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as papq
import pytest

from tests.builder.sources.readings import Read, Reading, fields, one, refused
from tests.internals.builder import jsonlines, typed_columns
from tests.internals.filesystem import limits

Record = dict[str, Any]
_COLUMNS = ("network", "country_code", "latitude", "longitude", "asn")
ROWS: list[Record] = [
    dict(zip(_COLUMNS, row, strict=True))
    for row in (
        ("8.8.4.0/24", "CH", 47.5, 8.5, 64500),
        ("8.8.5.7", None, None, None, 4294967295),
        ("2600:1::/32", "NO", -1.0, 0.0, None),
    )
]


def as_csv(rows: list[Record]) -> str:
    stream = io.StringIO(newline="")
    out = csv.DictWriter(stream, list(rows[0]))
    out.writeheader()
    out.writerows(rows)
    return stream.getvalue()


def as_json(rows: Iterable[Record]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def as_parquet(table: pa.Table | list[Record], **options: Any) -> bytes:
    stream = io.BytesIO()
    papq.write_table(table if isinstance(table, pa.Table) else pa.Table.from_pylist(table), stream,
                     **options)  # fmt: skip
    return stream.getvalue()


def _packed(value: int) -> bytes:
    return ip_address(value).packed


EIGHT = 0x08080400
ADDRESSES = (EIGHT, EIGHT + 255)
PACKED, TEXTS = (_packed(EIGHT), _packed(EIGHT + 255)), ("8.8.4.0", "8.8.4.255")
RANGES: dict[str, tuple[pa.DataType, tuple[Any, Any]]] = {
    "int64": (pa.int64(), ADDRESSES),
    "uint32": (pa.uint32(), ADDRESSES),
    "float64": (pa.float64(), ADDRESSES),
    "decimal": (pa.decimal128(20), ADDRESSES),
    "fixed bytes": (pa.binary(4), PACKED),
    "bytes": (pa.binary(), PACKED),
    "large bytes": (pa.large_binary(), PACKED),
    "text in bytes": (pa.binary(), (b"8.8.4.0", b"8.8.4.255")),
    "text": (pa.large_string(), TEXTS),
    "text view": (pa.string_view(), TEXTS),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), TEXTS),
    "dictionary of bytes": (pa.dictionary(pa.int8(), pa.binary()), PACKED),
}


def read_table(read: Read, columns: dict[str, Any], *options: str) -> Reading:
    content = as_parquet(pa.table(columns))
    return read({"a.parquet": content}, one("parquet", "a.parquet", *options))


def test_types_of_ranges(read: Read) -> None:
    for kind, (type_, (first, last)) in RANGES.items():
        ends = {"first": pa.array([first, None], type_), "last": pa.array([last, last], type_)}
        reading = read_table(read, {**ends, "isp": ["x", "y"]})
        assert reading.ranges() == {"8.8.4.0/24": {"isp": "x"}}, kind
        assert reading.source.rejected.total() == 1, kind
    # A text of 16 bytes is not taken for a packed address.
    cells = [b"100.100.100.0/24", _packed(EIGHT), ip_address("2600::1").packed, b"::1", b"123", b""]
    reading = read_table(read, {"network": pa.array(cells, pa.binary()), "isp": list("abcdef")})
    assert reading.stated("8.8.4.0", "8.8.4.1", "2600::1") == [{"isp": "b"}, {}, {"isp": "c"}]
    assert dict(reading.source.rejected) == {"not an address": 2}
    assert reading.source.read == 6


def test_integers(read: Read, tmp_path: Path) -> None:
    first = 0x2600 << 112
    ends = {"first": first, "last": first + 9}
    wide = {end: pa.array([at], pa.decimal256(39)) for end, at in ends.items()}
    text = read({"a.jsonl": as_json([{**ends, "isp": "x"}])}, one("jsonl", "a.jsonl"))
    for reading in (text, read_table(read, {**wide, "isp": ["x"]})):
        assert reading.stated("2600::9", "2600::a") == [{"isp": "x"}, {}]
    reading = read_table(read, {"first": [5], "last": [9], "isp": ["x"]}, "family = 6")
    assert reading.source.addresses["clipped"] == 5
    declared = '[columns]\nid = "integer"\n' + one("parquet", "a.parquet")
    content = as_parquet([{"network": "8.8.8.0/24", "id": 1 << 60}])  # beyond those of a float
    assert read({"a.parquet": content}, declared).values("own.id", "8.8.8.8") == [1 << 60]


#: Ends of ranges, and the reason if they are none.
ENDS: list[tuple[int | None, int | None, str]] = [
    (EIGHT, EIGHT, ""),
    (-1, 5, "not an address"),
    (1 << 40, 1 << 41, "not an address"),
    (EIGHT + 1, EIGHT + 1, ""),
    (1, None, "not an address"),
    (9, 1, "first is after last"),
]


@pytest.mark.parametrize("rows", [1, 1 << 17])
@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_rejected_records_by_number(
    read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, rows: int
) -> None:
    monkeypatch.setattr(jsonlines, "BLOCK_BYTES", 50 * rows)
    monkeypatch.setattr(typed_columns, "BATCH_ROWS", rows)
    records = [{"first": first, "last": last, "isp": "x"} for first, last, _ in ENDS]
    content = as_json(records) if name == "a.jsonl" else as_parquet(records)
    reading = read({name: content}, one(name[2:], name, "family = 4"))
    assert reading.source.read == len(ENDS)
    assert reading.bad_lines() == [(at, why) for at, (*_, why) in enumerate(ENDS, 1) if why]
    assert {reject.file for reject in reading.rejects} == {str(tmp_path / name)}
    texts = [text.text for text in reading.rejects]
    written = [json.dumps(row) for row in records] if name == "a.jsonl" else WRITTEN_ENDS
    assert texts == [text for text, (*_, why) in zip(written, ENDS, strict=True) if why]
    assert reading.ranges() == {"8.8.4.0/31": {"isp": "x"}}


#: As the columns of Parquet are shown.
WRITTEN_ENDS = [f"{first},{'' if last is None else last}" for first, last, _ in ENDS]


NESTED: list[Record] = [
    {
        "range": {"cidr": "8.8.4.0/24"},
        "place": {"geo": {"lat": 47.5, "lon": 8.5}, "codes": [{"iso": "CH"}, {}]},
        "tags": ["hosting", "x"],
        "a.b": "dotted",
    },
    {"range": {"cidr": "8.8.5.0/24"}, "place": {"geo": None, "codes": []}, "tags": []},
    {"range": {"cidr": "8.8.6.0/24"}, "place": None, "tags": None, "a.b": None},
]
MAPPED = (
    'columns = { network = "range.cidr", latitude = "place.geo.lat", longitude = "place.geo.lon", '
    'country_code = "place.codes.0.iso", user_type = "tags.0", isp = "a.b"'
)


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl"])
def test_nested_columns(read: Read, name: str) -> None:
    location = "country_code=CH; latitude=47.5; longitude=8.5"
    expected = fields(f"{location}; isp=dotted; user_type=hosting")
    content: str | bytes = as_json(NESTED)
    mapping = MAPPED
    if name == "a.parquet":  # which has maps and large lists as well
        table = pa.Table.from_pylist(NESTED)
        tags = table["tags"].cast(pa.large_list(pa.string()))
        names = pa.array([[("en", "Alpha")], None, None], pa.map_(pa.string(), pa.string()))
        table = table.set_column(2, "tags", tags).append_column("names", names)
        content, mapping = as_parquet(table), f'{MAPPED}, city_name = "names.en"'
        expected["city_name"] = "Alpha"
    reading = read({name: content}, one(name[2:], name, f"{mapping} }}"))
    assert reading.ranges() == {"8.8.4.0/24": expected}


PATHS: Record = json.loads("""{
  "first": "8.8.4.0", "last": "8.8.4.255", "location.country_code": "CH",
  "location.country_name": "Switzerland", "location.country_languages": ["de"],
  "location.latitude": 47.5, "location.longitude": 8.5, "time.zone": "Europe/Zurich",
  "network.asn": 64500, "network.isp": "x"
}""")


def test_columns_named_by_path(read: Read) -> None:
    """Flat, nested, and as columns of an enriched table; what follows from others is ignored."""
    nested: Record = {"first": PATHS["first"], "last": PATHS["last"]}
    for path, value in PATHS.items():
        group, _, member = path.rpartition(".")
        if group:
            nested.setdefault(group, {})[member] = value
    as_columns = {path.replace(".", "_"): value for path, value in PATHS.items()}
    flat = {path: value for path, value in PATHS.items() if not isinstance(value, list)}
    files: dict[str, str | bytes] = {
        "flat.jsonl": as_json([PATHS]),
        "nested.jsonl": as_json([nested]),
        "columns.jsonl": as_json([as_columns]),
        "flat.parquet": as_parquet([PATHS]),
        "nested.parquet": as_parquet([nested]),
        "flat.csv": as_csv([flat]),
    }
    for name, content in files.items():
        reading = read({name: content}, one("auto", name))
        location = {"country_code": "CH", "latitude": 47.5, "longitude": 8.5}
        location["time_zone"] = "Europe/Zurich"
        assert reading.at("8.8.4.4") == {**location, "asn": 64500, "isp": "x"}
        note = reading.source.note
        assert note.startswith(f"detected {name.rpartition('.')[2]}: columns first, last, ")
        assert note.endswith("ignored: follow from other fields")


def test_unknown_and_odd_values(read: Read) -> None:
    """Not-a-number is unknown, as an empty cell is; what is no coordinate is nulled."""
    nan = float("nan")
    columns = {
        "network": [f"8.8.{at}.0/24" for at in range(4, 9)],
        "latitude": pa.array([nan, float("inf"), 91.0, -0.0, 12], pa.float64()),
        "longitude": pa.array([nan, 1.0, 1.0, 2.0, 3.0], pa.float32()),
        "asn": pa.array([nan, 64500.0, 1e10, 0.0, 64501.5], pa.float64()),
        "postal_code": pa.array([800, None, 1, 2, 3], pa.int16()),
        "isp": pa.array([True, None, False, True, True]),
    }
    reading = read_table(read, columns)
    addresses = ("8.8.4.4", "8.8.5.5", "8.8.7.7", "8.8.8.8")
    assert reading.values("latitude", *addresses) == [None, None, 0, 12]
    assert reading.values("asn", *addresses) == [None, 64500, None, None]
    assert reading.at("8.8.4.4") == {"postal_code": "800", "isp": "true"}
    assert dict(reading.source.nulled) == {"latitude": 2, "longitude": 2, "asn": 2}


def test_keys_that_the_first_records_lack(
    read: Read, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Where no mapping names them they are read from then on; no value of theirs is lost.
    monkeypatch.setattr(jsonlines, "BLOCK_BYTES", 4000)
    rows: list[Record] = [
        {"network": f"8.{at >> 8}.{at & 255}.0/24", "isp": "x"} for at in range(1500)
    ]
    dated = {"country_code": "CH", "location": {"city_name": "Alpha"}}
    rows[1200] |= {**dated, "organization": "2026-11-20"}  # for Arrow a time, for us a text
    files = {"a.jsonl": as_json(rows)}
    reading = read(files, one("jsonl", "a.jsonl"))
    alpha = fields("country_code=CH; city_name=Alpha; isp=x; organization=2026-11-20")
    assert reading.stated("8.4.176.1", "8.4.177.1") == [alpha, {"isp": "x"}]
    columns = 'columns = { network = "network", city_name = "location.city_name" }'
    reading = read(files, one("jsonl", "a.jsonl", columns))
    assert reading.stated("8.4.176.1", "8.4.177.1") == [alpha, {"isp": "x"}]
    rows = [{"network": "8.8.8.0/24", "isp": "x"}] * 1500 + [
        {"network": "8.8.9.0/24", "color": "x"}
    ]
    error = refused(tmp_path, "a.jsonl", as_json(rows), one("jsonl", "a.jsonl"))
    assert str(error).startswith(f"{tmp_path / 'a.jsonl'}: unknown column 'color'; ")


NETWORK = {"network": "8.8.8.8"}
#: A record, options, the error.
WRONG: list[tuple[Record, str, str]] = [
    (
        {**NETWORK, "location": {"cuntry_code": "x"}},
        "",
        "unknown column 'location.cuntry_code'; did you mean 'country_code'? in a recipe",
    ),
    ({"isp": "x"}, "", "no range in its columns; name the range as network"),
    (
        {**NETWORK, "isp": "x", "network.isp": "y"},
        "",
        "columns 'isp' and 'network.isp' are the same field; drop one",
    ),
    ({**NETWORK, "isp": ["x"]}, "", "column 'isp' holds no values, but list<"),
    (
        {"range": {"cidr": "8.8.8.8"}},
        'columns = { network = "range.cdir" }',
        "no column 'range.cdir'; did you mean 'range.cidr'?",
    ),
    ({"range": ["8.8.8.8"]}, 'columns = { network = "range.first" }', "no column 'range.first'; "),
    (
        {**NETWORK, "names": {"en": "x"}},
        'columns = { network = "network", isp = "names" }',
        "no column 'names'; did you mean 'names.en'?",
    ),
]


def test_columns_that_cannot_be_used(tmp_path: Path) -> None:
    for row, options, text in WRONG:
        contents: dict[str, str | bytes] = {"a.parquet": as_parquet([row])}
        for name, content in {**contents, "a.jsonl": as_json([row])}.items():
            error = refused(tmp_path, name, content, one(name[2:], name, options))
            assert str(error).startswith(f"{tmp_path / name}: {text}"), (name, row)
    columns = [pa.array(["8.8.8.0/24"]), pa.array(["x"]), pa.array(["y"])]
    table = pa.Table.from_arrays(columns, names=["network", "isp", "isp"])
    for options in ("", 'columns = { network = "network", isp = "isp" }'):
        text = one("parquet", "a.parquet", options)
        error = refused(tmp_path, "a.parquet", as_parquet(table), text)
        assert error.problem == "column 'isp' twice"


MIXED: list[tuple[list[Record], int]] = [
    ([{"network": "8.8.4.0/24"}, {"network": 5}], 2),
    ([{"network": "8.8.4.0/24", "isp": "x"}, {"network": "8.8.4.0/24", "isp": ["x"]}], 2),
    ([{"first": 1 << 130, "last": 5}], 1),
    ([{"first": 1.5, "last": 5}], 1),
]


def test_json_of_several_types_and_huge_integers(tmp_path: Path, read: Read) -> None:
    # One line that names the place; numbers beyond 128 bits are none.
    for rows, line in MIXED:
        error = refused(tmp_path, "a.jsonl", as_json(rows), one("jsonl", "a.jsonl"))
        assert (error.path, error.line) == (str(tmp_path / "a.jsonl"), line), rows
    rows = [{"first": (1 << 128) - 1, "last": (1 << 128) - 1, "asn": 10**30, "isp": "x"},
            {"first": 10**39 - 1, "last": 10**39 - 1, "asn": 1, "isp": "x"},
            {"first": EIGHT, "last": EIGHT, "asn": 1, "isp": "x"}]  # fmt: skip
    reading = read({"a.jsonl": as_json(rows)}, one("jsonl", "a.jsonl"))
    assert dict(reading.source.rejected) == {"not an address": 1}
    assert dict(reading.source.nulled) == {"asn": 1}
    digits = '{"first":' + "9" * 5000 + ',"last":5,"isp":"x"}\n'
    error = refused(tmp_path, "b.jsonl", digits, one("jsonl", "b.jsonl"))
    assert error.line == 1


def deep(depth: int) -> str:
    return '{"network":"8.8.9.0/24","a":' + "[" * depth + "]" * depth + "}\n"


def test_a_bomb_of_rows_and_sizes_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Arrow ends the process where it is asked for them: the column states that none is null.
    data, name = as_parquet([{"network": "8.8.8.0/24", "country_code": "US"}]), b"\x18\x07network"
    assert data.count(b"\x25\x02" + name) == 1  # the footer: what repeats in it, then the name
    data = data.replace(b"\x25\x02" + name, b"\x25\x00" + name)
    error = refused(tmp_path, "a.parquet", data, one("parquet", "a.parquet"))
    assert "damaged, or not Parquet" in str(error)
    monkeypatch.setattr(limits, "ALLOWED_BYTES", 1 << 16)
    table = pa.table({"network": ["8.8.8.0/24"] * 300_000})
    content = as_parquet(table)
    assert len(content) < 3000
    error = refused(tmp_path, "a.parquet", content, one("parquet", "a.parquet"))
    assert error.problem == "unpacks to over 65,536 bytes and 200 times its size"


def test_deep_json(tmp_path: Path, read: Read) -> None:
    """Deeper than Python parses, among the first records and later."""
    columns = 'columns = { network = "network" }'
    first = as_json(ROWS[:1])
    reading = read({"a.jsonl": first + deep(200)}, one("jsonl", "a.jsonl", columns))
    assert reading.source.read == 2
    error = refused(tmp_path, "b.jsonl", first + deep(1 << 17), one("jsonl", "b.jsonl", columns))
    assert error.line == 2
    late = first * 1500 + deep(1 << 17)
    reading = read({"c.jsonl": late}, one("jsonl", "c.jsonl", columns))
    assert reading.source.read == 1501
