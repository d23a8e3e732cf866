"""IP2Proxy: PX1 to PX12, both families, editions, types of proxies, and files of something else.

Strategy: one proxy is written in the columns of every database, by a list that is not the reader's.
"""

from __future__ import annotations

from tests.builder.sources.formats.test_ip2location import quoted
from tests.builder.sources.readings import Read, one

_PLACE_CELLS = ["CH", "Switzerland"]
_CITY = ["Zurich", "Winterthur"]
_HOLDER = ["64500", "Example AS"]
_TAIL = {8: ["26"], 9: ["SPAM/BOTNET"], 11: ["Example VPN"], 12: ["95"]}
DATABASES: dict[int, list[str]] = {1: _PLACE_CELLS, 2: ["VPN", *_PLACE_CELLS]}
DATABASES[3] = DATABASES[2] + _CITY
DATABASES[4] = [*DATABASES[3], "Example Net AG"]
DATABASES[5] = [*DATABASES[4], "example.com"]
DATABASES[6] = [*DATABASES[5], "ISP/MOB"]
DATABASES[7] = DATABASES[6] + _HOLDER
for _number in range(8, 13):
    DATABASES[_number] = DATABASES[_number - 1] + _TAIL.get(_number, [])
#: The last database without a field, and what then is known.
KNOWN: list[tuple[int, dict[str, object]]] = [
    (0, {"country_code": "CH"}),
    (1, {"user_type": "consumer_privacy_network"}),
    (2, {"region_name": "Zurich", "city_name": "Winterthur"}),
    (3, {"isp": "Example Net AG"}),
    (6, {"asn": 64500, "asn_organization": "Example AS"}),
]
COMMERCIAL = {
    1: "COUNTRY",
    2: "PROXYTYPE-COUNTRY",
    8: "PROXYTYPE-COUNTRY-REGION-CITY-ISP-DOMAIN-USAGETYPE-ASN-LASTSEEN",
    10: "PROXYTYPE-COUNTRY-REGION-CITY-ISP-DOMAIN-USAGETYPE-ASN-LASTSEEN-THREAT-RESIDENTIAL",
    12: "PROXYTYPE-COUNTRY-REGION-CITY-ISP-DOMAIN-USAGETYPE-ASN-LASTSEEN-THREAT-RESIDENTIAL"
    "-PROVIDER-FRAUDSCORE",
}


def rows(*records: list[str]) -> str:
    return "".join(map(quoted, records))


def ipv4(number: int, *, first: int = 134743040, size: int = 256) -> str:
    unknown = [str(first - 256), str(first - 1), *["-"] * len(DATABASES[number])]
    return rows(unknown, [str(first), str(first + size - 1), *DATABASES[number]])


def ipv6(number: int) -> str:
    return ipv4(number, first=0x2600 << 112, size=1 << 96)


def expected(number: int) -> dict[str, object]:
    actual: dict[str, object] = {}
    for before, fields in KNOWN:
        actual |= fields if number > before else {}
    return actual


def test_every_database(read: Read) -> None:
    for number in DATABASES:
        lite, six = f"IP2PROXY-LITE-PX{number}.CSV", f"PX{number}.IPV6.CSV"
        reading = read({lite: ipv4(number), six: ipv6(number)}, one("auto", f"*PX{number}.*CSV"))
        known = expected(number)
        assert reading.ranges() == {"8.8.4.0/24": known, "2600::/32": known}
        assert reading.source.nulled.total() == 0
        assert reading.source.note == f"detected ip2proxy: PX{number}"


def test_other_names(read: Read) -> None:
    """The number of columns shows the database; PX9 and PX10 have the same."""
    names = [(number, "a.csv") for number in DATABASES if number not in (1, 9)]
    names += [(number, f"IP2PROXY-IP-{words}.CSV") for number, words in COMMERCIAL.items()]
    for number, name in names:
        reading = read({name: ipv4(number)}, one("auto", name))
        assert reading.at("8.8.4.4") == expected(number), name
        assert reading.source.note == f"detected ip2proxy: PX{number}", name


#: Type of the proxy and usage type: the user type.
TYPES = {
    ("VPN", "DCH"): "consumer_privacy_network",
    ("TOR", "ISP"): "consumer_privacy_network",
    ("CPN", "-"): "consumer_privacy_network",
    ("DCH", "COM"): "hosting",
    ("SES", "DCH"): "search_engine_spider",
    ("EPN", "ISP"): "business",
    ("RES", "ISP/MOB"): "residential",
    ("RES", "MOB"): "cellular",
    ("PUB", "EDU"): "college",
    ("WEB", "-"): None,
    ("AIC", "DCH"): "hosting",
    ("-", "GOV"): "government",
}


def test_types_of_proxies(read: Read) -> None:
    records = [
        [f"{134743040 + at * 256}", f"{134743295 + at * 256}", type_, *DATABASES[5][1:], usage]
        for at, (type_, usage) in enumerate(TYPES)
    ]
    reading = read({"PX6.CSV": rows(*records)}, one("ip2proxy", "PX6.CSV"))
    addresses = [f"8.8.{4 + at}.1" for at in range(len(TYPES))]
    assert reading.values("user_type", *addresses) == list(TYPES.values())
    assert not reading.source.unknown_words


def test_editions_and_regions(read: Read) -> None:
    codes = '"country_code","subdivision_name","code"\n"CH","Zurich","CH-ZH"\n'
    remainder = DATABASES[3]
    editions = {
        "dotted": rows(["8.8.4.0", "8.8.4.255", *remainder]),
        "prefix": rows(["8.8.4.0/24", *remainder]),
        "hexadecimal": rows(["08080400", "080804FF", *remainder]),
        "mapped": rows([str(0xFFFF08080400), str(0xFFFF080804FF), *remainder]),
    }
    for content in editions.values():
        text = one("ip2proxy", "a.csv", "db = 3", 'regions = "codes.csv"')
        reading = read({"a.csv": content, "codes.csv": codes}, text, force=True)
        assert reading.at("8.8.4.255") == {**expected(3), "region_code": "ZH"}
