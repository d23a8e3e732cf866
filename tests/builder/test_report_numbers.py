"""The report: rows read, used, duplicate, clipped, folded and excluded; bad values and their words.

Strategy: small sources beside plain set arithmetic on Python's integers, one row at a time;
what a row loses is what special-purpose and embedded space say, not what other rows do. Bad
values null their field and are counted; vendors' words are those of the contract.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, ip_address, ip_network
from itertools import pairwise
from pathlib import Path

from tests.builder.building import recipe
from tests.builder.sources.readings import Reading, one, read_at
from tests.conftest import Build
from tests.internals.builder import VOCABULARY, BuildReport, SourceReport
from tests.internals.contract import BY_SOURCE_COLUMN, LAYERS, PRIVATE, ranges_of
from tests.oracle import Address, as_number

MAPPED = (0xFFFF << 32, 0xFFFF << 32 | 0xFFFF_FFFF)
EXCLUDED = [(int(n[0]), int(n[-1])) for n in map(ip_network, ("64:ff9b::/96", "2002::/16"))]
Span = tuple[int, int]
#: Special-purpose space, without what carries IPv4.
CLIPPED = [
    *((MAPPED[0] + first, MAPPED[0] + last) for first, last in ranges_of(4, PRIVATE)),
    *ranges_of(6, PRIVATE),
]


def common(span: Span, blocks: list[Span]) -> int:
    """How many addresses a span shares with disjoint blocks."""
    return sum(max(0, min(span[1], last) - max(span[0], first) + 1) for first, last in blocks)


def expected(listed: list[tuple[Address, Address]]) -> dict[str, int]:
    """What the report is to say of ranges, by set arithmetic on the line of both families."""
    lines = [(as_number(first), as_number(last)) for first, last in listed]
    native = [isinstance(first, IPv4Address) for first, _ in listed]
    folded = [0 if v4 else common(line, [MAPPED]) for line, v4 in zip(lines, native, strict=True)]
    excluded = [common(line, EXCLUDED) for line in lines]
    clipped = [common(line, CLIPPED) for line in lines]
    counts = {"folded": folded, "excluded": excluded, "clipped": clipped}
    return {
        "read": len(listed),
        "rows duplicate": len(lines) - len(set(lines)),
        **{f"addresses {name}": sum(item) for name, item in counts.items()},
        **{f"rows {name}": sum(map(bool, item)) for name, item in counts.items()},
    }


def counters(report: SourceReport) -> dict[str, int]:
    return {
        "read": report.read,
        "rows duplicate": report.rows["duplicate"],
        **{f"addresses {word}": report.addresses[word] for word in KINDS},
        **{f"rows {word}": report.rows[word] for word in KINDS},
    }


KINDS = ("folded", "excluded", "clipped")
RANGES = [
    ("8.8.8.0", "8.8.8.255"),
    (str(IPv4Address(0)), "255.255.255.255"),
    ("9.255.255.0", "10.0.0.5"),
    ("10.5.0.0", "10.5.255.255"),
    ("192.0.0.0", "192.0.0.255"),
    ("223.255.255.255", "224.0.0.0"),
    ("255.255.255.255", "255.255.255.255"),
    ("192.88.99.0", "192.88.99.255"),
    ("2a00::", "2a00::ffff"),
    # A multiple of 2**64 addresses, and ranges that differ in their upper halves.
    ("2a00::", "2a00::ffff:ffff:ffff:ffff"),
    ("2a00::", "2a00:0:0:2:ffff:ffff:ffff:ffff"),
    ("2a00:0:0:2::", "2a00:0:0:2:ffff:ffff:ffff:ffff"),
    ("2001:db7::", "2001:db9:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2002::", "2002:0:0:4:ffff:ffff:ffff:ffff"),
    ("::ffff:8.8.8.0", "::ffff:8.8.8.255"),
    ("::ffff:9.255.255.0", "::ffff:10.0.0.5"),
    # 2**64 addresses more than its part in IPv4, which the range after it states.
    ("::ffff:8.8.8.0", "0:0:0:1:0:ffff:ffff:ffff"),
    ("8.8.8.0", "255.255.255.255"),
    ("::fffe:ffff:fff0", "::ffff:0:5"),
    ("::ffff:ffff:fff0", "::1:0:0:5"),
    ("::", "::5"),
    ("::fffe:0:0", "::1:0:0:0"),
    ("2001:ffff:ffff:ffff:ffff:ffff:ffff:fffe", "2002::1"),
    ("2002:ffff:ffff:ffff:ffff:ffff:ffff:fffe", "2003::1"),
    ("2002:808:808::", "2002:808:808::ff"),
    ("64:ff9b::", "64:ff9b::ffff"),
    ("64:ff9a::", "64:ff9c::"),
    ("feff::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
]


def parsed(pair: tuple[str, str]) -> tuple[Address, Address]:
    return ip_address(pair[0]), ip_address(pair[1])


def csv_text(pairs: list[tuple[str, str]]) -> str:
    rows = [f"{first},{last},{number}" for number, (first, last) in enumerate(pairs)]
    return "\n".join(["first,last,isp", *rows])


def reported(folder: Path, texts: list[str]) -> list[SourceReport]:
    """The report of each text as a source: none is of another source's rows."""
    names = [f"{number}.csv" for number in range(len(texts))]
    files = dict[str, str | bytes](zip(names, texts, strict=True))
    return read_at(folder, files, recipe(*(f'path = "{name}"' for name in names))).report.sources


