"""The columns that readers offer beside the fields: values of each, recipes that ask for them.

Those of the other formats are in the tables of their tests, which ``check_offers`` compares.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import geolookup
from tests.builder.sources.formats import test_ipinfo, test_maxmind
from tests.builder.sources.formats.mmdb_writing import mmdb
from tests.builder.sources.readings import (
    OWN,
    Files,
    Read,
    Stated,
    check_offers,
    fails,
    fields,
    one,
)
from tests.internals.builder import FORMATS, offered_type, with_language
from tests.internals.builder import VENDOR_COLUMNS_COLUMNS as COLUMNS
from tests.internals.contract import TYPES, own_field
from tests.skips import needs

NET = "8.8.4.0/24"
BLOCKS, PLACES = test_maxmind.BLOCKS, test_maxmind.PLACES


def test_the_table() -> None:
    for name, kind in COLUMNS.items():
        own_field(name.replace("LANG", "de"), kind)  # no name of the contract
        assert kind in TYPES
    offered = {name for source_format in FORMATS.values() for name in source_format.offers}
    assert offered == set(COLUMNS)
    assert with_language("city_name_pt_br") == ("city_name_LANG", "pt-BR")
    assert with_language("region_name_zh_hans") == ("region_name_LANG", "zh-Hans")
    for name in ("city_name", "city_name_", "name_de", "city_name_deu", "subdivision_2_name_de"):
        assert with_language(name) == (name, "")
        assert offered_type(name) is None


def own(stated: Stated) -> Stated:
    return {name: value for name, value in stated.items() if name.startswith("own.")}


_FLAGS = ("is_vpn", "is_hosting", "is_proxy", "is_tor", "is_residential_proxy")
#: MaxMind's files, and their own columns by network.
MAXMIND: list[tuple[Files, dict[str, str]]] = [
    (
        {
            "a-Blocks.csv": BLOCKS["city"]
            + "8.8.4.0/24,11,20,30,0,0,1234,34.7,33.1,20,1\n"
            + "8.8.5.0/24,,20,,0,0,,,,,\n",
            "en.csv": PLACES
            + "11,en,EU,Europe,CY,Cyprus,02,Limassol,07,North,Alpha,819,Asia/Nicosia,0\n"
            + "20,en,EU,Europe,DE,Germany,,,,,,,,1\n30,en,NA,x,US,x,,,,,,,,0\n",
            "de.csv": PLACES
            + "11,de,EU,Europa,CY,Zypern,02,Limassoll,07,Nord,Alphastadt,819,Asia/Nicosia,0\n"
            + "20,de,EU,Europa,DE,Deutschland,,,,,,,,1\n",
        },
        {
            NET: "accuracy_radius=20; geoname_id=11; is_anycast=true; registered_country_code=DE;"
            "represented_country_code=US; metro_code=819; subdivision_2_code=07;"
            "subdivision_2_name=North; city_name_de=Alphastadt; region_name_de=Limassoll;"
            "country_name_de=Zypern",
            # As the country: that of the registration.
            "8.8.5.0/24": "registered_country_code=DE; country_name_de=Deutschland",
        },
    ),
    (
        {
            "a-Blocks.csv": BLOCKS["enterprise"]
            + "8.8.4.0/24,11,,,0,0,1234,34.7,33.1,7,1,acme.example,20,99,80,60,40,\n",
            "en.csv": test_maxmind.EN,
            "isp.csv": test_maxmind.PROVIDERS + "7,Acme,,,,,cellular,310,004\n",
        },
        {
            NET: "is_legitimate_proxy=true; domain=acme.example; accuracy_radius=20; geoname_id=11;"
            "country_confidence=99; subdivision_confidence=80; city_confidence=60;"
            "postal_confidence=40; mcc=310; mnc=004; usage_type=cellular"
        },
    ),
]


def test_columns_of_maxmind(tmp_path: Path, read: Read) -> None:
    expected = []
    for files, texts in MAXMIND:
        for old in tmp_path.glob("*.csv"):
            old.unlink()
        reading = read(files, OWN + one("maxmind", "*.csv"))
        expected.append({network: fields(text) for network, text in texts.items()})
        assert {net: own(stated) for net, stated in reading.ranges().items()} == expected[-1]
    check_offers("maxmind", [*expected, *({"": fields(text)} for *_, text in FLAT_PRODUCTS)])


_KEYS = (
    *("is_anonymous", "is_anonymous_vpn", "is_hosting_provider", "is_public_proxy"),
    *("is_tor_exit_node", "is_residential_proxy"),
)
_VPN = "is_anonymous=true; is_vpn=true;" + "".join(f"{name}=false;" for name in _FLAGS[1:])
_OTHERS = "is_anonymous=true; is_vpn=false;" + "".join(f"{name}=true;" for name in _FLAGS[1:])
_NONE = "is_anonymous=false;" + "".join(f"{name}=false;" for name in _FLAGS)
_SEEN = "proxy_provider=Acme VPN; anonymizer_confidence=95; last_seen_date=2026-11-20"
_PROVIDER = {
    "provider_name": "Acme VPN",
    "anonymizer_confidence": 95,
    "network_last_seen": "2026-11-20",
}


def flags(*names: str) -> dict[str, Any]:
    return {key: key in names for key in _KEYS}


#: Database type, record and own columns; the CSV of such a product has a column for each key.
FLAT_PRODUCTS: list[tuple[str, dict[str, Any], str]] = [
    (
        "GeoIP2-ISP",
        {"isp": "Acme", "mobile_country_code": "310", "mobile_network_code": "004"},
        "mcc=310; mnc=004",
    ),
    ("GeoIP2-Domain", {"domain": "a.example"}, "domain=a.example"),
    ("GeoIP2-Anonymous-IP", flags(*_KEYS[:2]), _VPN),
    ("GeoIP2-Anonymous-IP", flags(_KEYS[0], *_KEYS[2:]), _OTHERS),
    ("GeoIP-Anonymous-Plus", flags(*_KEYS[:2]) | _PROVIDER, _VPN + _SEEN),
    ("GeoIP-Residential-Proxy", _PROVIDER, "is_residential_proxy=true;" + _SEEN),
    ("GeoIP2-IP-Risk", {"ip_risk": 0.05, **flags()}, "ip_risk=0.05;" + _NONE),
    ("GeoIP2-Static-IP-Score", {"score": 5.5}, "static_ip_score=5.5"),
    ("GeoIP2-Static-IP-Score", {"static_ip_score": 5.5}, "static_ip_score=5.5"),
    (
        "GeoIP2-DensityIncome",
        {"average_income": 32323, "population_density": 1232},
        "average_income=32323; population_density=1232",
    ),
]


@needs("maxminddb")
def test_flat_products_of_maxmind(read: Read) -> None:
    """As CSV, which leaves what is false empty, and as MMDB, which leaves it out."""
    for kind, record, text in FLAT_PRODUCTS:
        true = {key: value for key, value in record.items() if value is not False}
        cells = ["1" if value is True else str(value or "") for value in record.values()]
        rows = f"network,{','.join(record)}\n{NET},{','.join(cells)}\n"
        reading = read({"a.csv": rows}, OWN + one("maxmind", "a.csv"))
        assert own(reading.at("8.8.4.4")) == fields(text), kind
        reading = read({"a.mmdb": mmdb({NET: true}, kind=kind)}, OWN + one("mmdb", "a.mmdb"))
        stated = own(reading.at("8.8.4.4"))
        assert stated.items() >= fields(text).items(), kind
        assert not any(stated[name] for name in stated.keys() - fields(text).keys()), kind


_TRAITS = {
    "domain": "acme.example",
    "user_type": "cellular",
    "mobile_country_code": "310",
    "mobile_network_code": "004",
    "static_ip_score": 5.5,
    **dict.fromkeys(("is_anycast", "is_legitimate_proxy", "is_anonymous"), True),
    **dict.fromkeys(("is_anonymous_vpn", "is_hosting_provider", "is_public_proxy"), True),
    **dict.fromkeys(("is_tor_exit_node", "is_residential_proxy"), True),
}
CITY: dict[str, Any] = {
    "city": {"geoname_id": 1, "confidence": 60, "names": {"en": "Alpha", "de": "Alphastadt"}},
    "continent": {"geoname_id": 4},
    "country": {"iso_code": "CY", "geoname_id": 3, "confidence": 99, "names": {"de": "Zypern"}},
    "location": {"accuracy_radius": 20, "metro_code": 819, "average_income": 5,
                 "population_density": 6},
    "postal": {"confidence": 40},
    "registered_country": {"iso_code": "DE"},
    "represented_country": {"iso_code": "US", "type": "military"},
    "subdivisions": (
        {"iso_code": "02", "geoname_id": 2, "confidence": 80, "names": {"de": "Limassoll"}},
        {"iso_code": "07", "names": {"en": "North"}},
    ),
    "traits": _TRAITS,
}  # fmt: skip
_CITY = (
    "geoname_id=1; city_geoname_id=1; region_geoname_id=2; country_geoname_id=3;"
    "country_confidence=99; subdivision_confidence=80; city_confidence=60; postal_confidence=40;"
    "subdivision_2_code=07; subdivision_2_name=North; registered_country_code=DE;"
    "represented_country_code=US; represented_country_type=military; city_name_de=Alphastadt;"
    "region_name_de=Limassoll; country_name_de=Zypern; accuracy_radius=20; metro_code=819;"
    "average_income=5; population_density=6; domain=acme.example; usage_type=cellular; mcc=310;"
    "mnc=004; static_ip_score=5.5; is_anycast=true; is_legitimate_proxy=true; is_anonymous=true;"
) + "".join(f"{name}=true;" for name in _FLAGS)
_SAMPLES = {
    "boolean": (True, "true"),
    "integer": (7, "7"),
    "real": (5.5, "5.5"),
    "text": ("x", "x"),
}
#: A record with a key of each column's own name; two of them mean other columns.
FLAT = {
    name: _SAMPLES[kind]
    for name, kind in COLUMNS.items()
    if "LANG" not in name and name != "proxy_type"
}
_OF_SERVICES = ("mobile_brand", "proxy_provider")
_REGISTRY = {
    "location": {"country": {"code": "CH"}},
    "connection": {"asn": 64500, "organization": "Acme", "domain": "a.example", "type": "isp"},
    "company": {"domain": "b.example"},
    "carrier": {"mcc": "228", "mnc": "01"},
    "security": {"is_vpn": True, "is_cloud_provider": False},
}
#: Database type, record and own columns of an MMDB file; those of IPinfo: test_mmdb_products.
MMDB: list[tuple[str, dict[str, Any], str]] = [
    ("GeoIP2-City", CITY, _CITY),
    ("Test", CITY, _CITY),
    (
        "GeoIP2-Country",
        {"country": {"iso_code": "CY", "geoname_id": 3}},
        "geoname_id=3; country_geoname_id=3",
    ),
    (
        "GeoIP2-City",
        {"country": {"iso_code": "CY"}, "subdivisions": ({"geoname_id": 2}, {"geoname_id": 5})},
        "geoname_id=5; region_geoname_id=2",
    ),
    ("GeoIP2-City", {"continent": {"code": "EU", "geoname_id": 4}}, "geoname_id=4"),
    (
        "GeoIP2-City",
        {"country": {"iso_code": "CY", "geoname_id": 3}, "subdivisions": ({"geoname_id": 2},)},
        "geoname_id=2; region_geoname_id=2; country_geoname_id=3",
    ),
    ("ipinfo standard_carrier.mmdb", {"name": "Acme"}, "mobile_brand=Acme; is_mobile=true"),
    (
        "IP2PROXY",
        {"proxy_type": "TOR", "threat": "-", "fraud_score": "7", "country_code": "CH"},
        (
            "is_proxy=true; proxy_type=TOR; is_vpn=false; is_tor=true; is_relay=false;"
            "is_residential_proxy=false; fraud_score=7"
        ),
    ),
    (
        "Test",
        {"country_code": "CH", **{name: value for name, (value, _) in FLAT.items()}},
        ";".join(f"{name}={text}" for name, (_, text) in FLAT.items() if name not in _OF_SERVICES),
    ),
    (
        "Test",
        _REGISTRY,
        (
            "asn_domain=a.example; asn_kind=isp; domain=b.example; mcc=228; mnc=01; is_vpn=true;"
            "is_hosting=false"
        ),
    ),
    (
        "Test",
        {"asn": 64500, "name": "X", "org": "Acme", "domain": "a.example"},
        "asn_domain=a.example",
    ),
    (
        "Test",
        {"service": "Acme", "percent_days_seen": 5, "last_seen": "2026-11-20"},
        "is_residential_proxy=true; proxy_provider=Acme; last_seen_date=2026-11-20",
    ),
]


@needs("maxminddb")
def test_columns_of_mmdb(read: Read) -> None:
    cases = [(kind, record, fields(text)) for kind, record, text in MMDB]
    for kind, record, known in cases:
        reading = read({"a.mmdb": mmdb({NET: record}, kind=kind)}, OWN + one("mmdb", "a.mmdb"))
        assert own(reading.at("8.8.4.4")) == known, (kind, record)
    check_offers("mmdb", [{"": known} for *_, known in cases])


# Requests

PRIVACY: Files = {"a.csv": test_ipinfo.PRODUCTS["privacy"][0]}


def test_names_in_several_languages(read: Read, tmp_path: Path) -> None:
    """Of Locations in each; a language without a file, or without a name, is unknown."""
    files = {
        "city.csv": BLOCKS["city"] + "8.8.4.0/24,11,20,,0,1,1234,34.7,33.1,20,1\n",
        "en.csv": test_maxmind.EN,
        "de.csv": test_maxmind.DE,
        "pt.csv": test_maxmind.DE.replace(",de,", ",pt-BR,").replace("Alphastadt", "Alfa"),
    }
    names = ("en", "de", "pt_br", "zh_cn")
    declared = "[columns]\n" + "".join(f'city_name_{name} = "text"\n' for name in names)
    known = {"en": "Alpha Town", "de": "Alphastadt", "pt_br": "Alfa"}
    for column, city in (("city_name", "Alpha Town"), ("city_name:de", "Alphastadt")):
        columns = f'columns = {{ city_name = "{column}" }}'
        location = read(files, declared + one("maxmind", "*.csv", columns)).at("8.8.4.4")
        assert location["city_name"] == city
        assert own(location) == {f"own.city_name_{name}": text for name, text in known.items()}
    mapping = 'columns = { mine = "city_name_zh_cn" }'
    text = '[columns]\nmine = "text"\n' + one("maxmind", "*.csv", mapping)
    assert "no file of *.csv has 'city_name_zh_cn'" in str(fails(tmp_path, files, text))


#: Types in ``[columns]`` and the mapping of a source, for a file of IPinfo: the error.
ERRORS = {
    ("is_vpn", "text", ""): (
        'columns.is_vpn is text, but is_vpn is boolean; write is_vpn = "boolean" in [columns]'
    ),
    ("mine", "text", '{ mine = "is_vpn" }'): (
        'columns.mine is text, but is_vpn is boolean; write mine = "boolean" in [columns]'
    ),
    ("mine", "boolean", '{ mine = "is_vpm" }'): (
        "source.columns: no file of a.csv has 'is_vpm'; did you mean 'is_vpn'?"
    ),
    ("mine", "text", '{ mine = "network" }'): "column 'network' is the range and something",
    ("mine", "text", '{ other = "vpn" }'): "source.columns: no field 'other'",
}


def test_errors(tmp_path: Path) -> None:
    for (name, kind, mapping), words in ERRORS.items():
        options = [f"columns = {mapping}"] if mapping else []
        text = f'[columns]\n{name} = "{kind}"\n' + one("ipinfo", "a.csv", *options)
        assert words in str(fails(tmp_path, PRIVACY, text))


def test_check_names_them(tmp_path: Path) -> None:
    """Those that the recipe does not ask for."""
    (tmp_path / "a.csv").write_text(str(PRIVACY["a.csv"]), encoding="utf-8")
    recipe = tmp_path / "r.toml"
    mapping = 'columns = { mine = "is_tor" }'
    declared = '[columns]\nis_vpn = "boolean"\nmine = "boolean"\n'
    for text, offered in (
        (one("ipinfo", "a.csv"), "is_proxy, is_vpn, is_tor, is_relay, is_hosting"),
        (declared + one("ipinfo", "a.csv", mapping), "is_proxy, is_relay, is_hosting"),
    ):
        recipe.write_text(text, encoding="utf-8")
        line = f"  offers      {offered}, proxy_provider (declare own columns in [columns])"
        assert line in [*geolookup.check(recipe).lines()]
