"""IP2Location: DB1 to DB26 and ASN, both families, all editions, what is missing, regions.

Strategy: one place is written in the columns of every database, by a list of widths and
fields that is not the reader's.
"""

from __future__ import annotations

import csv
import io
import zipfile
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from itertools import permutations
from pathlib import Path

import pytest

import geolookup
from tests.builder.building import fails
from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read
from tests.builder.sources.recipes import one, refused
from tests.conftest import Build

#: Column: what the example says in it.
CELLS = {
    "country": ["CH", "Switzerland"],
    "region": ["Zurich"],
    "city": ["Winterthur"],
    "coordinates": ["47.500000", "8.750000"],
    "zip": ["8400"],
    "tz": ["+02:00"],
    "isp": ["Example Net AG"],
    "domain": ["example.com"],
    "speed": ["DSL"],
    "area": ["41", "052"],
    "weather": ["SZXX0036", "Winterthur"],
    "mobile": ["228", "01/02", "Example Mobile"],
    "elevation": ["439"],
    "usage": ["ISP/MOB"],
    "address": ["U", "IAB19-18"],
    "as": ["Winterthur", "64500", "Example AS"],
}
_CITY = "country region city coordinates"
_ALL = f"{_CITY} zip tz isp domain speed area weather mobile elevation"
#: Database: its groups of columns, and the number of all columns with the two of the range.
DATABASES = {
    1: ("country", 4),
    2: ("country isp", 5),
    3: ("country region city", 6),
    4: ("country region city isp", 7),
    5: (_CITY, 8),
    6: (f"{_CITY} isp", 9),
    7: ("country region city isp domain", 8),
    8: (f"{_CITY} isp domain", 10),
    9: (f"{_CITY} zip", 9),
    10: (f"{_CITY} zip isp domain", 11),
    11: (f"{_CITY} zip tz", 10),
    12: (f"{_CITY} zip tz isp domain", 12),
    13: (f"{_CITY} tz speed", 10),
    14: (f"{_CITY} zip tz isp domain speed", 13),
    15: (f"{_CITY} zip tz area", 12),
    16: (f"{_CITY} zip tz isp domain speed area", 15),
    17: (f"{_CITY} tz speed weather", 12),
    18: (f"{_CITY} zip tz isp domain speed area weather", 17),
    19: (f"{_CITY} isp domain mobile", 13),
    20: (f"{_CITY} zip tz isp domain speed area weather mobile", 20),
    21: (f"{_CITY} zip tz area elevation", 13),
    22: (_ALL, 21),
    23: (f"{_CITY} isp domain mobile usage", 14),
    24: (f"{_ALL} usage", 22),
    25: (f"{_ALL} usage address", 24),
    26: (f"{_ALL} usage address as", 27),
}
KNOWN: dict[str, dict[str, object]] = {
    "country": {"country_code": "CH"},
    "region": {"region_name": "Zurich"},
    "city": {"city_name": "Winterthur"},
    "coordinates": {"latitude": 47.5, "longitude": 8.75},
    "zip": {"postal_code": "8400"},
    "isp": {"isp": "Example Net AG"},
    "speed": {"connection_type": "Residential"},
    "weather": {"weather_code": "SZXX0036"},
    "usage": {"user_type": "residential"},
    "as": {"asn": 64500, "asn_organization": "Example AS"},
}
NAMES = {
    "country": "COUNTRY",
    "region": "REGION",
    "city": "CITY",
    "coordinates": "LATITUDE-LONGITUDE",
    "zip": "ZIPCODE",
    "tz": "TIMEZONE",
    "isp": "ISP",
    "domain": "DOMAIN",
    "speed": "NETSPEED",
    "area": "AREACODE",
    "weather": "WEATHER",
    "mobile": "MOBILE",
    "elevation": "ELEVATION",
    "usage": "USAGETYPE",
    "address": "ADDRESSTYPE-CATEGORY",
    "as": "DISTRICT-ASN",
}
V4, V6 = ip_network("5.1.4.0/22"), ip_network("2a02:8::/32")
Network = IPv4Network | IPv6Network


def quoted(cells: list[str]) -> str:
    return ",".join(f'"{cell}"' for cell in cells) + "\r\n"


def place(database: int) -> list[str]:
    return [cell for group in DATABASES[database][0].split() for cell in CELLS[group]]


def nothing(database: int) -> list[str]:
    """A row's cells where nothing is known."""
    missing = {"47.500000": "0.000000", "8.750000": "0.000000", "439": "0"}
    return [missing.get(cell, "-") for cell in place(database)]