def read_csv(folder: Path, text: str, *options: str, **more: int) -> Reading:
    return read_at(folder, {"a.csv": text}, one("csv", "a.csv", *options), **more)


def test_numbers_of_ranges(tmp_path: Path) -> None:
    """Of each range, of each with its neighbour twice, of all at once, and of both families."""
    cases = [[pair] for pair in RANGES]
    cases += [[one, other, one] for one, other in pairwise(RANGES)]
    cases += [RANGES + RANGES[:7] + RANGES[14:19], [RANGES[1], ("::", RANGES[-1][1])]]
    sources = reported(tmp_path, [csv_text(pairs) for pairs in cases])
    for pairs, source in zip(cases, sources, strict=True):
        assert counters(source) == expected(list(map(parsed, pairs))), pairs
        # In networks of IPv6: nobody reads 38 digits.
        assert not re.search(r"[\d,]{20}", "\n".join(source.lines()))


#: Rows, and how many of them decide some public address.
USED = (
    (["8.8.8.0/24", "8.8.8.0/25"], 2),
    (["8.8.8.0/24", "8.8.8.0/25", "8.8.8.128/25"], 2),
    (["8.8.8.0/24", "8.8.8.0/24"], 1),
    (["10.0.0.0/8", "fe80::/64", "2002:808::/32"], 0),
    (["::ffff:8.8.8.0/120", "8.8.8.0/24"], 1),
    (["::ffff:8.8.8.0/120", "8.8.8.0/25"], 2),
    (["nowhere", "8.8.8.8"], 1),
    (["::/0", "0.0.0.0/0"], 2),
)


def test_counts_coverage_and_used_rows(build: Build, tmp_path: Path) -> None:
    sources = reported(tmp_path, ["network\n" + "\n".join(rows) for rows, _ in USED])
    assert [(source.read, source.used) for source in sources] == [
        (len(rows), n) for rows, n in USED
    ]
    text = "network,isp,country_code\n8.8.8.0/24,x,\n9.255.255.0/24,x,US\n10.0.0.0/8,x,US\n"
    _, report = build({"a.csv": text + "2a00::/64,,SE\n2a00:0:0:2::/63,,DE\n2002::/16,y,SE\n"})
    assert report.coverage["isp"] == {"ipv4": 512, "ipv6": 0}
    assert report.coverage["location"] == {"ipv4": 256, "ipv6": 3 << 64}
    assert report.counts == {
        "ipv4_intervals": 5,
        "ipv6_intervals": 5,
        "locations": 3,
        "networks": 1,
        "countries": 3,
        "zones": 1,
    }
    assert [*report.lines()][-1].endswith(f"generation {report.generation[:12]}")
    text = "network,asn\n8.8.8.0/24,x\n8.8.8.0/24,2\nnowhere,3\n10.0.0.0/8,1\n::ffff:0:0/127,\n"
    assert [*read_csv(tmp_path, text + "2002::/127,1\n").source.lines()] == [
        "a.csv: 6 rows read, 1 used",
        "  rejected    1 row without a valid range (1 not an address)",
        "  duplicate   1 row with the range of a later row",
        "  clipped     2 rows, 16,777,218 addresses in special-purpose space",
        "  folded      1 row, 2 addresses IPv4-mapped, kept as IPv4",
        "  excluded    1 row, 2 addresses in 6to4 and NAT64, looked up by their IPv4 address",
        "  nulled      1 invalid value (1 asn)",
    ]
    report = BuildReport(sources=[SourceReport("a\x1b]0;b\x07\x9b")], warnings=["c\x1b[31m"])
    assert all(line.isprintable() for line in report.lines())


def test_rows_in_private_space(tmp_path: Path) -> None:
    """What a source states is kept in a layer that is private, and clipped in another."""
    columns = '[columns]\nsite = { type = "text", private = true }\nrisk = "integer"\n'
    kept = "  private     1 row, 2 addresses in special-purpose space, kept for own.site"
    clipped = "  clipped     1 row, 2 addresses in special-purpose space"
    for names, cells, lines in (
        ("site", "a", [kept]),
        ("risk", "1", [clipped]),
        ("site,risk", "a,1", [clipped, kept]),
    ):
        text = f"network,{names}\n10.0.0.0/31,{cells}\n"
        source = read_at(tmp_path, {"a.csv": text}, columns + one("csv", "a.csv")).source
        assert [line for line in source.lines() if " in special" in line] == lines


