"""IPinfo: every product of both generations, as CSV, JSON lines and Parquet; damaged files."""

from __future__ import annotations

import csv
import gzip
import io
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.builder.sources.formats.test_generic_typed import as_json, as_parquet
from tests.builder.sources.readings import (
    OWN,
    Read,
    fields,
    one,
    refused,
    without_own,
)
from tests.parquet_encodings import AS_GO

LEGACY_PLACE = fields(
    "country_code=AU; region_name=Example Region; city_name=Alphaville; postal_code=0800;"
    "latitude=-12.5; longitude=130.75; time_zone=Australia/Darwin"
)
PLACE_FIELDS = {**LEGACY_PLACE, "continent_code": "OC"}
LAND = fields("continent_code=OC; country_code=AU")
HOLDER = fields("asn=64500; asn_organization=Example, Inc.")
DOMAIN = fields("asn_domain=example.com")
MOBILE = fields("isp=Example Mobile; connection_type=Mobile; user_type=cellular")
MOST = {**PLACE_FIELDS, "region_code": "NT", **HOLDER}
#: Words of the examples: columns and cells that several products share.
SHARED = {
    "ENDS": "start_ip,end_ip",
    "RANGE": "8.8.4.0,8.8.4.255",
    "KEYED": "start_ip,end_ip,join_key",
    "KEY": "8.8.4.0,8.8.4.255,8.8.0.0",
    "NET": "8.8.4.0/24",
    "INC": '"Example, Inc."',
    "PLACES": "city,region,region_code,country,country_code,continent,continent_code,latitude,"
    "longitude,timezone,postal_code",
    "PLACE": "Alphaville,Example Region,NT,Australia,AU,Oceania,OC,-12.5,130.75,"
    "Australia/Darwin,0800",
    "FLAGS": "asn,as_name,as_domain,as_type,carrier_name,mcc,mnc,is_anonymous,is_anycast,"
    "is_hosting,is_mobile,is_satellite,is_relay,is_vpn",
    "WHERE": "latitude,longitude,postal_code,timezone",
    "STATES": "country,country_name,continent,continent_name",
    "STATE": "AU,Australia,OC,Oceania",
}
CORE = ("network,PLACES,FLAGS", "NET,PLACE,AS64500,INC,example.com,")
_FALSE = (
    "is_anonymous=false; is_anycast=false; is_hosting=false; is_mobile=false; is_satellite=false;"
    "is_relay=false; is_vpn=false; asn_domain=example.com;"
)
_CODES = "mcc=505; mnc=02; mobile_brand=Example Mobile; is_mobile=true"
#: Product: columns and a row of 8.8.4.0/24, in shared words; what is then known of it.
WRITTEN_AS: dict[str, tuple[str, str, dict[str, object]]] = {
    "Lite": (
        "network,country,country_code,continent,continent_code,asn,as_name,as_domain",
        "NET,Australia,AU,Oceania,OC,AS64500,INC,example.com",
        {**LAND, **HOLDER, **DOMAIN},
    ),
    "location": ("network,PLACES", "NET,PLACE", {**PLACE_FIELDS, "region_code": "NT"}),
    "location, legacy": (
        "KEYED,city,region,country,WHERE",
        "KEY,Alphaville,Example Region,AU,-12.5,130.75,0800,Australia/Darwin",
        LEGACY_PLACE,
    ),
    "location, extended": (
        "KEYED,city,region,region_name,country,country_name,WHERE,geoname_id,radius",
        "KEY,Alphaville,NT,Example Region,AU,Australia,-12.5,130.75,0800,Australia/Darwin,1,50",
        LEGACY_PLACE | fields("region_code=NT; geoname_id=1; accuracy_radius=50"),
    ),
    "location, extended, with its AS": (
        "KEYED,city,region,region_name,country,country_name,WHERE,asn",
        "KEY,Alphaville,NT,Example Region,AU,Australia,-12.5,130.75,0800,Australia/Darwin,AS64500",
        LEGACY_PLACE | fields("region_code=NT; asn=64500"),
    ),
    "asn": (
        "network,asn,domain,name,type,country",
        "NET,AS64500,example.com,INC,hosting,US",
        HOLDER | DOMAIN | fields("user_type=hosting; asn_kind=hosting; asn_country_code=US"),
    ),
    "asn, free": ("ENDS,asn,name,domain", "RANGE,AS64500,INC,example.com", HOLDER | DOMAIN),
    "country": ("ENDS,STATES", "RANGE,STATE", LAND),
    "country_asn": (
        "ENDS,STATES,asn,as_name,as_domain",
        "RANGE,STATE,AS64500,INC,example.com",
        {**LAND, **HOLDER, **DOMAIN},
    ),
    "company": (
        "KEYED,name,domain,type,asn,as_name,as_domain,as_type,country",
        "KEY,Tenant AG,example.ch,government,AS64500,INC,example.com,isp,CH",
        HOLDER
        | DOMAIN
        | fields(
            "organization=Tenant AG; user_type=government; domain=example.ch;"
            "usage_type=government; asn_kind=isp"
        ),
    ),
    "carrier": (
        "network,name,country,mcc,mnc",
        "NET,Example Mobile,AU/CC/CX,505,02",
        MOBILE | fields(_CODES),
    ),
    "privacy": (
        "network,hosting,proxy,tor,relay,vpn,service",
        "NET,true,false,false,false,false,",
        fields(
            "user_type=hosting; is_hosting=true; is_proxy=false; is_tor=false; is_relay=false;"
            "is_vpn=false"
        ),
    ),
    "privacy, legacy": (
        "KEYED,hosting,proxy,tor,vpn,relay,service",
        "KEY,true,,,true,,Example VPN",
        fields(
            "user_type=consumer_privacy_network; is_hosting=true; is_proxy=false; is_tor=false;"
            "is_relay=false; is_vpn=true; proxy_provider=Example VPN"
        ),
    ),
    "device count": (
        "network,asn,shared,devices_daily,devices_weekly,devices_monthly",
        "NET,AS64500,daily,10,10,100",
        {"asn": 64500},
    ),
    "core": (
        CORE[0],
        CORE[1] + "business,,,,false,false,false,false,false,false,false",
        MOST | fields(f"{_FALSE} user_type=business; asn_kind=business"),
    ),
    "core, mobile": (
        CORE[0],
        CORE[1] + "isp,Example Mobile,505,,false,false,false,true,false,false,false",
        MOST
        | MOBILE
        | fields(f"{_FALSE} is_mobile=true; asn_kind=isp; mcc=505; mobile_brand=Example Mobile"),
    ),
    "core, satellite": (
        CORE[0],
        CORE[1] + "business,,,,false,false,true,false,true,false,false",
        MOST
        | fields(
            f"{_FALSE} user_type=hosting; connection_type=Satellite; asn_kind=business;"
            "is_hosting=true; is_satellite=true"
        ),
    ),
    "plus": (
        "network,PLACES,dma_code,geoname_id,radius,FLAGS,is_proxy,is_tor,service",
        "NET,PLACE,819,123,5,AS64500,INC,example.com,isp,Example Mobile,505,02,"
        + "true," * 9
        + "Acme",
        MOST
        | MOBILE
        | fields(
            f"{_FALSE.replace('false', 'true')} {_CODES}; asn_kind=isp; accuracy_radius=5;"
            "geoname_id=123; metro_code=819; is_proxy=true; is_tor=true; proxy_provider=Acme;"
            "user_type=consumer_privacy_network"
        ),
    ),
}


