"""DB-IP and iplocate: every layout and table, how it is found, what is unknown."""

from __future__ import annotations

import gzip

import pytest

from tests.builder.sources.reading.test_inputs import zipped
from tests.builder.sources.readings import OWN, Read, check_offers, fields, one, without_own

PLACE_COLUMNS = (
    '"Kanton Zürich","Bezirk Zürich",Zürich,8001,47.3769,8.5417,2657896,1,Europe/Zurich,SZXX0033'
)
LOCATED = fields(
    "continent_code=EU; country_code=CH; region_name=Kanton Zürich; city_name=Zürich;"
    "postal_code=8001; latitude=47.3769; longitude=8.5417; time_zone=Europe/Zurich;"
    "weather_code=SZXX0033"
)
DETAILS = fields("geoname_id=2657896; district=Bezirk Zürich")
BESIDES_CITY = {"postal_code", "time_zone", "weather_code"}
#: Layout: the rest of a row, what is known then.
LAYOUTS: dict[str, tuple[str, dict[str, object]]] = {
    "country-lite": ("CH", {"country_code": "CH"}),
    "asn-lite": ('64500,"Example, AG"', {"asn": 64500, "asn_organization": "Example, AG"}),
    "city-lite": (
        'EU,CH,"Kanton Zürich",Zürich,47.3769,8.5417',
        {key: LOCATED[key] for key in LOCATED if key not in BESIDES_CITY},
    ),
    "country": ("EU,CH", {"continent_code": "EU", "country_code": "CH"}),
    "isp": (
        "EU,CH,Example Net,64500,hosting,fttx,Example AG",
        fields(
            "continent_code=EU; country_code=CH; isp=Example Net; asn=64500; user_type=hosting;"
            "connection_type=Residential; organization=Example AG; usage_type=hosting"
        ),
    ),
    "location": (f"EU,CH,ZH,{PLACE_COLUMNS}", LOCATED | DETAILS | fields("region_code=ZH")),
    "location-isp": (
        f"EU,CH,{PLACE_COLUMNS},Example Net,AS64500,wireless,Example AG",
        LOCATED
        | DETAILS
        | fields("isp=Example Net; asn=64500; connection_type=Mobile; organization=Example AG"),
    ),
}


def rows(cells: str) -> str:
    return f"5.1.0.0,5.1.3.255,{cells}\n2a02:8::,2a02:8:ffff:ffff:ffff:ffff:ffff:ffff,{cells}\n"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(read: Read, layout: str) -> None:
    remainder, expected = LAYOUTS[layout]
    text = gzip.compress(rows(remainder).encode())
    named, option = f"dbip-{layout}-2026-11.csv.gz", f'layout = "{layout}"'
    known = {"5.1.0.0/22": expected, "2a02:8::/32": expected}
    for recipe, ranges in (
        (one("dbip", named), without_own(known)),
        (OWN + one("dbip", "ranges.csv.gz", option), known),
    ):
        reading = read({named: text, "ranges.csv.gz": text}, recipe)
        assert (reading.source.read, reading.source.rejected, reading.source.nulled) == (2, {}, {})
        assert reading.ranges() == ranges
    check_offers("dbip", [{layout: known for layout, (_, known) in LAYOUTS.items()}])


def test_what_is_unknown(read: Read) -> None:
    name = "dbip-country-lite-2026-11.zip"
    reading = read({name: zipped({"data.csv": rows("CH")})}, one("dbip", name))
    assert reading.at("5.1.0.0") == {"country_code": "CH"}
    text = (
        "5.0.0.0,5.0.255.255,ZZ,ZZ,,,0,0\n"
        "5.1.0.0,5.1.255.255,EU,ZZ,,,0.0,-0\n"
        "5.2.0.0,5.2.255.255,EU,CH,,Zürich,,\n"
        "5.3.0.0,5.3.255.255,AF,GH,,,0,1.5\n"
    )
    reading = read({"dbip-city-lite.csv": text}, one("dbip", "dbip-city-lite.csv"))
    assert reading.ranges() == {
        "5.1.0.0/16": {"continent_code": "EU"},
        "5.2.0.0/16": fields("continent_code=EU; country_code=CH; city_name=Zürich"),
        "5.3.0.0/16": fields("continent_code=AF; country_code=GH; latitude=0; longitude=1.5"),
    }
    assert not reading.source.nulled


IPLOCATE_COUNTRY = (
    "network,continent_code,country_code,country_name\n"
    "8.8.4.0/24,NA,US,United States\n"
    '8.8.5.0/24,AF,NA,"Namibia"\n'
    "2600:1::/32,EU,CH,Switzerland\n"
)
IPLOCATE_ASN = (
    "network,asn,country_code,name,org,domain\n"
    "8.8.4.0/23,64500,AU,EXAMPLE,Example Inc,example.com\n"
    "8.8.6.0/24,64501,AU,HANDLE,,\n"
    "2600:1::/32,64502,AU,OTHER,Other AG,example.ch\n"
)


def test_both_tables(read: Read) -> None:
    files = {"ip-to-asn": IPLOCATE_ASN, "ip-to-country": IPLOCATE_COUNTRY}
    packed = {f"{name}.zip": zipped({f"{name}-20261101.csv": files[name]}) for name in files}
    reading = read(packed, OWN + one("iplocate", "ip-to-*.zip"))
    assert [(source.name, source.read) for source in reading.report.sources] == [
        ("ip-to-*.zip (Country)", 3),
        ("ip-to-*.zip (ASN)", 3),
    ]
    holder = "asn=64500; asn_organization=Example Inc"
    own = "asn_country_code=AU; asn_domain=example.com"
    other = "asn=64502; asn_organization=Other AG"
    known = {
        "8.8.4.0/24": fields(f"continent_code=NA; country_code=US; {holder}; {own}"),
        "8.8.5.0/24": fields(f"continent_code=AF; country_code=NA; {holder}; {own}"),
        "8.8.6.0/24": fields("asn=64501; asn_organization=HANDLE; asn_country_code=AU"),
        "2600:1::/32": fields(
            f"continent_code=EU; country_code=CH; {other}; asn_country_code=AU;"
            "asn_domain=example.ch"
        ),
    }
    assert reading.ranges() == known
    check_offers("iplocate", [known])
    plain = {f"{name}.csv": text for name, text in files.items()}
    assert read(plain, one("iplocate", "ip-to-*.csv")).ranges() == without_own(known)