def ipv4(database: int) -> str:
    return (
        quoted(["0", "16777215", *nothing(database)])
        + quoted(["83952640", "83953663", *place(database)])
        + quoted(["83953664", "83953919", *nothing(database)])
    )


def ipv6(database: int) -> str:
    """As the vendor writes it: the IPv4 rows once more, then IPv6."""
    mapped = 0xFFFF << 32
    first, last = int(V6[0]), int(V6[-1])
    return (
        quoted(["0", str(mapped - 1), *nothing(database)])
        + quoted([str(mapped), str(mapped + 16777215), *nothing(database)])
        + quoted([str(mapped + 83952640), str(mapped + 83953663), *place(database)])
        + quoted([str(first), str(last), *place(database)])
        + quoted([str(last + 1), str((1 << 128) - 1), *nothing(database)])
    )


def expected(database: int) -> dict[str, object]:
    groups = DATABASES[database][0].split()
    return {name: value for each in groups for name, value in KNOWN.get(each, {}).items()}


def test_every_database(read: Read) -> None:
    for database, (_, width) in DATABASES.items():
        assert len(place(database)) + 2 == width
        name = f"IP2LOCATION-LITE-DB{database}.CSV"
        reading = read({name: ipv4(database)}, one("ip2location", name))
        assert reading.stated("5.1.4.0", "5.1.7.255", "5.1.8.0", "5.1.3.255") == [
            *[expected(database)] * 2,
            *[{}] * 2,
        ], name
        (source,) = reading.report.sources
        assert (source.read, source.rejected, source.nulled) == (3, {}, {}), name


def test_every_database_in_ipv6(read: Read) -> None:
    probes = ("2a02:8::", "2a02:8:ffff::1", "5.1.4.0", "::ffff:5.1.7.255", "2a02:9::", "5.1.3.0")
    for database in DATABASES:
        name = f"IP2LOCATION-LITE-DB{database}.IPV6.CSV"
        reading = read({name: ipv6(database)}, one("ip2location", name))
        assert reading.stated(*probes) == [expected(database)] * 4 + [{}] * 2, name
        (source,) = reading.report.sources
        assert (source.read, source.rejected, source.nulled) == (5, {}, {}), name


def test_the_names_of_the_commercial_files(read: Read) -> None:
    for database, (groups, _) in DATABASES.items():
        name = f"IP-{'-'.join(NAMES[group] for group in groups.split())}-SAMPLE.csv"
        reading = read({name: ipv4(database)}, one("ip2location", name))
        assert reading.at("5.1.4.0") == expected(database), name


def test_the_content_shows_another_database(tmp_path: Path) -> None:
    """Stated wrongly, no database of the same width is taken for another."""
    mistakes = [
        (database, other)
        for database, other in permutations(DATABASES, 2)
        if DATABASES[database][1] == DATABASES[other][1]
    ]
    assert len(mistakes) > 10
    for database, other in mistakes:
        text = one("ip2location", "a.csv", f"db = {other}")
        error = refused(tmp_path, "a.csv", ipv4(database), text)
        assert f"so this is not DB{other}" in error.problem
        assert error.line in (1, 2)  # 0.000000 would be no isp, - would be none


def test_without_a_number_the_error_tells_it(tmp_path: Path) -> None:
    for database in DATABASES:
        error = refused(tmp_path, "a.csv", ipv4(database), one("ip2location", "a.csv"))
        assert "states no database" in error.problem
        assert f"it looks like DB{database})" in str(error)


def test_both_files_are_the_same_rows_once_more(read: Read) -> None:
    """The IPv4 copy in an IPv6 file changes nothing beside the IPv4 file."""
    files: dict[str, str | bytes] = {"DB26.CSV": ipv4(26), "DB26.IPV6.CSV": ipv6(26)}
    both = read(files, one("ip2location", "DB26*.CSV"))
    alone = read(files, one("ip2location", "DB26.IPV6.CSV"))
    assert both.intervals() == alone.intervals()
    assert len(both.report.sources) == 1
    assert both.source.duplicates == 2


def test_the_zone_is_that_of_the_country(build: Build) -> None:
    """+02:00 is summer time; and where a country has several zones none is known."""
    cells = place(11)
    american = ["US", "United States of America", *cells[2:7], "-04:00"]
    text = ipv4(11) + quoted(["84000000", "84000255", *american])
    dataset, _ = build({"DB11.CSV": text}, one("ip2location", "DB11.CSV"))
    with geolookup.open(dataset) as engine:
        zones = [engine.data(each, at=0)["time"]["zone"] for each in ("5.1.4.0", "5.1.189.0")]
    assert zones == ["Europe/Zurich", None]


