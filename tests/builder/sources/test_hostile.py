"""Every reader of text against every kind of damage: told by line, counted, or read as it is.

Strategy: a format is one row with places for its range and a text; good rows stand around what
is hostile, and must answer as they do alone. No row may be missing from the counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from tests.builder.sources.formats.test_maxmind import BLOCKS
from tests.builder.sources.readings import Read, Reading, one, refused
from tests.internals.builder import Reject
from tests.tiers import one_of_each, scaled

BEYOND = str(1 << 128)


def range_parts(network: IPv4Network) -> dict[str, str]:
    """A range as the formats write it: its ends, its prefix, its length and its size."""
    first, last = network[0], network[-1]
    return {
        "first": str(first),
        "last": str(last),
        "network": str(network),
        "address": str(first),
        "length": str(network.prefixlen),
        "count": str(network.num_addresses),
        "n_first": str(int(first)),
        "n_last": str(int(last)),
    }


GOOD = range_parts(IPv4Network("8.8.4.0/24"))
#: A file of a format begins with so many good rows, so that it is recognised.
GOOD_ROWS = 3
#: What no range is, in whatever form a format states it.
BAD_RANGES: dict[str, dict[str, str]] = {
    "of two families": {"last": "2600::", "network": "8.8.4.0/64", "length": "64",
                        "count": BEYOND, "n_last": str(1 << 127)},
    "beyond 2^128": {"first": BEYOND, "last": BEYOND, "network": BEYOND, "address": BEYOND,
                     "n_first": BEYOND, "n_last": str((1 << 128) + 1)},
    "of sixty digits": {"first": "9" * 60, "last": "9" * 61, "network": "8.8.4.0/" + "9" * 60,
                        "length": "9" * 60, "count": "9" * 60, "n_last": "9" * 60},
    "descending": {"last": "8.8.3.0", "network": "8.8.4.1/24", "address": "8.8.4.1",
                   "length": "33", "count": "0", "n_last": "5"},
    "of a megabyte": {"first": "8" * 1_000_000, "network": "8" * 1_000_000,
                      "address": "8" * 1_000_000, "n_first": "8" * 1_000_000},
    "with NUL": {"first": "8.8.\0", "network": "8.8.\0/24", "address": "8.8.\0", "n_first": "1\0"},
}  # fmt: skip
_ADDRESS, _LENGTH, _ORDER = "not an address", "not a prefix length", "first is after last"
_REASONS: dict[str, tuple[str, str, str, str]] = {
    "{network}": (_LENGTH, _ADDRESS, _LENGTH, "host bits set"),
    "{n_first}": (_ADDRESS, _ADDRESS, _ADDRESS, _ORDER),
    "{address}\t{length}": (_LENGTH, _ADDRESS, _LENGTH, _LENGTH),
    "{address}|{count}": (_ADDRESS, _ADDRESS, _ADDRESS, _ORDER),
    "{first}": ("first and last are of two families", _ADDRESS, _ADDRESS, _ORDER),
}


def reasons(row: str) -> list[str]:
    """The reason of each bad range in the form in which a row states its range."""
    [stated] = [item for form, item in _REASONS.items() if form in row]
    return [*stated, _ADDRESS, _ADDRESS]


@dataclass(frozen=True)
class Kind:
    """One layout of one format: its file, its header, its row, and the member its text becomes."""

    format: str
    file: str
    row: str
    member: str = ""
    head: str = ""
    options: str = ""
    quoted: bool = True

    @property
    def recipe(self) -> str:
        return one(self.format, self.file, self.options)

    def line(self, text: str = "Text", **parts: str) -> str:
        return self.row.format(**{**GOOD, **parts}, text=text)

    def content(self, *rows: str, end: str = "\n") -> str:
        """The good rows, and then ``rows``."""
        return self.head.replace("\n", end) + "".join(
            row + end for row in (*[self.line()] * GOOD_ROWS, *rows)
        )

    @property
    def next_line(self) -> int:
        """The line that follows the good rows."""
        return 1 + self.head.count("\n") + GOOD_ROWS


DB1 = '"{n_first}","{n_last}","CH","Switzerland"'
KINDS = {
    "cidr-list": Kind("cidr-list", "a.txt", "{network}", options='values = { isp = "Text" }',
                      quoted=False),
    "csv": Kind("csv", "a.csv", "{first},{last},{text}", "isp", "first,last,isp\n"),
    "csv, mapped": Kind("csv", "a.csv", "{network};{text};x", "isp", quoted=True,
                        options='delimiter = ";"\nheader = false\n'
                                'columns = { network = 1, isp = 2 }'),
    "dbip": Kind("dbip", "dbip-city-lite.csv", "{first},{last},EU,CH,b,{text},1,2", "city_name"),
    "geofeed": Kind("geofeed", "a.csv", "{network},CH,,{text},", "city_name", quoted=False),
    "ip2location": Kind("ip2location", "DB2.CSV", f'{DB1},"{{text}}"', "isp"),
    "ip2location, cidr": Kind("ip2location", "DB2.CSV", '{network},"CH","Switzerland","{text}"',
                              "isp"),
    "ip2region": Kind("ip2region", "a.txt", "{first}|{last}|x|0|{text}|0|CH", "city_name",
                      quoted=False),
    "ipinfo": Kind("ipinfo", "a.csv", "{network},Text,CH,Europe,EU,AS1,{text},x.com",
                   "asn_organization", "network,country,country_code,continent,continent_code,"
                   "asn,as_name,as_domain\n"),
    "ipinfo, legacy": Kind("ipinfo", "a.csv", "{first},{last},AS1,{text},x.com",
                           "asn_organization", "start_ip,end_ip,asn,name,domain\n"),
    "iplocate, asn": Kind("iplocate", "a.csv", "{network},1,CH,N,{text},x.com",
                          "asn_organization", "network,asn,country_code,name,org,domain\n"),
    "iplocate, country": Kind("iplocate", "a.csv", "{network},EU,CH,{text}", "",
                              "network,continent_code,country_code,country_name\n"),
    "iptoasn": Kind("iptoasn", "a.tsv", "{first}\t{last}\t1\tCH\t{text}", "asn_organization",
                    quoted=False),
    "maxmind": Kind("maxmind", "a.csv", "{network},1,{text}", "asn_organization", BLOCKS["asn"]),
    "maxmind, integers": Kind("maxmind", "a-IPv4.csv", "{n_first},{n_last},{text},1,x",
                              "isp", "network_start_integer,network_last_integer,isp,"
                              "autonomous_system_number,autonomous_system_organization\n"),
    "pfx2as": Kind("pfx2as", "a.pfx2as", "{address}\t{length}\t1", quoted=False),
    "pyasn": Kind("pfx2as", "a.dat", "{network}\t1", quoted=False),
    "rir": Kind("rir", "a-latest", "ripencc|CH|ipv4|{address}|{count}|20260101|allocated",
                quoted=False),
    "sapics, city": Kind("sapics", "a.csv", "{first},{last},CH,x,,{text},1,1.5,2.5,Europe/Zurich",
                         "city_name"),
    "sapics, integers": Kind("sapics", "a-num.csv", "{n_first},{n_last},1,{text}",
                             "asn_organization"),
}  # fmt: skip


def by_format(names: Iterable[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", one_of_each(names, lambda name: KINDS[name].format))


every = by_format(KINDS)


def read_kind(read: Read, kind: Kind, content: str | bytes) -> Reading:
    return read({kind.file: content}, kind.recipe)


def counts(reading: Reading) -> tuple[int, int]:
    return reading.source.read, reading.source.rejected.total()


@every
def test_harmless_variants(read: Read, name: str) -> None:
    kind = KINDS[name]
    plain = kind.content()
    reading = read_kind(read, kind, plain)
    expected = reading.stated("8.8.4.4")
    assert (counts(reading), reading.source.rows["duplicate"]) == ((GOOD_ROWS, 0), GOOD_ROWS - 1)
    assert expected != [{}]
    blank = kind.head + "\n\n" + plain.removeprefix(kind.head) + "\n\n"
    variants = {
        "mark, no end": "\ufeff" + plain.rstrip("\n"),
        "CR": kind.content(end="\r"),
        "blank lines, CRLF": blank.replace("\n", "\r\n"),
    }
    for variant, content in variants.items():
        reading = read_kind(read, kind, content)
        assert (counts(reading), reading.stated("8.8.4.4")) == ((GOOD_ROWS, 0), expected), variant


@every
def test_bad_ranges_are_rejected_with_their_lines(read: Read, tmp_path: Path, name: str) -> None:
    kind = KINDS[name]
    good = kind.line()
    bad = [kind.line(**parts) for parts in BAD_RANGES.values()]
    assert good not in bad
    content = kind.content(*(row for item in bad for row in (item, good)))
    reading = read_kind(read, kind, content)
    assert counts(reading) == (GOOD_ROWS + 2 * len(bad), len(bad))
    assert reading.source.used == 1
    assert reading.stated("8.8.4.4") != [{}]
    path, first = str(tmp_path / kind.file), kind.next_line
    assert reading.rejects == [
        Reject(path, first + 2 * at, reason, row)
        for at, (row, reason) in enumerate(zip(bad, reasons(kind.row), strict=True))
    ]


@every
def test_rows_of_another_width(read: Read, name: str) -> None:
    kind = KINDS[name]
    first = kind.row.partition("}")[0] + "}"  # nothing behind the first cell
    narrow = first.format(**GOOD) + '"' * first.count('"')
    wide = kind.line() + "".join(f"{mark}x" for mark in ",;|\t")
    reading = read_kind(read, kind, kind.content(narrow, kind.line(), wide, kind.line()))
    rejected = {
        "cidr-list": [wide],  # whose row is one cell
        "geofeed": [],
    }.get(kind.format, [narrow, wide])
    assert counts(reading) == (GOOD_ROWS + 4, len(rejected))
    assert [reject.text for reject in reading.rejects] == rejected
    assert reading.stated("8.8.4.4") != [{}]


@pytest.mark.long
@every
def test_a_file_cut_anywhere_in_its_last_row(read: Read, tmp_path: Path, name: str) -> None:
    """A part of a row is rejected, or read if it is a row; inside a quote it ends the build."""
    kind = KINDS[name]
    row = kind.line()
    for end in range(1, len(row), 1 + len(row) // scaled(4, 8)):
        content = kind.content() + row[:end]
        if row[:end].count('"') % 2:
            error = refused(tmp_path, kind.file, content, kind.recipe)
            assert (error.problem, error.line) == ("a quote is never closed", kind.next_line), end
        else:
            reading = read_kind(read, kind, content)
            assert reading.source.read == GOOD_ROWS + 1, end
            if reading.stated("8.8.4.4") == [{}]:  # cut behind its range, or inside of a value
                source = reading.source
                assert source.rows["duplicate"] == GOOD_ROWS or source.nulled.total(), end


@by_format(name for name, kind in KINDS.items() if kind.member)
def test_texts_that_are_unusual(read: Read, name: str) -> None:
    kind = KINDS[name]
    texts = ["x" * 1_000_000, "é 🏳️‍🌈"]
    texts += ['"Two\nlines, and more"', '"Two\r\nlines"', '"a\tb"'] if kind.quoted else []
    ranges = [IPv4Network(f"8.8.{at}.0/24") for at in range(8, 8 + len(texts))]
    rows = [
        kind.line(text.strip('"') if '"' in kind.row else text, **range_parts(network))
        for network, text in zip(ranges, texts, strict=True)
    ]
    reading = read_kind(read, kind, kind.content(*rows))
    assert counts(reading) == (GOOD_ROWS + len(texts), 0)
    values = reading.values(kind.member, *(str(network[1]) for network in ranges))
    assert values == [text.strip('"') for text in texts]


@every
def test_bytes_that_are_no_text(tmp_path: Path, name: str) -> None:
    """Also in a row of another width, for which Arrow showed a traceback besides failing."""
    kind = KINDS[name]
    good, row = kind.content().encode(), kind.line().encode()
    wide = row + b"".join(mark + b"\xd4x" for mark in (b",", b";", b"|", b"\t"))
    for content in (good + b"caf\xe9" + row, good + wide):
        error = refused(tmp_path, kind.file, content, kind.recipe)
        assert (error.problem, error.line) == ("not UTF-8", kind.next_line)
    if kind.format not in ("cidr-list", "geofeed", "pfx2as", "rir"):  # whose reader knows the mark
        refused(tmp_path, kind.file, kind.content().encode("utf-16"), kind.recipe)
