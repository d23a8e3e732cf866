"""The report: rows read, used, duplicate, clipped, folded and excluded, and exact addresses.

Strategy: small sources beside plain set arithmetic on Python's integers, one row at a time;
what a row loses is what special-purpose and embedded space say, not what other rows do.
"""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address, ip_network
from itertools import pairwise

from geolookup_builder.report import BuildReport, SourceReport

from tests.builder.building import recipe
from tests.conftest import Build
from tests.oracle import Address, place

MAPPED = (0xFFFF << 32, 0xFFFF << 32 | 0xFFFF_FFFF)
EXCLUDED = [(int(n[0]), int(n[-1])) for n in map(ip_network, ("64:ff9b::/96", "2002::/16"))]
#: Special-purpose space of the rows below, without what carries IPv4; all of it disjoint.
CLIPPED_IPV4 = ["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"]
CLIPPED_IPV4 += ["172.16.0.0/12", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.11/32"]
CLIPPED_IPV4 += ["192.0.0.12/30", "192.0.0.16/28", "192.0.0.32/27", "192.0.0.64/26"]
CLIPPED_IPV4 += ["192.0.0.128/25", "192.0.2.0/24", "192.88.99.2/32", "192.168.0.0/16"]
CLIPPED_IPV4 += ["198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"]
CLIPPED_IPV6 = ["::/96", "fc00::/7", "fe80::/9", "ff00::/8", "2001:db8::/32", "3fff::/20"]
CLIPPED_IPV6 += ["5f00::/16", "100::/63", "64:ff9b:1::/48"]
Span = tuple[int, int]


def spans(blocks: list[str]) -> list[Span]:
    networks = [ip_network(block) for block in blocks]
    return [(place(network[0]), place(network[-1])) for network in networks]


CLIPPED = {4: spans(CLIPPED_IPV4), 6: spans(CLIPPED_IPV6)}


def common(span: Span, blocks: list[Span]) -> int:
    """How many addresses a span shares with disjoint blocks."""
    return sum(max(0, min(span[1], last) - max(span[0], first) + 1) for first, last in blocks)


def expected(listed: list[tuple[Address, Address]]) -> dict[str, int]:
    """What the report is to say of ranges, by set arithmetic on the line of both families."""
    lines = [(place(first), place(last)) for first, last in listed]
    native = [isinstance(first, IPv4Address) for first, _ in listed]
    folded = [0 if v4 else common(line, [MAPPED]) for line, v4 in zip(lines, native, strict=True)]
    excluded = [common(line, EXCLUDED) for line in lines]
    clipped = [common(line, CLIPPED[4] + CLIPPED[6]) for line in lines]
    counts = {"folded": folded, "excluded": excluded, "clipped": clipped}
    return {
        "read": len(listed),
        "duplicates": len(lines) - len(set(lines)),
        **{f"addresses_{name}": sum(each) for name, each in counts.items()},
        **{f"rows_{name}": sum(map(bool, each)) for name, each in counts.items()},
    }


def found(report: SourceReport) -> dict[str, int]:
    names = [f"{unit}_{what}" for unit in ("addresses", "rows") for what in WHAT]
    return {name: getattr(report, name) for name in ("read", "duplicates", *names)}


WHAT = ("folded", "excluded", "clipped")
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
    ("::ffff:8.8.8.0", "::ffff:8.8.8.255"),
    ("::ffff:9.255.255.0", "::ffff:10.0.0.5"),
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


def reported(build: Build, texts: list[str]) -> list[SourceReport]:
    """The report of each text as a source: none is of another source's rows."""
    names = [f"{number}.csv" for number in range(len(texts))]
    files = dict[str, str | bytes](zip(names, texts, strict=True))
    return build(files, recipe(*(f'path = "{name}"' for name in names)))[1].sources


def test_numbers_of_ranges(build: Build) -> None:
    """Of each range, of each with its neighbour twice, of all at once, and of both families."""
    whole = [RANGES[1], ("::", RANGES[-1][1])]
    cases = [[pair] for pair in RANGES]
    cases += [[one, other, one] for one, other in pairwise(RANGES)]
    cases += [RANGES + RANGES[:7] + RANGES[9:12], whole]
    sources = reported(build, [csv_text(pairs) for pairs in cases])
    for pairs, source in zip(cases, sources, strict=True):
        numbers = expected(list(map(parsed, pairs)))
        if pairs is whole:  # protocol assignments 2001::/23 but for the globally reachable
            more = (1 << 105) - 3 - (1 << 96) - (1 << 80) - 2 * (1 << 100)
            numbers["addresses_clipped"] += more
        assert found(source) == numbers, pairs


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


def test_counts_coverage_and_used_rows(build: Build) -> None:
    sources = reported(build, ["network\n" + "\n".join(rows) for rows, _ in USED])
    assert [(each.read, each.used) for each in sources] == [(len(rows), n) for rows, n in USED]
    text = "network,isp,country_code\n8.8.8.0/24,x,\n9.255.255.0/24,x,US\n10.0.0.0/8,x,US\n"
    _, report = build({"a.csv": text + "2a00::/64,,SE\n2002::/16,y,SE\n"})
    assert report.coverage["isp"] == {"ipv4": 512, "ipv6": 0}
    assert report.coverage["location"] == {"ipv4": 256, "ipv6": 1 << 64}
    assert report.counts == {
        "ipv4_intervals": 5,
        "ipv6_intervals": 3,
        "locations": 2,
        "networks": 1,
        "countries": 2,
        "zones": 1,
    }
    text = "network,asn\n8.8.8.0/24,x\n8.8.8.0/24,2\nnowhere,3\n10.0.0.0/8,1\n::ffff:0:0/127,\n"
    _, report = build({"a.csv": text + "2002::/127,1\n"})
    lines = list(report.lines())
    assert lines[:7] == [
        "a.csv: 6 rows read, 1 used",
        "  rejected    1 rows without a valid range (1 not an address)",
        "  duplicate   1 rows with the range of a later row",
        "  clipped     2 rows, 16,777,218 addresses in private space",
        "  folded      1 rows, 2 addresses IPv4-mapped, kept as IPv4",
        "  excluded    1 rows, 2 addresses in 6to4 and NAT64, looked up by their IPv4 address",
        "  nulled      1 invalid values (1 asn)",
    ]
    assert lines[-1].endswith(f"generation {report.generation}")
    report = BuildReport(sources=[SourceReport("a\x1b]0;b\x07\x9b")], warnings=["c\x1b[31m"])
    assert all(line.isprintable() for line in report.lines())
