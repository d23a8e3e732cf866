"""MaxMind CSV: every product, its joins, the converter's ranges, deliveries, damaged files."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

import pytest

from tests.builder.sources.reading.test_inputs import zipped as packed
from tests.builder.sources.readings import Read, Reading, fails, fields, one, read_at, refused
from tests.internals.builder import delimited

PLACES = (
    "geoname_id,locale_code,continent_code,continent_name,country_iso_code,country_name,"
    "subdivision_1_iso_code,subdivision_1_name,subdivision_2_iso_code,subdivision_2_name,"
    "city_name,metro_code,time_zone,is_in_european_union\n"
)
COUNTRIES = (
    "geoname_id,locale_code,continent_code,continent_name,country_iso_code,country_name,"
    "is_in_european_union\n"
)
BLOCKS = {
    "city": "network,geoname_id,registered_country_geoname_id,represented_country_geoname_id,"
    "is_anonymous_proxy,is_satellite_provider,postal_code,latitude,longitude,accuracy_radius,"
    "is_anycast\n",
    "country": "network,geoname_id,registered_country_geoname_id,represented_country_geoname_id,"
    "is_anonymous_proxy,is_satellite_provider,is_anycast\n",
    "asn": "network,autonomous_system_number,autonomous_system_organization\n",
    "isp": "network,isp,organization,autonomous_system_number,autonomous_system_organization,"
    "mobile_country_code,mobile_network_code\n",
    "connection": "network,connection_type\n",
    "enterprise": "network,geoname_id,registered_country_geoname_id,"
    "represented_country_geoname_id,is_anonymous_proxy,is_satellite_provider,postal_code,"
    "latitude,longitude,isp_id,is_legitimate_proxy,domain,accuracy_radius,country_confidence,"
    "subdivision_confidence,city_confidence,postal_confidence,is_anycast\n",
}
PROVIDERS = (
    "isp_id,isp,organization,autonomous_system_number,autonomous_system_organization,"
    "connection_type,user_type,mobile_country_code,mobile_network_code\n"
)
EN = PLACES + (
    '11,en,EU,Europe,CY,Cyprus,02,"Limassol District",,,"Alpha Town",,Asia/Nicosia,0\n'
    "12,en,EU,Europe,CH,Switzerland,ZH,Zurich,,,Betaville,,Europe/Zurich,0\n"
    "20,en,EU,Europe,DE,Germany,,,,,,,Europe/Berlin,1\n"
    "30,en,EU,Europe,,,,,,,,,,0\n"
)
DE = PLACES + (
    "11,de,EU,Europa,CY,Zypern,02,,,,Alphastadt,,Asia/Nicosia,0\n"
    "20,de,EU,Europa,DE,Deutschland,,,,,,,Europe/Berlin,1\n"
)
COUNTRY_EN = COUNTRIES + "20,en,EU,Europe,DE,Germany,1\n30,en,EU,Europe,,,0\n"
CITY = BLOCKS["city"] + (
    "8.8.4.0/24,11,20,,0,0,00149,34.7,33.1,20,\n"
    "8.8.5.0/24,12,12,,0,0,8027,47.3682,8.5671,20,\n"
    "8.8.6.0/24,,20,,0,0,,,,,\n"
    "8.8.7.0/24,30,20,,0,0,,,,,\n"
    "8.8.8.0/24,,,,0,0,,,,,\n"
)
CITY_V6 = BLOCKS["city"] + "280:14c:418:1000::/64,12,,,0,0,8027,47.3682,8.5671,20,\n"
ALPHA = fields(
    "continent_code=EU; country_code=CY; region_code=02; region_name=Limassol District;"
    "city_name=Alpha Town; postal_code=00149; latitude=34.7; longitude=33.1"
)
ALPHA_ROW = {**ALPHA, "time_zone": "Asia/Nicosia"}
BETA = fields(
    "continent_code=EU; country_code=CH; region_code=ZH; region_name=Zurich; city_name=Betaville;"
    "postal_code=8027; latitude=47.3682; longitude=8.5671; time_zone=Europe/Zurich"
)
BERLIN = fields("continent_code=EU; country_code=DE; time_zone=Europe/Berlin")
CITY_FILES: dict[str, str | bytes] = {
    "City-Blocks-IPv4.csv": CITY,
    "City-Blocks-IPv6.csv": CITY_V6,
    "City-Locations-de.csv": DE,
    "City-Locations-en.csv": EN,
}
ALL = one("maxmind", "*.csv")


def zipped(files: dict[str, str | bytes], folder: str = "GeoLite2-City-CSV_20261101/") -> bytes:
    delivered = {**files, "LICENSE.txt": "terms"}
    return packed({folder + name: content for name, content in delivered.items()})


def check_city(reading: Reading) -> None:
    assert reading.ranges() == {
        "8.8.4.0/24": ALPHA_ROW,
        "8.8.5.0/24": BETA,
        "8.8.6.0/24": BERLIN,
        "8.8.7.0/24": {"continent_code": "EU"},
        "280:14c:418:1000::/64": BETA,
    }


def test_city_blocks_find_their_places(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    for block in (delimited.BLOCK_BYTES, 256):
        monkeypatch.setattr(delimited, "BLOCK_BYTES", block)
        reading = read(CITY_FILES, ALL)
        check_city(reading)
        (source,) = reading.report.sources
        assert (source.name, source.read, source.note, source.nulled) == ("*.csv", 6, "", {})


FORK = b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X"
USELESS: dict[str, str | bytes] = {
    "COPYRIGHT.txt": "terms",
    "X-Blocks-IPv4.csv.bak": "no",
    "__MACOSX/._CITY.CSV": FORK,
}


def test_a_delivery(tmp_path: Path) -> None:
    """A zip, or a folder with names in capitals; files of no use beside the tables."""
    archive = zipped({**CITY_FILES, "../__MACOSX/x/._City-Blocks-IPv4.csv": FORK})
    check_city(read_at(tmp_path, {"city.zip": archive}, one("maxmind", "city.zip")))
    (tmp_path / "delivery" / "__MACOSX").mkdir(parents=True)
    files = {name.upper(): content for name, content in CITY_FILES.items()} | USELESS
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "delivery" / name).write_bytes(data)
    reading = read_at(tmp_path, {}, one("maxmind", "delivery"))
    assert reading.source.read == 6
    check_city(reading)


def test_only_another_language(read: Read) -> None:
    only = {name: item for name, item in CITY_FILES.items() if not name.endswith("-en.csv")}
    reading = read({**only, "A-Locations.csv": PLACES}, one("maxmind", "*.csv"))
    location = {**ALPHA_ROW, "city_name": "Alphastadt"}
    del location["region_name"]
    assert reading.at("8.8.4.4") == location
    # Ids without a place: the coordinates stand by themselves.
    assert reading.source.nulled == {"country_code": 3, "postal_code": 2}
    assert reading.at("8.8.5.5").keys() == {"latitude", "longitude"}


def test_another_language(read: Read, tmp_path: Path) -> None:
    german = one("maxmind", "*.csv", 'locale = "de"')
    reading = read(CITY_FILES, german)  # names that German lacks are in English
    assert reading.ranges()["8.8.4.0/24"] == {**ALPHA_ROW, "city_name": "Alphastadt"}
    assert (reading.at("8.8.5.5"), reading.source.nulled) == (BETA, {})
    for locale, words in (('"xx"', "locale 'xx' are missing (found: de, en)"), (5, "locale is 5")):
        error = fails(tmp_path, CITY_FILES, one("maxmind", "*.csv", f"locale = {locale}"))
        assert words in str(error)


def test_country_asn_isp_and_connection_type(read: Read) -> None:
    country = BLOCKS["country"] + "8.8.4.0/24,20,30,,0,0,\n8.8.5.0/24,,30,,0,0,\n"
    files: dict[str, str | bytes] = {
        "asn.csv": BLOCKS["asn"] + '8.8.4.0/23,64500,"EXAMPLE, INC."\n8.8.6.0/24,64501,\n',
        "connection.csv": BLOCKS["connection"] + "8.8.4.0/24,Cable/DSL\n8.8.5.0/24,Cellular\n",
        "country.csv": country,
        "isp.csv": BLOCKS["isp"] + "8.8.4.0/24,Example Net,Example AG,64502,EXAMPLE-2,,\n",
        "places.csv": COUNTRY_EN,
    }
    reading = read(files, ALL)
    titles = ["Country", "ISP", "ASN", "Connection-Type"]
    assert [source.name for source in reading.report.sources] == [
        f"*.csv ({title})" for title in titles
    ]
    assert reading.ranges() == {
        "8.8.4.0/24": fields(
            "continent_code=EU; country_code=DE; asn=64502; asn_organization=EXAMPLE-2;"
            "isp=Example Net; organization=Example AG; connection_type=Residential"
        ),
        "8.8.5.0/24": fields(
            "continent_code=EU; asn=64500; asn_organization=EXAMPLE, INC.; connection_type=Mobile"
        ),
        "8.8.6.0/24": {"asn": 64501},
    }


ENTERPRISE = BLOCKS["enterprise"] + (
    "8.8.4.0/24,11,20,,0,0,00149,34.7,33.1,7,,example.com,20,99,,,,\n"
    "8.8.5.0/24,12,20,,0,0,8027,47.3682,8.5671,0,,,20,99,,,,\n"
    "8.8.6.0/24,,20,,0,0,,,,,,,,,,,,\n"
    "8.8.7.0/24,,20,,0,0,,,,999,,,,,,,,\n"
)
PROVIDER = PROVIDERS + '7,"Example Net","Example AG",64500,EXAMPLE,Cable/DSL,business,,\n'


def test_enterprise_joins_its_isp_table_and_comes_before_city(read: Read) -> None:
    city = CITY.replace("00149", "99999")
    files = {"a.csv": city, "b.csv": ENTERPRISE, "c.csv": PROVIDER, "d.csv": EN}
    reading = read(files, ALL)
    assert [source.name for source in reading.report.sources] == [
        "*.csv (Enterprise)",
        "*.csv (City)",
    ]
    provider = "asn=64500; asn_organization=EXAMPLE; isp=Example Net; organization=Example AG"
    assert reading.ranges() == {
        "8.8.4.0/24": ALPHA_ROW
        | fields(f"{provider}; connection_type=Residential; user_type=business"),
        "8.8.5.0/24": BETA,
        "8.8.6.0/23": BERLIN,
    }
    assert reading.source.nulled == {"asn": 1}
    reading = read({"b.txt": ENTERPRISE, "d.txt": EN}, one("maxmind", "*.txt"))
    assert reading.at("8.8.4.4") == ALPHA_ROW
    note = "Enterprise without its ISP file: providers are unknown"
    assert reading.source.note == note
    assert f"  note        {note}" in list(reading.report.lines())


IGNORED = {
    "Domain": "network,domain\n8.8.8.0/24,example.com\n",
    "Anonymous-IP": "network,is_anonymous,is_anonymous_vpn\n8.8.8.0/24,1,1\n",
    "IP-Risk": "network,ip_risk,is_anonymous\n8.8.8.0/24,10,1\n",
    "User-Count": "network,ipv4_24,ipv4_32,ipv6_32,ipv6_48,ipv6_64\n8.8.8.0/24,1,1,1,1,1\n",
    "Static-IP-Score": "network,score\n8.8.8.0/24,5.5\n",
    "Residential-Proxy": (
        "network,anonymizer_confidence,network_last_seen,provider_name\n8.8.8.0/24,82,2026-05-11,x\n"
    ),
}


def test_products_that_no_field_holds_are_named(read: Read) -> None:
    connection = BLOCKS["connection"] + "8.8.8.0/24,Corporate\n"
    for name, text in IGNORED.items():
        reading = read({"a.csv": text, "b.csv": connection}, ALL)
        assert reading.source.note == f"{name} ignored: no field holds it"
        assert reading.ranges() == {"8.8.8.0/24": {"connection_type": "Corporate"}}


@pytest.mark.parametrize("name", IGNORED)
def test_such_a_product_alone_is_named(tmp_path: Path, name: str) -> None:
    """By the vendor's file name; ``GeoIP-`` begins those of its newer products."""
    file = f"GeoIP-{name}-Blocks-IPv4.csv"
    error = refused(tmp_path, file, IGNORED[name], one("auto", file))
    assert f"{name} ignored: no field holds it" in str(error)


