"""IP2Location: DB1 to DB26 and ASN, both families, all editions, what is missing, regions.

Strategy: one place is written in the columns of every database, by a list of widths and
fields that is not the reader's.
"""

from __future__ import annotations

from ipaddress import ip_network
from itertools import permutations
from pathlib import Path

from tests.builder.sources.readings import (
    OWN,
    Read,
    Stated,
    check_offers,
    fields,
    one,
    refused,
    without_own,
)

#: Group of columns: its cells in the example, what is then known, its name in names of files.
GROUPS: dict[str, tuple[list[str], str, str]] = {
    "country": (["CH", "Switzerland"], "country_code=CH", "COUNTRY"),
    "region": (["Zurich"], "region_name=Zurich", "REGION"),
    "city": (["Winterthur"], "city_name=Winterthur", "CITY"),
    "coordinates": (["47.500000", "8.750000"], "latitude=47.5; longitude=8.75",
                    "LATITUDE-LONGITUDE"),
    "zip": (["8400"], "postal_code=8400", "ZIPCODE"),
    "tz": (["+02:00"], "", "TIMEZONE"),
    "isp": (["Example Net AG"], "isp=Example Net AG", "ISP"),
    "domain": (["example.com"], "domain=example.com", "DOMAIN"),
    "speed": (["DSL"], "connection_type=Residential", "NETSPEED"),
    "area": (["41", "052"], "area_code=052", "AREACODE"),
    "weather": (["SZXX0036", "Station"], "weather_code=SZXX0036; weather_station_name=Station",
                "WEATHER"),
    "mobile": (["228", "01/02", "Example Mobile"],
               "mcc=228; mnc=01/02; mobile_brand=Example Mobile", "MOBILE"),
    "elevation": (["439"], "elevation=439", "ELEVATION"),
    "usage": (["ISP/MOB"], "user_type=residential; usage_type=ISP/MOB", "USAGETYPE"),
    "address": (["U", "IAB19-18"], "address_type=U; category=IAB19-18", "ADDRESSTYPE-CATEGORY"),
    "as": (["District", "64500", "Example AS"],
           "district=District; asn=64500; asn_organization=Example AS", "DISTRICT-ASN"),
}  # fmt: skip
HOLDER = fields("asn=64500; asn_organization=Example AS")
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
V6 = ip_network("2a02:8::/32")


def quoted(cells: list[str]) -> str:
    return ",".join(f'"{cell}"' for cell in cells) + "\r\n"


def place_cells(database: int) -> list[str]:
    return [cell for group in DATABASES[database][0].split() for cell in GROUPS[group][0]]


def nothing(database: int) -> list[str]:
    """A row's cells where nothing is known."""
    missing = {"47.500000": "0.000000", "8.750000": "0.000000", "439": "0"}
    return [missing.get(cell, "-") for cell in place_cells(database)]


def ranges(*rows: tuple[int, int, list[str]]) -> str:
    return "".join(quoted([str(first), str(last), *cells]) for first, last, cells in rows)


def ipv4(database: int) -> str:
    known, unknown = place_cells(database), nothing(database)
    return ranges(
        (0, 16777215, unknown), (83952640, 83953663, known), (83953664, 83953919, unknown)
    )


def ipv6(database: int) -> str:
    """As the vendor writes it: the IPv4 rows once more, then IPv6."""
    known, unknown, mapped = place_cells(database), nothing(database), 0xFFFF << 32
    return ranges(
        (0, mapped - 1, unknown),
        (mapped, mapped + 16777215, unknown),
        (mapped + 83952640, mapped + 83953663, known),
        (int(V6[0]), int(V6[-1]), known),
        (int(V6[-1]) + 1, (1 << 128) - 1, unknown),
    )


def stated(database: int) -> Stated:
    """All that is known where the place is, with own columns."""
    return fields("; ".join(GROUPS[part][1] for part in DATABASES[database][0].split()))


def expected(database: int) -> Stated:
    return without_own({"": stated(database)})[""]


def test_every_database_by_the_words_of_its_name(read: Read) -> None:
    for database, (groups, width) in DATABASES.items():
        assert len(place_cells(database)) + 2 == width
        named = f"IP-{'-'.join(GROUPS[group][2] for group in groups.split())}-SAMPLE.csv"
        for name in (named, "a.csv"):  # the content shows the database as well
            reading = read({name: ipv4(database)}, OWN + one("ip2location", name))
            assert reading.ranges() == {"5.1.4.0/22": stated(database)}, name
            source = reading.source
            assert (source.read, source.rejected, source.nulled) == (3, {}, {}), name
    check_offers("ip2location", [{"": stated(26)}])


def test_no_database_is_taken_for_another_of_its_width(tmp_path: Path) -> None:
    mistakes = [
        (database, other)
        for database, other in permutations(DATABASES, 2)
        if DATABASES[database][1] == DATABASES[other][1]
    ]
    assert len(mistakes) > 10
    for database, other in mistakes:
        text = one("ip2location", "a.csv", f"db = {other}")
        error = refused(tmp_path, "a.csv", ipv4(database), text)
        assert f"so this is not IP2Location DB{other}" in error.problem
        assert error.line in (1, 2)  # 0.000000 would be no isp, - would be none


def test_mapped_addresses_and_missing_values(read: Read) -> None:
    text = "::ffff:5.1.4.0/118," + quoted(place_cells(5)) + "2a02:8::/32," + quoted(place_cells(5))
    reading = read({"a.csv": text}, one("ip2location", "a.csv", "db = 5"))
    assert reading.ranges() == {"5.1.4.0/22": expected(5), "2a02:8::/32": expected(5)}
    assert reading.source.rows["folded"] == 1
    # 0,0 is missing; on the equator or the meridian alone it is a place.
    text = ranges(
        (83952640, 83952895, ["-", "-", "-", "-", "0.000000", "0.000000"]),
        (83952896, 83953151, ["GH", "Ghana", "-", "-", "5.500000", "0.000000"]),
    )
    reading = read({"DB5.CSV": text}, one("ip2location", "DB5.CSV"))
    assert reading.ranges() == {"5.1.5.0/24": fields("country_code=GH; latitude=5.5; longitude=0")}


def test_an_elevation_of_0_is_a_value_where_there_is_a_country(read: Read) -> None:
    *place, _ = place_cells(21)
    missing = ["-"] * 4 + ["0.000000"] * 2 + ["-"] * 4
    text = ranges(
        (83952640, 83952895, [*place, "0"]),
        (83952896, 83953151, [*missing, "0"]),
        (83953152, 83953407, [*place, "-"]),
    )
    recipe = '[columns]\nelevation = "integer"\n' + one("ip2location", "a.csv", "db = 21")
    reading = read({"a.csv": text}, recipe)
    assert reading.values("own.elevation", "5.1.4.0", "5.1.5.0", "5.1.6.0") == [0, None, None]
    assert reading.source.nulled == {}
    assert reading.source.emptied == {"elevation 0 without a country": 1}


def test_the_asn_file(read: Read) -> None:
    text = ranges(
        (83952640, 83953663, ["5.1.4.0/22", "64500", "Example AS"]),
        (83953664, 83953919, ["5.1.8.0/24", "-", "-"]),
    )
    for name, options in (("IP2LOCATION-LITE-ASN.CSV", []), ("a.csv", ['db = "asn"'])):
        reading = read({name: text}, one("ip2location", name, *options))
        assert reading.ranges() == {"5.1.4.0/22": HOLDER}
        assert reading.source.nulled == {}