EDITIONS = ["range", "cidr", "hex", "range appended", "cidr appended", "hex appended"]


def edition(name: str, network: Network) -> list[str]:
    form, _, appended = name.partition(" ")
    first, last = int(network[0]), int(network[-1])
    digits = 8 if network.version == 4 else 32
    written = {
        "range": [str(network[0]), str(network[-1])],
        "cidr": [str(network)],
        "hex": [f"{first:0{digits}X}", f"{last:0{digits}X}"],
    }
    return [str(first), str(last), *written[form]] if appended else written[form]


@pytest.mark.parametrize("network", [V4, V6], ids=str)
@pytest.mark.parametrize("name", EDITIONS)
def test_editions(read: Read, name: str, network: Network) -> None:
    """As the vendor's converter writes them; the CIDR edition leaves the network unquoted."""
    probes = [str(each) for each in (network[0], network[-1], network[0] - 1, network[-1] + 1)]
    for database in (1, 9, 11, 26):
        text = quoted([*edition(name, network), *place(database)])
        if name == "cidr":
            text = text.replace(f'"{network}"', str(network))
        reading = read({"a.csv": text}, one("ip2location", "a.csv", f"db = {database}"))
        assert reading.stated(*probes) == [expected(database)] * 2 + [{}] * 2, database
        assert reading.source.rejected == {}, database


def test_the_mapped_part_of_a_cidr_file(read: Read) -> None:
    text = "::ffff:5.1.4.0/118," + quoted(place(5)) + "2a02:8::/32," + quoted(place(5))
    reading = read({"a.csv": text}, one("ip2location", "a.csv", "db = 5"))
    assert reading.stated("5.1.4.0", "2a02:8::", "5.1.8.0") == [expected(5), expected(5), {}]
    assert reading.source.rows_folded == 1


def test_small_integers_of_eight_digits_are_decimal(read: Read) -> None:
    text = quoted(["83952640", "83953663", "CH", "Switzerland"])
    reading = read({"a.csv": text}, one("ip2location", "a.csv", "db = 1"))
    assert reading.stated("5.1.4.0") == [{"country_code": "CH"}]


def test_the_asn_file(read: Read) -> None:
    text = quoted(["83952640", "83953663", "5.1.4.0/22", "64500", "Example AS"]) + quoted(
        ["83953664", "83953919", "5.1.8.0/24", "-", "-"]
    )
    for name, options in (("IP2LOCATION-LITE-ASN.CSV", []), ("a.csv", ['db = "asn"'])):
        reading = read({name: text}, one("ip2location", name, *options))
        assert reading.stated("5.1.4.0", "5.1.8.0") == [KNOWN["as"], {}]
        assert reading.source.nulled == {}


REGIONS = '"country_code","subdivision_name","code"\r\n'


def test_regions(read: Read) -> None:
    """A name may be in several countries; what is not in the table has no code."""
    table = REGIONS + '"CH","Zurich","CH-ZH"\r\n"DE","Zurich","DE-XX"\r\n"CH","Bern","-"\r\n'
    rows = [
        ["CH", "Switzerland", "Zurich", "Winterthur"],
        ["DE", "Germany", "Zurich", "-"],
        ["CH", "Switzerland", "Bern", "Bern"],
        ["CH", "Switzerland", "Aargau", "-"],
        ["CH", "Switzerland", "-", "-"],
        ["-", "-", "-", "-"],
    ]
    text = "".join(
        quoted([str(83952640 + 256 * at), str(83952895 + 256 * at), *row])
        for at, row in enumerate(rows)
    )
    files: dict[str, str | bytes] = {"DB3.CSV": text, "regions.csv": table}
    reading = read(files, one("ip2location", "DB3.CSV", 'regions = "regions.csv"'))
    codes = reading.values("region_code", *(f"5.1.{4 + at}.0" for at in range(6)))
    assert codes == ["ZH", "XX", None, None, None, None]
    assert reading.at("5.1.7.0")["region_name"] == "Aargau"


def test_bad_regions(tmp_path: Path) -> None:
    text = one("ip2location", "DB3.CSV", 'regions = "regions.csv"')
    files: dict[str, str | bytes] = {"DB3.CSV": ipv4(3)}
    problems = [str(fails(tmp_path, files, text))]
    for table in ("", '"country","name","code"\n', REGIONS + '"CH","Zurich"\n'):
        error = fails(tmp_path, files | {"regions.csv": table}, text)
        assert "regions.csv" in error.path
        problems.append(str(error))
    expected = (
        "cannot be read",
        "empty file",
        "unknown column 'country'",
        "2 cells under 3 columns",
    )
    assert [word in problem for word, problem in zip(expected, problems, strict=True)] == [True] * 4


