"""Geofeeds as the RFC has them and as they are found: blanks, comments, widths, encodings."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import pytest

from tests.builder.building import fails, known
from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read, Reading, read_at
from tests.conftest import Build

FEED = """\
# a feed
8.8.0.0/16,US,US-NJ,Newark,07101
8.8.8.8,us,us-ca,"Los Gatos, old",
2600:100::/32,NO,,Oslo,
"""
NEWARK = {"country_code": "US", "region_code": "NJ", "city_name": "Newark", "postal_code": "07101"}
GATOS = {"country_code": "US", "region_code": "CA", "city_name": "Los Gatos, old"}


def recipe(path: str = "feed.csv", extra: str = "") -> str:
    return f'[dataset]\nname = "test"\n[[source]]\nformat = "geofeed"\npath = "{path}"\n{extra}\n'


def stated(dataset: Path, *addresses: str) -> list[dict[str, Any]]:
    """What feeds can say, as is known of each address."""
    return [
        {name: each[name] for name in NEWARK if name in each} for each in reading.stated(*addresses)
    ]


def row(read: Read, line: str) -> dict[str, Any]:
    """What one line says of 8.8.8.8."""
    reading = read({"feed.csv": line + "\n"}, recipe())
    assert reading.source.rejected.total() == 0
    return reading.stated("8.8.8.8")[0]


@pytest.mark.parametrize(
    "text",
    [FEED, FEED.replace("\n", "\r\n"), "\ufeff" + FEED, "\ufeff" + FEED[9:], FEED.rstrip("\n")],
    ids=["plain", "crlf", "mark", "mark before a row", "no end"],
)
def test_a_feed(read: Read, text: str) -> None:
    reading = read({"feed.csv": text}, recipe())
    assert (reading.source.read, reading.source.rejected.total()) == (3, 0)
    oslo = {"country_code": "NO", "city_name": "Oslo"}
    addresses = ("8.8.0.1", "8.8.8.8", "8.8.8.9", "2600:100::1", "8.9.0.1")
    assert reading.stated(*addresses) == [NEWARK, GATOS, NEWARK, oslo, {}]


@pytest.mark.parametrize(
    "line",
    [
        "8.8.8.0/24,US,US-NJ,Newark,07101",
        " 8.8.8.0/24 ,\tUS , US-NJ , Newark , 07101 ",
        "8.8.8.0/24,us,us-nj,Newark,07101,",
        '8.8.8.0/24,US,NJ,Newark,07101,more,"even, more',
        '8.8.8.0/24,US,US-NJ,Newark,07101# comment, with "quotes',
        "8.8.8.0/24,US,US-NJ,Newark,07101 , # comment",
        '"8.8.8.0/24","US","US-NJ","Newark","07101"',
        ' "8.8.8.0/24" , "US" , "US-NJ" , " Newark " , "07101" ',
    ],
)
def test_ways_to_write_a_row(read: Read, line: str) -> None:
    assert row(build, line) == NEWARK


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("8.8.8.8", {}),
        ("8.8.8.8,", {}),
        ("8.8.8.8,US", {"country_code": "US"}),
        ("8.8.8.8,US,US-NJ", {"country_code": "US", "region_code": "NJ"}),
        ("8.8.8.8,US # only", {"country_code": "US"}),
        ("8.8.8.8,,,,", {}),
        ("8.8.8.8,ZZ,,,", {}),
        ("8.8.8.8,zz", {}),
        ("8.8.8.8,US,CA-ON,", {"country_code": "US"}),
        ("8.8.8.8,US,New Jersey,", {"country_code": "US"}),
        ("8.8.8.8,,US-NJ,", {}),  # a region is nothing without its country
        (
            '8.8.8.8,US,,"A ""quoted"" town #5",',
            {"country_code": "US", "city_name": 'A "quoted" town #5'},
        ),
        ("8.8.8.8,US,,Cote d'Or,", {"country_code": "US", "city_name": "Cote d'Or"}),
    ],
)
def test_cells(read: Read, line: str, expected: dict[str, str]) -> None:
    assert row(build, line) == expected


@pytest.mark.parametrize("empty", ["8.8.8.0/24,,,,", "8.8.8.0/24", "8.8.8.0/24,ZZ,,,"])
def test_a_row_without_location_hides_a_wider_one(read: Read, empty: str) -> None:
    reading = read({"feed.csv": f"{empty}\n8.8.0.0/16,US,,Newark,\n"}, recipe())
    assert reading.stated("8.8.8.8", "8.8.9.8") == [
        {},
        {"country_code": "US", "city_name": "Newark"},
    ]
    assert reading.source.nulled.total() == 0


def test_duplicates_are_noted_and_the_later_counts(read: Read) -> None:
    text = "8.8.8.0/24,US\n8.8.8.0/24,CA\n"
    reading = read({"feed.csv": text}, recipe())
    assert reading.source.duplicates == 1
    assert reading.stated("8.8.8.8") == [{"country_code": "CA"}]


def test_a_country_that_is_none_blanks_the_row(read: Read) -> None:
    reading = read({"feed.csv": "8.8.8.0/24,QQ,,X,\n8.8.0.0/16,US\n"}, recipe())
    assert dict(reading.source.nulled) == {"country_code": 1}
    assert reading.stated("8.8.8.8", "8.8.9.9") == [{}, {"country_code": "US"}]


BAD = {
    "8.8.8.0/33,US": "not a prefix length",
    "8.8.8.1/24,US": "host bits set",
    "8.8.8/24,US": "not an address",
    ",,,,": "not an address",
    ",US,US-NJ,Newark,": "not an address",
    '8.8.8.0/24,US,,"Newark,': "not an address",
    '8.8.8.0/24,US,,New"ark" #': None,
    "8.8.8.0/24,US\x1f": "wrong number of cells",
    "8.8.\x008.0/24,US": "not an address",
    "2600:100:/32,US": "not an address",
    f"{1 << 128},US": "not an address",
    "8" * 1_000_000 + ",US": "not an address",
    "8.8.8.0/24 US": "not a prefix length",
}


def test_bad_rows_are_rejected_with_their_lines(read: Read, tmp_path: Path) -> None:
    text = "\n# x\n \n" + "".join(f"{line}\n" for line in BAD) + "9.9.9.9,US\n"
    rejects = tmp_path / "rejects.csv"
    reading = read({"feed.csv": text}, recipe(), rejects=rejects)
    rows = [part.split(",")[1:3] for part in rejects.read_text().split("/feed.csv")[1:]]
    expected = [[str(at), reason] for at, reason in enumerate(BAD.values(), 4) if reason]
    assert rows == expected
    assert reading.source.rejected.total() == len(expected)
    assert reading.stated("9.9.9.9") == [{"country_code": "US"}]


def test_a_cell_of_a_megabyte(read: Read) -> None:
    name = "x" * 1_000_000
    assert row(build, f"8.8.8.0/24,US,,{name},")["city_name"] == name


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "shift_jis", "UTF-8", "utf_16_be"])
def test_other_encodings(read: Read, encoding: str) -> None:
    text = FEED.replace("Newark", "箱根町").encode(encoding)
    reading = read({"feed.csv": text}, recipe(extra=f'encoding = "{encoding}"'))
    assert reading.stated("8.8.0.1") == [{**NEWARK, "city_name": "箱根町"}]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_with_its_mark_needs_no_word(read: Read, encoding: str) -> None:
    text = ("\ufeff" + FEED.replace("Newark", "箱根町")).encode(encoding)
    reading = read({"feed.csv": text}, recipe())
    assert reading.stated("8.8.0.1") == [{**NEWARK, "city_name": "箱根町"}]


def test_another_encoding_unsaid_is_one_error_that_names_the_option(tmp_path: Path) -> None:
    text = FEED.replace("Newark", "箱根町").encode("shift_jis")
    error = fails(tmp_path, {"feed.csv": text}, recipe())
    assert (error.problem, error.line) == ("not UTF-8", 2)
    assert error.remedy == 'state its encoding in the recipe, such as encoding = "shift_jis"'


def test_the_wrong_encoding_is_one_error(tmp_path: Path) -> None:
    extra = 'encoding = "utf-16"'
    odd = fails(tmp_path, {"feed.csv": FEED.encode("utf-16")[:-1]}, recipe(extra=extra))
    assert "not utf-16 after line" in str(odd)
    fails(tmp_path, {"feed.csv": b"\xff" * 9}, recipe(extra='encoding = "ascii"'))


@pytest.mark.parametrize("name", ['"latin-x"', '"hex"', "8", '"a\\u0000"', '"undefined"', "[]"])
def test_the_encoding_is_checked(tmp_path: Path, name: str) -> None:
    error = fails(tmp_path, {"feed.csv": FEED}, recipe(extra=f"encoding = {name}"))
    assert "unknown encoding" in str(error)
    assert error.path == str(tmp_path / "recipe.toml")


def test_another_file_is_one_error(tmp_path: Path) -> None:
    text = "start|end|country\n" * 100
    error = fails(tmp_path, {"feed.csv": text}, recipe(), max_rejects=None)
    assert error.line == 1


def test_packed(read: Read) -> None:
    reading = read({"feed.csv.gz": gzip.compress(FEED.encode())}, recipe("feed.csv.gz"))
    assert reading.stated("8.8.0.1") == [NEWARK]


def test_rows_are_those_of_a_plain_reader(tmp_path: Path) -> None:
    text = FEED + "8.8.8.0/24,,,,\n8.8.8.0/24,ZZ\n8.8.9.0/24,QQ,,x\nbad\n"
    lines = [line for line in text.splitlines() if "/" in line or line.startswith("8")]
    rows = []
    for cells in csv.reader(lines):
        network, country, region, city, postal = [*cells, "", "", ""][:5]
        code = country.upper().replace("ZZ", "")
        rows.append(
            {
                "network": network,
                "country_code": code,
                "region_code": region.upper().removeprefix(f"{code}-"),
                "city_name": city,
                "postal_code": postal,
            }
        )
    assert len(rows) == 6
    check_rows(tmp_path, {"feed.csv": text}, recipe(), rows)


VIENNA = {"country_code": "AT", "region_code": "9", "city_name": "Vienna", "postal_code": "1060"}


@pytest.mark.parametrize(
    ("name", "read", "rejected", "city", "encoding"),
    [
        ("valid", 3, 0, "Boxford", None),
        ("valid-lax", 3, 0, "Boxford", None),
        ("valid-optional-fields", 3, 0, "Boxford", None),
        ("valid-utf8-bom", 3, 0, "Boxford", None),
        ("valid-utf16le", 3, 0, "Boxford", "utf-16"),
        ("valid-shiftjis", 3, 0, "東京", "shift_jis"),
        ("invalid-empty-network", 2, 1, None, None),
        ("invalid-network", 2, 1, None, None),
        ("invalid-missing-fields", 2, 0, None, None),
    ],
)
def test_real_feeds(
    read: Read,
    shared_data: Path,
    name: str,
    read: int,
    rejected: int,
    city: str | None,
    encoding: str | None,
) -> None:
    extra = f'encoding = "{encoding}"' if encoding else ""
    path = shared_data / "geofeed" / f"geofeed-{name}.csv"
    reading = read({}, recipe(str(path), extra))
    source = reading.source
    assert (source.read, source.rejected.total(), source.nulled.total()) == (read, rejected, 0)
    wide, vienna, boxford = reading.stated("2a02:ecc0::1", "202.196.224.5", "2.125.160.216")
    if name != "valid-optional-fields":
        assert wide == {"country_code": "US", "region_code": "NJ", "city_name": "Parsippany"}
    if city is not None:
        assert vienna == VIENNA
        assert boxford["country_code"] == "GB"
        assert boxford["region_code"] == "WBK"
        assert boxford["city_name"] == city


def test_a_real_empty_feed(tmp_path: Path, shared_data: Path) -> None:
    error = fails(tmp_path, {}, recipe(str(shared_data / "geofeed" / "empty.csv")))
    assert error.problem == "empty file"