#: Field, its good cells with their values (None: unknown), its bad cells.
FIELDS: list[tuple[str, dict[str, object], list[str]]] = [
    ("country_code", {"US": "US", "USA": "US", "gbr": "GB", "UK": "GB", "el": "GR", " SE\t": "SE"},
     ["QQ", "U S", "Sweden", "-", "XYZ", "UKL"]),
    ("continent_code", {"EU": "EU", "NA": "NA"}, ["XX", "Europe"]),
    ("latitude", {"1": 1.0, "+1.50": 1.5, ".5": 0.5, "5.": 5.0, "-90": -90.0, "-0.0": 0.0},
     ["90.000001", "-91", "1e3", "1e999", "nan", "inf", "0x1", "1,5", "1 5", "north", "1_0", "٣"]),
    ("longitude", {"180": 180.0, "-180.0": -180.0, "1e-7": 1e-7}, ["180.1", "W5", "--1", "."]),
    ("time_zone", {"Europe/Berlin": "Europe/Berlin"},
     ["Europe/Berlinn", "+01:00", "../etc/passwd", "Asia"]),
    ("asn", {"1": 1, "AS2": 2, "as3": 3, "0": None, "AS0": None, "4294967295": 4294967295},
     ["4294967296", "99999999999", "AS", "1.5", "AS 5", "-1", "1e-3", "٣"]),
    ("connection_type",
     {"Mobile": "Mobile", "Cellular": "Mobile", "wireless": "Mobile", "Cable/DSL": "Residential",
      "dsl": "Residential", "fttx": "Residential", "COMP": "Corporate", "SAT": "Satellite",
      "DIAL": "Dialup", "isdn": "Dialup", "Cable": "Residential", "T1": "Corporate"},
     ["Pigeon", "1"]),
    # Of two joined by a slash the first counts, unless it is unknown on purpose.
    ("user_type",
     {"ISP": "residential", "consumer": "residential", "ISP/MOB": "residential",
      "RSV/ISP": "residential", "MOB": "cellular", "MOB/ISP": "cellular", "COM": "business",
      "corporate": "business", "hosting": "hosting", "DCH": "hosting", "DCH/CDN": "hosting",
      "EDU": "college", "GOV": "government", "SES": "search_engine_spider", "RSV": None,
      "rsv": None, "RSV/RSV": None, "ORG": "business", "education": "college", "MIL": "military",
      "LIB": "library", "CDN": "content_delivery_network"},
     ["robot", "1", "/", "ISP/", "ISP/pigeon", "I S P", "none"]),
]  # fmt: skip
OTHER_HALF = {"latitude": "longitude", "longitude": "latitude"}


def test_bad_values_null_their_field_alone(tmp_path: Path) -> None:
    """A row for each cell, in its own column; the others of its row are empty."""
    listed = [(field, cell) for field, good, bad in FIELDS for cell in [*good, *bad]]
    names = [field for field, _, _ in FIELDS]
    text = f"network,city_name,organization,{','.join(names)}\n"
    for number, (field, cell) in enumerate(listed):
        # Half a coordinate means nothing.
        given = {field: f'"{cell}"', OTHER_HALF.get(field, ""): "0"}
        cells = [given.get(name, "") for name in names]
        text += f"8.8.{number}.0/24,Here,Firm,{','.join(cells)}\n"
    reading = read_csv(tmp_path, text)
    nulled = {field: len(bad) for field, _, bad in FIELDS}
    nulled |= dict.fromkeys(OTHER_HALF, sum(nulled[name] for name in OTHER_HALF))
    # A city means nothing without its country, which is invalid.
    assert reading.source.nulled == {**nulled, "city_name": nulled["country_code"]}
    assert reading.source.rejected == {}
    assert reading.source.aliases == {"UK": 1, "EL": 1}
    rows = iter(reading.stated(*(f"8.8.{number}.8" for number in range(len(listed)))))
    for field, good, bad in FIELDS:
        for cell, value in good.items():
            row = next(rows)
            assert row.pop(OTHER_HALF.get(field, ""), 0) == 0
            assert repr(row.pop(field, None)) == repr(value), (field, cell)
            assert row == {"city_name": "Here", "organization": "Firm"}, (field, cell)
        beside = {} if field == "country_code" else {"city_name": "Here"}
        for cell in bad:
            assert next(rows) == {**beside, "organization": "Firm"}, (field, cell)


def test_the_vocabulary_is_that_of_the_contract() -> None:
    for name, words in VOCABULARY.items():
        own = BY_SOURCE_COLUMN[name].words
        assert all(words[word.lower()] == word for word in own)
        assert set(words.values()) - {None} == set(own)
        assert all(word == word.lower().strip() for word in words)
    assert set(VOCABULARY) == {"connection_type", "user_type"} <= set(LAYERS)