def test_bad_options(tmp_path: Path) -> None:
    for value in ("27", "0", '"DB0"', '"11"', "true", "1.5"):
        text = one("ip2location", "a.csv", f"db = {value}")
        assert "source.db is" in fails(tmp_path, {"a.csv": ipv4(11)}, text).problem, value
    error = fails(tmp_path, {"DB3.CSV": ipv4(3)}, one("ip2location", "DB3.CSV", "regions = 3"))
    assert "source.regions" in error.problem


@pytest.mark.parametrize(
    ("text", "database", "problem"),
    [
        (ipv4(26), 1, "27 columns, but DB1 has 4"),
        (ipv4(1), 26, "4 columns, but DB26 has 27"),
        (ipv4(5), 3, "no range of addresses in the first 4 of the columns of DB3"),
        (quoted(["a", "b", "CH", "Switzerland"]), 1, "no range of addresses in the first 2"),
        ("5.1.4.0/22," + quoted(place(7)), 5, "'Example Net AG' is no latitude"),
    ],
)
def test_other_files(tmp_path: Path, text: str, database: int, problem: str) -> None:
    error = refused(tmp_path, "a.csv", text, one("ip2location", "a.csv", f"db = {database}"))
    assert problem in str(error)


def test_missing_country_and_real_zero(read: Read) -> None:
    """0,0 is missing; on the equator or the meridian alone it is a place."""
    text = quoted(["83952640", "83952895", "-", "-", "-", "-", "0.000000", "0.000000"]) + quoted(
        ["83952896", "83953151", "GH", "Ghana", "-", "-", "5.500000", "0.000000"]
    )
    reading = read({"DB5.CSV": text}, one("ip2location", "DB5.CSV"))
    assert reading.stated("5.1.4.0", "5.1.5.0") == [
        {},
        {"country_code": "GH", "latitude": 5.5, "longitude": 0},
    ]


def test_an_archive_with_both_kinds(read: Read) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("IP2LOCATION-LITE-DB3.CSV", ipv4(3))
        archive.writestr(
            "IP2LOCATION-LITE-ASN.CSV",
            quoted(["83952640", "83952895", "5.1.4.0/24", "64500", "Example AS"]),
        )
        archive.writestr("LICENSE-CC-BY-SA-4.0.TXT", "text")
        archive.writestr("README_LITE.TXT", "text")
    reading = read({"a.zip": stream.getvalue()}, one("ip2location", "a.zip"))
    assert [each.name for each in reading.report.sources] == ["a.zip (DB3)", "a.zip (ASN)"]
    assert reading.stated("5.1.4.0", "5.1.5.0") == [expected(3) | KNOWN["as"], expected(3)]


def test_numbers_past_the_end_in_ipv6(read: Read) -> None:
    bad = quoted([str(1 << 127), str(1 << 128), "CH", "Switzerland"])
    reading = read({"DB1.CSV": ipv6(1) + bad}, one("ip2location", "DB1.CSV"))
    assert reading.source.rejected == {"not an address": 1}


def test_bad_hexadecimals(read: Read) -> None:
    good = quoted(["05010400", "050107FF", "CH", "Switzerland"])
    bad = "".join(
        quoted([first, last, "CH", "Switzerland"])
        for first, last in (
            ("050107FF", "05010400"),
            ("0501040G", "050107FF"),
            ("05010400", "1FFFFFFFF"),
            ("0" * 33, "050107FF"),
            ("", "050107FF"),
            ("5.1.4.0", "050107FF"),
        )
    )
    reading = read({"DB1.CSV": good * 7 + bad}, one("ip2location", "DB1.CSV"))
    assert reading.source.rejected == {"not an address": 5, "first is after last": 1}
    assert reading.stated("5.1.4.0") == [{"country_code": "CH"}]


@pytest.mark.parametrize("text", [ipv4(26), ipv6(26)])
def test_rows_are_those_of_a_plain_reader(tmp_path: Path, text: str) -> None:
    winterthur = {**expected(26), "region_code": "ZH"}
    rows = [
        {"first": ip_address(int(first)), "last": ip_address(int(last)), **winterthur}
        for first, last, code, *_ in csv.reader(text.splitlines())
        if code == "CH"
    ]
    recipe = one("ip2location", "DB26.CSV", 'regions = "regions.csv"')
    table = REGIONS + '"CH","Zurich","CH-ZH"\r\n'
    check_rows(tmp_path, {"DB26.CSV": text, "regions.csv": table}, recipe, rows)