def full(line: str) -> str:
    return re.sub("[A-Z]{3,}", lambda word: SHARED.get(word[0], word[0]), line) + "\n"


#: Product: a CSV with one row of 8.8.4.0/24, what is then known of it.
PRODUCTS = {
    product: (full(columns) + full(row), known)
    for product, (columns, row, known) in WRITTEN_AS.items()
}
NUMBERS = ("latitude", "longitude")


def records(text: str, *, typed: bool = False) -> list[dict[str, Any]]:
    """The rows of a CSV as objects; ``typed``: with numbers and booleans as such."""
    rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(text)))
    for row in rows if typed else ():
        row.update({name: float(row[name]) for name in NUMBERS if row.get(name)})
        row.update({name: item == "true" for name, item in row.items() if item in WORDS})
    return rows


WORDS = ("true", "false")


def written(text: str) -> dict[str, bytes]:
    """The rows of a CSV in each way that IPinfo delivers them, by the suffix of the file."""
    rows = records(text)
    return {
        "csv": text.encode(),
        "csv.gz": gzip.compress(text.encode()),
        "json": as_json(rows).encode(),
        "typed.json": as_json(records(text, typed=True)).encode(),
        "json.gz": gzip.compress(as_json(rows).encode()),
        "parquet": as_parquet(rows),
        "go.parquet": as_parquet(rows, **AS_GO),
    }


