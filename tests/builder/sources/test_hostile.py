"""Every reader of text against every kind of damage: told by line, counted, or read as it is.

Strategy: a format is one row with places for its range and a text; good rows stand around what
is hostile, and must answer as they do alone. No row may be missing from the counts.
"""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

import pyarrow as pa
import pytest
from geolookup_builder.report import SourceReport
from geolookup_builder.sources.reading.damage import unlimited_cells

from geolookup.filesystem import limits
from tests.builder.building import known
from tests.builder.sources.formats.test_maxmind import BLOCKS
from tests.builder.sources.recipes import one, refused
from tests.conftest import Build, build_at
from tests.tiers import few

BEYOND = str(1 << 128)
GOOD = {"first": "8.8.4.0", "last": "8.8.4.255", "network": "8.8.4.0/24", "address": "8.8.4.0",
        "length": "24", "count": "256", "n_first": str(int(IPv4Address("8.8.4.0"))),
        "n_last": str(int(IPv4Address("8.8.4.255")))}  # fmt: skip
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
    any_width: bool = False

    @property
    def recipe(self) -> str:
        return one(self.format, self.file, self.options)

    def line(self, text: str = "Text", **parts: str) -> str:
        return self.row.format(**{**GOOD, **parts}, text=text)

    def content(self, *rows: str, end: str = "\n") -> str:
        """Three good rows, so that the file is recognised, and then ``rows``."""
        return self.head.replace("\n", end) + "".join(
            row + end for row in (*[self.line()] * 3, *rows)
        )


DB1 = '"{n_first}","{n_last}","CH","Switzerland"'
KINDS = {
    "cidr-list": Kind("cidr-list", "a.txt", "{network}", options='fields = { isp = "Text" }',
                      quoted=False),
    "csv": Kind("csv", "a.csv", "{first},{last},{text}", "isp", "first,last,isp\n"),
    "csv, mapped": Kind("csv", "a.csv", "{network};{text};x", "isp", quoted=True,
                        options='delimiter = ";"\nheader = false\n'
                                'columns = { network = 1, isp = 2 }'),
    "dbip": Kind("dbip", "dbip-city-lite.csv", "{first},{last},EU,CH,b,{text},1,2", "city_name"),
    "geofeed": Kind("geofeed", "a.csv", "{network},CH,,{text},", "city_name", any_width=True,
                    quoted=False),
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
    "rpki": Kind("rpki", "a.csv", "AS1,{network},24,{text}", head="ASN,IP Prefix,Max Length,TA\n"),
    "sapics, city": Kind("sapics", "a.csv", "{first},{last},CH,x,,{text},1,1.5,2.5,Europe/Zurich",
                         "city_name"),
    "sapics, integers": Kind("sapics", "a-num.csv", "{n_first},{n_last},1,{text}",
                             "asn_organization"),
}  # fmt: skip
every = pytest.mark.parametrize("name", few(KINDS, 5))


def outcome(build: Build, kind: Kind, content: str | bytes) -> tuple[SourceReport, object]:
    """What became of the rows, and what is known of the good ones."""
    dataset, report = build({kind.file: content}, kind.recipe)
    return report.sources[0], known(dataset, "8.8.4.4")[0]


@every
def test_harmless_variants(build: Build, name: str) -> None:
    kind = KINDS[name]
    plain = kind.content()
    source, expected = outcome(build, kind, plain)
    assert (source.read, source.rejected.total(), source.duplicates) == (3, 0, 2)
    assert expected
    variants = {
        "mark": "\ufeff" + plain,
        "CRLF": kind.content(end="\r\n"),
        "CR": kind.content(end="\r"),
        "no end": plain.rstrip("\n"),
        "blank lines": kind.head + "\n\n" + plain.removeprefix(kind.head) + "\n\n",
    }
    for variant, content in variants.items():
        source, found = outcome(build, kind, content)
        assert (source.read, source.rejected.total(), found) == (3, 0, expected), variant


@every
def test_bad_ranges_are_rejected_with_their_lines(build: Build, tmp_path: Path, name: str) -> None:
    kind = KINDS[name]
    good = kind.line()
    rows = [kind.line(**parts) for parts in BAD_RANGES.values()]
    assert good not in rows
    rejects = tmp_path / "rejects.csv"
    between = [each for row in rows for each in (row, good)]
    dataset, report = build({kind.file: kind.content(*between)}, kind.recipe, rejects=rejects)
    source = report.sources[0]
    count = len(rows)
    assert (source.read, source.rejected.total(), source.used) == (3 + 2 * count, count, 1)
    assert known(dataset, "8.8.4.4")[0]
    with rejects.open(newline="") as stream, unlimited_cells():
        _, *found = csv.reader(stream)
    first = 4 + kind.head.count("\n")
    assert [text for *_, text in found] == rows
    assert [int(line) for _, line, _, _ in found] == [first + 2 * at for at in range(count)]
    assert {file for file, *_ in found} == {str(tmp_path / kind.file)}
    assert all(reason for _, _, reason, _ in found)


