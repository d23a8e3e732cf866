"""IPinfo: every product of both generations, as CSV, JSON lines and Parquet; damaged files."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as papq
import pytest
from geolookup_builder.sources.reading import jsonlines, parquet

from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read
from tests.builder.sources.recipes import one, refused

LEGACY_PLACE = {
    "country_code": "AU",
    "region_name": "Example Region",
    "city_name": "Alphaville",
    "postal_code": "0800",
    "latitude": -12.5,
    "longitude": 130.75,
    "time_zone": "Australia/Darwin",
}
PLACE = {**LEGACY_PLACE, "continent_code": "OC"}
HOLDER = {"asn": 64500, "asn_organization": "Example, Inc."}
MOST = {**PLACE, "region_code": "NT", **HOLDER}
CORE = (
    "network,city,region,region_code,country,country_code,continent,continent_code,latitude,"
    "longitude,timezone,postal_code,asn,as_name,as_domain,as_type,carrier_name,mcc,mnc,"
    "is_anonymous,is_anycast,is_hosting,is_mobile,is_satellite,is_relay,is_vpn\n"
    "8.8.4.0/24,Alphaville,Example Region,NT,Australia,AU,Oceania,OC,-12.5,130.75,"
    'Australia/Darwin,0800,AS64500,"Example, Inc.",example.com,business,,,,'
)
#: Product: a CSV with one row of 8.8.4.0/24, what is then known of it.
PRODUCTS: dict[str, tuple[str, dict[str, object]]] = {
    "Lite": (
        (
            "network,country,country_code,continent,continent_code,asn,as_name,as_domain\n"
            '8.8.4.0/24,Australia,AU,Oceania,OC,AS64500,"Example, Inc.",example.com\n'
        ),
        {"continent_code": "OC", "country_code": "AU", **HOLDER},
    ),
    "location": (
        (
            "network,city,region,region_code,country,country_code,continent,continent_code,"
            "latitude,longitude,timezone,postal_code\n"
            "8.8.4.0/24,Alphaville,Example Region,NT,Australia,AU,Oceania,OC,-12.5,130.75,"
            "Australia/Darwin,0800\n"
        ),
        {**PLACE, "region_code": "NT"},
    ),
    "location, legacy": (
        (
            "start_ip,end_ip,join_key,city,region,country,latitude,longitude,postal_code,timezone\n"
            "8.8.4.0,8.8.4.255,8.8.0.0,Alphaville,Example Region,AU,-12.5,130.75,0800,"
            "Australia/Darwin\n"
        ),
        LEGACY_PLACE,
    ),
    "location, extended": (
        (
            "start_ip,end_ip,join_key,city,region,region_name,country,country_name,latitude,"
            "longitude,postal_code,timezone,geoname_id,radius\n"
            "8.8.4.0,8.8.4.255,8.8.0.0,Alphaville,NT,Example Region,AU,Australia,-12.5,130.75,"
            "0800,Australia/Darwin,1,50\n"
        ),
        {**LEGACY_PLACE, "region_code": "NT"},
    ),
    "asn": (
        (
            "network,asn,domain,name,type,country\n"
            '8.8.4.0/24,AS64500,example.com,"Example, Inc.",hosting,US\n'
        ),
        {**HOLDER, "user_type": "hosting"},
    ),
    "asn, legacy": (
        (
            "start_ip,end_ip,join_key,asn,domain,name,type,country\n"
            '8.8.4.0,8.8.4.255,8.8.0.0,AS64500,example.com,"Example, Inc.",education,US\n'
        ),
        {**HOLDER, "user_type": "college"},
    ),
    "asn, free": (
        'start_ip,end_ip,asn,name,domain\n8.8.4.0,8.8.4.255,AS64500,"Example, Inc.",example.com\n',
        HOLDER,
    ),
    "country": (
        (
            "start_ip,end_ip,country,country_name,continent,continent_name\n"
            "8.8.4.0,8.8.4.255,AU,Australia,OC,Oceania\n"
        ),
        {"continent_code": "OC", "country_code": "AU"},
    ),
    "country_asn": (
        (
            "start_ip,end_ip,country,country_name,continent,continent_name,asn,as_name,as_domain\n"
            '8.8.4.0,8.8.4.255,AU,Australia,OC,Oceania,AS64500,"Example, Inc.",example.com\n'
        ),
        {"continent_code": "OC", "country_code": "AU", **HOLDER},
    ),
    "company": (
        (
            "start_ip,end_ip,join_key,name,domain,type,asn,as_name,as_domain,as_type,country\n"
            '8.8.4.0,8.8.4.255,8.8.0.0,Tenant AG,example.ch,government,AS64500,"Example, Inc.",'
            "example.com,isp,CH\n"
        ),
        {**HOLDER, "organization": "Tenant AG", "user_type": "government"},
    ),
    "carrier": (
        "network,name,country,mcc,mnc\n8.8.4.0/24,Example Mobile,AU/CC/CX,505,02\n",
        {"isp": "Example Mobile", "connection_type": "Mobile", "user_type": "cellular"},
    ),
    "carrier, legacy": (
        (
            "start_ip,end_ip,join_key,name,country,mcc,mnc\n"
            "8.8.4.0,8.8.4.255,8.8.0.0,Example Mobile,AU,505,02\n"
        ),
        {"isp": "Example Mobile", "connection_type": "Mobile", "user_type": "cellular"},
    ),
    "privacy": (
        "network,hosting,proxy,tor,relay,vpn,service\n8.8.4.0/24,true,false,false,false,false,\n",
        {"user_type": "hosting"},
    ),
    "privacy, legacy": (
        (
            "start_ip,end_ip,join_key,hosting,proxy,tor,vpn,relay,service\n"
            "8.8.4.0,8.8.4.255,8.8.0.0,true,,,true,,Example VPN\n"
        ),
        {"user_type": "consumer_privacy_network"},
    ),
    "core": (
        CORE + "false,false,false,false,false,false,false\n",
        {**MOST, "user_type": "business"},
    ),
    "core, mobile": (
        CORE.replace("business,,", "isp,Example Mobile,505")
        + "false,false,false,true,false,false,false\n",
        {
            **MOST,
            "isp": "Example Mobile",
            "user_type": "cellular",
            "connection_type": "Mobile",
        },
    ),
    "core, satellite": (
        CORE + "false,false,true,false,true,false,false\n",
        {
            **MOST,
            "user_type": "hosting",
            "connection_type": "Satellite",
        },
    ),
}
NUMBERS = ("latitude", "longitude")


def records(text: str, *, typed: bool = False) -> list[dict[str, Any]]:
    """The rows of a CSV as objects; ``typed``: with numbers and booleans as such."""
    rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(text)))
    for row in rows if typed else ():
        row.update({name: float(row[name]) for name in NUMBERS if row.get(name)})
        row.update({name: each == "true" for name, each in row.items() if each in WORDS})
    return rows


WORDS = ("true", "false")


def as_json(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    stream = io.BytesIO()
    papq.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


def written(text: str) -> dict[str, bytes]:
    """The rows of a CSV in each way that IPinfo delivers them, by the suffix of the file."""
    rows = records(text)
    return {
        "csv": text.encode(),
        "csv.gz": gzip.compress(text.encode()),
        "json": as_json(rows),
        "typed.json": as_json(records(text, typed=True)),
        "json.gz": gzip.compress(as_json(rows)),
        "parquet": as_parquet(rows),
    }


@pytest.mark.parametrize("product", PRODUCTS)
def test_products(read: Read, product: str) -> None:
    text, expected = PRODUCTS[product]
    for suffix, content in written(text).items():
        reading = read({f"a.{suffix}": content}, one("ipinfo", f"a.{suffix}"))
        assert (reading.source.read, reading.source.nulled.total()) == (1, 0), suffix
        assert reading.stated("8.8.3.255", "8.8.4.0", "8.8.4.255", "8.8.5.0") == [
            {},
            *[expected] * 2,
            {},
        ], suffix


LITE = PRODUCTS["Lite"][0].splitlines()[0] + "\n"
MIXED = LITE + (
    "8.8.4.0/24,China,CN,Asia,AS,,,\n"
    "8.8.5.7,Australia,AU,Oceania,OC,AS64500,Example,example.com\n"
    "2600:1::/32,Namibia,NA,Africa,AF,AS64501,Other,example.org\n"
)
WRITTEN = {
    "a.csv": MIXED.encode(),
    "a.json": as_json(records(MIXED)),
    "a.parquet": as_parquet(records(MIXED)),
}


def test_the_file_says_how_it_is_written_and_not_its_name(read: Read) -> None:
    for content in WRITTEN.values():
        reading = read({"b.csv": content}, one("ipinfo", "b.csv"))
        assert reading.at("8.8.4.4") == {"continent_code": "AS", "country_code": "CN"}


def test_tables_follow_in_order(read: Read) -> None:
    chosen = ("Lite", "location", "asn", "company", "carrier", "privacy", "country", "core")
    files: dict[str, str | bytes] = {f"{name}.csv": PRODUCTS[name][0] for name in chosen}
    reading = read(files, one("ipinfo", "*.csv"))
    assert [each.name.removeprefix("*.csv ") for each in reading.report.sources] == [
        *("(Core)", "(Location)", "(Carrier)", "(Privacy)", "(Company)", "(ASN)"),
        *("(Country ASN)", "(Country)"),
    ]
    assert reading.at("8.8.4.4") == {
        **MOST,
        "organization": "Tenant AG",
        "isp": "Example Mobile",
        "connection_type": "Mobile",
        "user_type": "business",
    }


@pytest.mark.parametrize("name", WRITTEN)
def test_rows_are_those_of_a_plain_reader(tmp_path: Path, name: str) -> None:
    """Both families, and bare addresses."""
    fields = {"as_name": "asn_organization"} | {
        each: each for each in ("network", "country_code", "continent_code", "asn")
    }
    rows = [
        {fields[column]: cell for column, cell in row.items() if column in fields}
        for row in csv.DictReader(MIXED.splitlines())
    ]
    check_rows(tmp_path, {name: WRITTEN[name]}, one("ipinfo", name), rows)


BAD_RANGES: list[dict[str, Any]] = [
    {"network": "8.8.4.0/24", "asn": "AS64500"},
    {"network": "8.8.4.1/24", "asn": "AS1"},
    {"network": None, "asn": "AS2"},
    {"network": "2600::/129", "asn": "AS3"},
    {"network": str(1 << 128), "asn": "AS4"},
    {"network": "8.8.5.0/24", "asn": "AS64501"},
    {"network": "nowhere", "asn": "AS5"},
]
COMMON: dict[str, Any] = {"country": "", "continent": "", "as_name": None}


@pytest.mark.parametrize("rows", [1, 1 << 17])
@pytest.mark.parametrize("name", ["a.json", "a.parquet"])
def test_rejected_records_by_number(
    read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, rows: int
) -> None:
    monkeypatch.setattr(jsonlines, "BLOCK_BYTES", 90 * rows)
    monkeypatch.setattr(parquet, "BATCH_ROWS", rows)
    write = as_json if name == "a.json" else as_parquet
    content = write([{**COMMON, **each} for each in BAD_RANGES])
    reading = read({name: content}, one("ipinfo", name))
    assert reading.source.read == len(BAD_RANGES)
    assert {each.file for each in reading.rejects} == {str(tmp_path / name)}
    assert reading.bad_lines() == [
        (2, "host bits set"),
        (3, "not an address"),
        (4, "not a prefix length"),
        (5, "not an address"),
        (7, "not an address"),
    ]
    networks = ("8.8.4.1/24", "", "2600::/129", str(1 << 128), "nowhere")
    assert all(text in row.text for text, row in zip(networks, reading.rejects, strict=True))
    assert reading.stated("8.8.4.1", "8.8.5.1") == [{"asn": 64500}, {"asn": 64501}]


JSON = as_json(records(MIXED))
FIRST = JSON.splitlines(keepends=True)[0]
GOOD_JSON = {
    "byte order mark": b"\xef\xbb\xbf" + JSON,
    "CRLF": JSON.replace(b"\n", b"\r\n"),
    "blank lines": b"\n\n" + JSON.replace(b"\n", b"\n \t\n"),
    "no line end": JSON.rstrip(),
    "absent keys": JSON + b'{"network":"8.8.9.0/24"}\n{}\n',
    "other keys": JSON + b'{"network":"8.8.9.0/24","more":{"deep":[1,{}]}}\n',
    "null": JSON + b'{"network":"8.8.9.0/24","asn":null,"country_code":null}\n',
    "big cell": JSON + b'{"network":"8.8.9.0/24","as_name":"' + b"x" * (1 << 20) + b'"}\n',
    "controls": JSON + b'{"network":"8.8.9.0/24","as_name":"a\\u0000\\nb\\ud83c\\udff3"}\n',
}


@pytest.mark.parametrize("block", [300, 16 << 20])
def test_unusual_json(read: Read, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(jsonlines, "BLOCK_BYTES", block)
    for case, content in GOOD_JSON.items():
        reading = read({"a.json": content}, one("ipinfo", "a.json"))
        assert reading.at("8.8.4.4") == {"continent_code": "AS", "country_code": "CN"}, case
        assert reading.at("2600:1::7")["asn"] == 64501, case
        assert reading.source.rejected.total() == (case == "absent keys"), case


BAD_JSON: dict[str, tuple[bytes, int | None]] = {
    "cut in a record": (JSON + FIRST[:40], 4),
    "cut in a key": (JSON + b"\n\n" + FIRST[:4], 6),
    "null before": (b"null\n" + JSON, None),
    "null after": (JSON + b"null\n" + JSON, 4),
    "null behind": (JSON + FIRST.rstrip() + b" null\n" + JSON, 4),
    "null in the next block": (JSON * 400 + b"null\n" + JSON, 1201),
    "two on a line": (JSON + FIRST.rstrip() + FIRST, 4),
    "over two lines": (JSON + b'{"network":\n"8.8.9.0/24"}\n', 4),
    "a list": (b"[" + FIRST.rstrip() + b"]\n", None),
    "a list of them": (JSON + b"[1]\n", 4),
    "text": (JSON + b"the end\n", 4),
    "NUL": (JSON + b"\0\0\0\n", 4),
    "a key twice": (JSON + b'{"network":"8.8.9.0/24","asn":"1","asn":"2"}\n', 4),
    "another type": (JSON + b'\n{"network":"8.8.9.0/24","asn":15169}\n', 5),
    "an object for a text": (JSON + b'{"network":{}}\n', 4),
    "not UTF-8": (JSON + b'{"network":"8.8.9.0/24","as_name":"Malm\xf6"}\n', 4),
    "half a surrogate": (JSON + b'{"network":"8.8.9.0/24","as_name":"\\ud83c"}\n', 4),
    "a record too long": (JSON + b'{"as_name":"' + b"x" * 70_000, 4),
    "deep": (JSON + b'{"a":' + b"[" * 5000 + b"\n", 4),
}


def test_damaged_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonlines, "BLOCK_BYTES", 30_000)
    monkeypatch.setattr(jsonlines, "MAX_LINE", 30_000)
    for case, (content, line) in BAD_JSON.items():
        error = refused(tmp_path, "a.json", content, one("ipinfo", "a.json"))
        assert (error.path, error.line) == (str(tmp_path / "a.json"), line), case


def test_types_are_those_of_the_first_values(read: Read) -> None:
    rows: list[dict[str, Any]] = [
        {"network": "8.8.4.0/24", "city": "A", "latitude": None, "longitude": 7},
        {"network": "8.8.5.0/24", "city": None, "latitude": 1.5, "longitude": 7.25},
    ]
    reading = read({"a.json": as_json(rows)}, one("ipinfo", "a.json"))
    assert reading.at("8.8.4.4") == {"city_name": "A", "longitude": 7}
    assert reading.at("8.8.5.5") == {"latitude": 1.5, "longitude": 7.25}


def test_typed_parquet(read: Read) -> None:
    table = pa.table(
        {
            "network": pa.array(["8.8.4.0/24", "8.8.5.0/24"]).dictionary_encode(),
            "city": pa.array(["A", None], pa.large_string()),
            "latitude": pa.array([1.5, None], pa.float64()),
            "longitude": pa.array([2.5, 3.5], pa.float32()),
            "asn": pa.array([64500, None], pa.int64()),
            "is_hosting": pa.array([False, True]),
            "as_name": pa.array([b"Malm\xc3\xb6", b"B"], pa.binary()),
        }
    )
    stream = io.BytesIO()
    papq.write_table(table, stream)
    reading = read({"a.parquet": stream.getvalue()}, one("ipinfo", "a.parquet"))
    assert reading.at("8.8.4.4") == {
        "city_name": "A",
        "latitude": 1.5,
        "longitude": 2.5,
        "asn": 64500,
        "asn_organization": "Malmö",
    }
    assert reading.at("8.8.5.5") == {
        "longitude": 3.5,
        "asn_organization": "B",
        "user_type": "hosting",
    }


WHOLE = as_parquet(records(MIXED) * 300)


def with_column(column: pa.Array) -> bytes:
    table = pa.table({"network": ["8.8.4.0/24"], "city": column})
    stream = io.BytesIO()
    papq.write_table(table, stream)
    return stream.getvalue()


BAD_PARQUET = {
    "the beginning": WHOLE[:100],
    "without its end": WHOLE[:-10],
    "the first bytes": b"PAR1",
    "an empty footer": b"PAR1" + b"\0" * 20 + b"PAR1",
    "a page overwritten": WHOLE[:4] + b"\xff" * 200 + WHOLE[204:],
    "a list": with_column(pa.array([["A"]])),
    "not UTF-8": with_column(pa.array([b"Malm\xf6"], pa.binary())),
}


def test_damaged_parquet(tmp_path: Path) -> None:
    for case, content in BAD_PARQUET.items():
        error = refused(tmp_path, "a.parquet", content, one("ipinfo", "a.parquet"))
        assert error.path == str(tmp_path / "a.parquet"), case
        expected = "name a column of texts or numbers" if case == "a list" else "fetch it again"
        assert error.remedy == expected, case


OTHERS = (
    "start_ip,end_ip,join_key,email,name,country\n8.8.8.0,8.8.8.255,8.8.0.0,a@b,X,US\n",
    "ip,service,last_seen,percent_days_seen\n8.8.8.8,x,2026-01-01,5\n",
    "asn,name,country,continent\nAS1,x,US,NA\n",
    '{"start_ip":"8.8.8.0"}\n',
    "of no use",
)


def test_files_of_something_else(tmp_path: Path) -> None:
    for name in ("a.csv", "a.mmdb"):  # MMDB files are left to their own reader
        for content in OTHERS:
            error = refused(tmp_path, name, content, one("ipinfo", name))
            assert error.path == str(tmp_path / name), content