@pytest.mark.parametrize("product", PRODUCTS)
def test_products(read: Read, product: str) -> None:
    """As CSV; with own columns, the fullest product in each form and others in one of them."""
    text, expected = PRODUCTS[product]
    reading = read({"a.csv": text}, one("ipinfo", "a.csv"))
    assert (reading.source.read, reading.source.nulled) == (1, {})
    assert reading.ranges() == without_own({"8.8.4.0/24": expected})
    forms = [*written(text).items()]
    at = [*PRODUCTS].index(product) % len(forms)
    for suffix, content in forms if product == "plus" else forms[at : at + 1]:
        reading = read({f"a.{suffix}": content}, OWN + one("ipinfo", f"a.{suffix}"))
        assert (reading.source.read, reading.source.nulled) == (1, {}), suffix
        assert reading.ranges() == {"8.8.4.0/24": expected}, suffix


LITE = PRODUCTS["Lite"][0].splitlines()[0] + "\n"
MIXED = LITE + (
    "8.8.4.0/24,China,CN,Asia,AS,,,\n"
    "8.8.5.7,Australia,AU,Oceania,OC,AS64500,Example,example.com\n"
    "2600:1::/32,Namibia,NA,Africa,AF,AS64501,Other,example.org\n"
)
WRITTEN = {
    "a.csv": MIXED.encode(),
    "a.json": as_json(records(MIXED)).encode(),
    "a.parquet": as_parquet(records(MIXED)),
}


KNOWN = {
    "8.8.4.0/24": fields("continent_code=AS; country_code=CN"),
    "8.8.5.7/32": LAND | fields("asn=64500; asn_organization=Example"),
    "2600:1::/32": fields("continent_code=AF; country_code=NA; asn=64501; asn_organization=Other"),
}


def test_the_file_says_how_it_is_written_and_its_table(read: Read) -> None:
    # Both families, bare addresses, and AS and NA, which are no empty cells.
    for name, content in WRITTEN.items():
        for file in (name, "b.csv"):
            assert read({file: content}, one("ipinfo", file)).ranges() == KNOWN, (name, file)
    selection = ("Lite", "location", "asn", "company", "carrier", "privacy", "country", "core")
    files = {f"{name}.txt": PRODUCTS[name][0] for name in selection}
    reading = read(files, one("ipinfo", "*.txt"))
    titles = ["Core", "Location", "Carrier", "Privacy", "Company", "ASN", "Country ASN", "Country"]
    assert [source.name for source in reading.report.sources] == [
        f"*.txt ({title})" for title in titles
    ]
    more = fields("organization=Tenant AG; user_type=business")
    assert reading.ranges() == {"8.8.4.0/24": MOST | MOBILE | more}


WHOLE = as_parquet(records(MIXED) * 300)


BAD_PARQUET = {
    "without its end": WHOLE[:-10],
    "a page overwritten": WHOLE[:4] + b"\xff" * 200 + WHOLE[204:],
    "not UTF-8": as_parquet(pa.table({"network": ["8.8.4.0/24"], "city": [b"Malm\xf6"]})),
}


def test_damaged_parquet_and_files_of_something_else(tmp_path: Path) -> None:
    for case, content in BAD_PARQUET.items():
        error = refused(tmp_path, "a.parquet", content, one("ipinfo", "a.parquet"))
        assert error.path == str(tmp_path / "a.parquet"), case
        assert error.remedy == "fetch it again", case
    for name in ("a.csv", "a.mmdb"):  # MMDB files are left to their own reader
        for text in OTHERS:
            error = refused(tmp_path, name, text, one("ipinfo", name))
            assert error.path == str(tmp_path / name), text


OTHERS = (
    "start_ip,end_ip,join_key,email,name,country\n8.8.8.0,8.8.8.255,8.8.0.0,a@b,X,US\n",
    "ip,service,last_seen,percent_days_seen\n8.8.8.8,x,2026-01-01,5\n",
    '{"start_ip":"8.8.8.0"}\n',
    "of no use",
)
