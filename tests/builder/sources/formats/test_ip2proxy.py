"""IP2Proxy: PX1 to PX12, both families, editions, types of proxies, and files of something else.

Strategy: one proxy is written in the columns of every database, by a list that is not the reader's.
"""

from __future__ import annotations

from tests.builder.sources.formats.test_ip2location import quoted
from tests.builder.sources.readings import OWN, Read, Stated, check_offers, fields, one

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
_FLAGS = "is_proxy=true; is_vpn=false; is_tor=false; is_relay=false; is_residential_proxy=false;"
#: The last database without a field, and what then is known.
KNOWN: list[tuple[int, str]] = [
    (0, "country_code=CH"),
    (1, f"user_type=consumer_privacy_network; {_FLAGS} is_vpn=true; proxy_type=VPN"),
    (2, "region_name=Zurich; city_name=Winterthur"),
    (3, "isp=Example Net AG"),
    (4, "domain=example.com"),
    (5, "usage_type=ISP/MOB"),
    (6, "asn=64500; asn_organization=Example AS"),
    (7, "last_seen_days=26"),
    (8, "threat=SPAM/BOTNET"),
    (10, "proxy_provider=Example VPN"),
    (11, "fraud_score=95"),
]


def rows(*records: list[str]) -> str:
    return "".join(map(quoted, records))


def ipv4(number: int, *, first: int = 134743040, size: int = 256) -> str:
    unknown = [str(first - 256), str(first - 1), *["-"] * len(DATABASES[number])]
    return rows(unknown, [str(first), str(first + size - 1), *DATABASES[number]])


def ipv6(number: int) -> str:
    return ipv4(number, first=0x2600 << 112, size=1 << 96)


def stated(number: int) -> Stated:
    """All that is known of the proxy, with own columns."""
    return fields("; ".join(known for before, known in KNOWN if number > before))


def test_every_database(read: Read) -> None:
    for number in DATABASES:
        lite, six = f"IP2PROXY-LITE-PX{number}.CSV", f"PX{number}.IPV6.CSV"
        recipe = OWN + one("auto", f"*PX{number}.*CSV")
        reading = read({lite: ipv4(number), six: ipv6(number)}, recipe)
        assert reading.ranges() == {"8.8.4.0/24": stated(number), "2600::/32": stated(number)}
        assert reading.source.nulled.total() == 0
        assert reading.source.note == f"detected ip2proxy: PX{number}"


_NO_PROXY = "is_proxy=false"
_PRIVATE = "user_type=consumer_privacy_network;"
#: Type of the proxy and usage type: what they are, beside flags that are false.
TYPES = {
    ("VPN", "DCH"): f"{_PRIVATE} is_vpn=true",
    ("TOR", "ISP"): f"{_PRIVATE} is_tor=true",
    ("CPN", "-"): f"{_PRIVATE} is_relay=true",
    ("DCH", "COM"): f"user_type=hosting; is_hosting=true; {_NO_PROXY}",
    ("SES", "DCH"): f"user_type=search_engine_spider; {_NO_PROXY}",
    ("EPN", "ISP"): "user_type=business",
    ("RES", "ISP/MOB"): "user_type=residential; is_residential_proxy=true",
    ("RES", "MOB"): "user_type=cellular; is_residential_proxy=true",
    ("PUB", "EDU"): "user_type=college",
    ("WEB", "-"): "",
    ("AIC", "DCH"): f"user_type=hosting; {_NO_PROXY}",
    ("-", "GOV"): "user_type=government",
}


def test_types_of_proxies(read: Read) -> None:
    records, expected = list[list[str]](), dict[str, Stated]()
    for at, ((type_, usage), known) in enumerate(TYPES.items()):
        first = 134743040 + at * 256
        records.append([str(first), str(first + 255), type_, *["-"] * 6, usage])
        flags = "" if type_ == "-" else f"{_FLAGS} proxy_type={type_};"
        usage_type = "" if usage == "-" else f"; usage_type={usage}"
        expected[f"8.8.{4 + at}.0/24"] = fields(flags + known + usage_type)
    reading = read({"PX6.CSV": rows(*records)}, OWN + one("ip2proxy", "PX6.CSV"))
    assert reading.ranges() == expected
    assert not reading.source.nulled
    check_offers("ip2proxy", [{"": stated(12)}, expected])