FORMS = {"ip": "{0}", "integer": "{1}", "hex": "{1:x}"}


def converted(text: str, form: str, *, replace: bool) -> str:
    """A Blocks file as geoip2-csv-converter writes it."""
    header, *rows = text.splitlines()
    lines = [f"network_start_{form},network_last_{form}," + header[8 * replace :]]
    for row in rows:
        network, remainder = row.split(",", 1)
        result = ip_network(network)
        ends = ",".join(FORMS[form].format(end, int(end)) for end in (result[0], result[-1]))
        lines.append(f"{ends},{remainder if replace else row}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("form", FORMS)
def test_ranges_of_the_converter(read: Read, form: str) -> None:
    low = BLOCKS["city"] + "::808:900/120,11,,,0,0,,,,,\n"  # numbers that could be IPv4
    texts = {"Blocks-IPv4.csv": CITY, "Blocks-IPv6.csv": CITY_V6, "Low-IPv6.csv": low}
    for replace in (False, True):
        files = {name: converted(text, form, replace=replace) for name, text in texts.items()}
        reading = read({**files, "Places.csv": EN}, ALL)
        check_city(reading)
        assert (reading.source.read, reading.source.rejected.total()) == (7, 0)


def test_the_tables_of_the_same_delivery_count_first(tmp_path: Path) -> None:
    older = zipped({"Blocks.csv": CITY, "Places.csv": EN}, "a/")
    newer = EN.replace("Alpha Town", "Renamed")
    blocks = BLOCKS["city"] + "8.8.4.0/25,11,,,0,0,,,,,\n8.8.4.128/25,30,,,0,0,,,,,\n"
    files: dict[str, str | bytes]
    files = {"a.zip": older, "b.zip": zipped({"Blocks.csv": blocks, "Places.csv": newer}, "b/")}
    reading = read_at(tmp_path, files, one("maxmind", "*.zip"))
    assert reading.at("8.8.4.4")["city_name"] == "Renamed"
    reading = read_at(tmp_path, files, one("maxmind", "a.zip"))
    assert reading.at("8.8.4.4") == ALPHA_ROW


DAMAGED: dict[str, tuple[str | bytes, int]] = {
    "cut in a row": (EN[:-8], 5),
    "too wide": (EN + "1,en,EU,,,,,,,,,,,,,,\n", 6),
    "not UTF-8": (EN.encode().replace(b"Betaville", b"B\xe9ta"), 3),
    "open quote": (EN + '40,en,EU,Europe,,,,,,,"x,,,0\n', 6),
    "cut in the first row": (EN[: len(PLACES) + 20], 2),
}


def test_damaged_locations_and_a_folder_without_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CITY, encoding="utf-8")
    for case, (content, line) in DAMAGED.items():
        error = refused(tmp_path, "b.csv", content, ALL)
        assert (error.path, error.line) == (str(tmp_path / "b.csv"), line), case
    (tmp_path / "empty").mkdir()
    error = refused(tmp_path, "a.csv", CITY, one("maxmind", "empty"))
    assert error.path.startswith(str(tmp_path / "empty"))