@every
def test_rows_of_another_width(build: Build, name: str) -> None:
    kind = KINDS[name]
    first = kind.row.partition("}")[0] + "}"  # nothing behind the first cell
    narrow = first.format(**GOOD) + '"' * first.count('"')
    wide = kind.line() + "".join(f"{mark}x" for mark in ",;|\t")
    for row in (narrow, wide):
        source, found = outcome(build, kind, kind.content(row, kind.line()))
        accepted = kind.any_width or (kind.format == "cidr-list" and row == narrow)
        assert (source.read, source.rejected.total()) == (5, 0 if accepted else 1)
        assert found


@every
def test_a_file_cut_anywhere_in_its_last_row(build: Build, tmp_path: Path, name: str) -> None:
    """What is left is rejected, or read where it is a row; inside a quote it ends the build."""
    kind = KINDS[name]
    row = kind.line()
    for end in range(1, len(row), 1 + len(row) // 6):
        content = kind.content() + row[:end]
        if row[:end].count('"') % 2:
            error = refused(tmp_path, kind.file, content, kind.recipe)
            last = content.count("\n") + 1
            assert (error.problem, error.line) == ("a quote is never closed", last)
        else:
            source, found = outcome(build, kind, content)
            assert source.read == 4
            assert found or source.nulled  # a value that is cut off may be a bad one


@pytest.mark.parametrize("name", few([name for name, kind in KINDS.items() if kind.member], 5))
def test_texts_that_are_unusual(build: Build, name: str) -> None:
    kind = KINDS[name]
    texts = ["x" * 1_000_000, "NUL \0 inside", "é 🏳️‍🌈"]
    texts += ['"Two\nlines, and more"', '"Two\r\nlines"'] if kind.quoted else []
    for text in texts:
        own = text.strip('"') if '"' in kind.row else text
        source, found = outcome(build, kind, kind.content(kind.line(own)))
        assert (source.read, source.rejected.total()) == (4, 0)
        assert isinstance(found, dict)
        assert found[kind.member] == text.strip('"')


@every
def test_bytes_that_are_no_text(tmp_path: Path, name: str) -> None:
    kind = KINDS[name]
    content = kind.content().encode() + b"caf\xe9" + kind.line().encode()
    error = refused(tmp_path, kind.file, content, kind.recipe)
    assert (error.problem, error.line) == ("not UTF-8", 4 + kind.head.count("\n"))
    if kind.format != "geofeed":  # whose reader knows the mark
        refused(tmp_path, kind.file, kind.content().encode("utf-16"), kind.recipe)
    any_line = kind.format in ("cidr-list", "geofeed")  # whatever is bad in them is a bad row
    for suffix, junk in UNREADABLE:
        if suffix or not junk or not any_line:
            file = kind.file + suffix
            refused(tmp_path, file, junk, one(kind.format, file, kind.options))


@every
def test_bytes_that_are_no_text_in_a_row_of_another_width(tmp_path: Path, name: str) -> None:
    """Found by fuzzing: Arrow showed a traceback besides failing, which a warning tells here."""
    kind = KINDS[name]
    wide = kind.line().encode() + b"".join(mark + b"\xd4x" for mark in (b",", b";", b"|", b"\t"))
    error = refused(tmp_path, kind.file, kind.content().encode() + wide, kind.recipe)
    assert (error.problem, error.line) == ("not UTF-8", 4 + kind.head.count("\n"))


UNREADABLE = [
    ("", b""),
    ("", b"PK\x03\x04" + bytes(range(256))),
    ("", bytes(5000)),
    ("", b"{}"),
    ("", b"<html>\n" * 5),
    ("", b"first,last,language\n"),
    (".gz", gzip.compress(b"")),
    (".gz", b"8.8.8.0/24,1,x\n"),
    (".zst", b"8.8.8.0/24,1,x\n"),
    (".zip", b"8.8.8.0/24,1,x\n"),
]


def packed(kind: Kind, text: str) -> dict[str, bytes]:
    """The file in each container, under the name that shows it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(kind.file, text)
    return {
        f"{kind.file}.gz": gzip.compress(text.encode()),
        f"{kind.file}.zst": bytes(pa.Codec("zstd").compress(text.encode(), asbytes=True)),
        f"{kind.file}.zip": stream.getvalue(),
    }


@every
def test_packed_whole_cut_and_as_a_bomb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    kind = KINDS[name]
    for file, data in packed(kind, kind.content(*[kind.line()] * 2000)).items():
        text = one(kind.format, file, kind.options)
        _, report = build_at(tmp_path, {file: data}, text)
        assert (report.sources[0].read, report.sources[0].rejected.total()) == (2003, 0)
        refused(tmp_path, file, data[: len(data) // 2], text)
        with monkeypatch.context() as patch:
            patch.setattr(limits, "ALLOWED_BYTES", 1000)
            patch.setattr(limits, "ALLOWED_RATIO", 2)
            error = refused(tmp_path, file, data, text)
        assert error.problem == "unpacks to over 1,000 bytes and 2 times its size"
        assert error.path == str(tmp_path / file)
