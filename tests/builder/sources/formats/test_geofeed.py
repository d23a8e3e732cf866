"""Geofeeds as the RFC has them and as they are found: blanks, comments, widths, encodings."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.builder.building import fails
from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read

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


def check_lines(read: Read, lines: Mapping[str, dict[str, str]]) -> None:
    """Read a line of one address or prefix at a time, and compare what it states."""
    for line, expected in lines.items():
        reading = read({"feed.csv": line + "\n"}, recipe())
        assert reading.source.rejected.total() == 0, line
        assert reading.at("8.8.8.8") == expected, line


def test_a_feed(read: Read) -> None:
    oslo = {"country_code": "NO", "city_name": "Oslo"}
    addresses = ("8.8.0.1", "8.8.8.8", "8.8.8.9", "2600:100::1", "8.9.0.1")
    for text in (FEED, "\ufeff" + FEED[9:]):  # a mark before a row
        reading = read({"feed.csv": text}, recipe())
        assert (reading.source.read, reading.source.rejected.total()) == (3, 0)
        assert reading.stated(*addresses) == [NEWARK, GATOS, NEWARK, oslo, {}]


WAYS = (
    "8.8.8.0/24,US,US-NJ,Newark,07101",
    " 8.8.8.0/24 ,\tUS , US-NJ , Newark , 07101 ",
    "8.8.8.0/24,us,us-nj,Newark,07101,",
    '8.8.8.0/24,US,NJ,Newark,07101,more,"even, more',
    '8.8.8.0/24,US,US-NJ,Newark,07101# comment, with "quotes',
    "8.8.8.0/24,US,US-NJ,Newark,07101 , # comment",
    '"8.8.8.0/24","US","US-NJ","Newark","07101"',
    ' "8.8.8.0/24" , "US" , "US-NJ" , " Newark " , "07101" ',
)
CELLS: dict[str, dict[str, str]] = {
    "8.8.8.8": {},
    "8.8.8.8,": {},
    "8.8.8.8,US": {"country_code": "US"},
    "8.8.8.8,US,US-NJ": {"country_code": "US", "region_code": "NJ"},
    "8.8.8.8,US # only": {"country_code": "US"},
    "8.8.8.8,,,,": {},
    "8.8.8.8,ZZ,,,": {},
    "8.8.8.8,zz": {},
    "8.8.8.8,US,CA-ON,": {"country_code": "US"},
    "8.8.8.8,US,New Jersey,": {"country_code": "US"},
    "8.8.8.8,,US-NJ,": {},  # a region is nothing without its country
    '8.8.8.8,US,,"A ""quoted"" town #5",': {
        "country_code": "US",
        "city_name": 'A "quoted" town #5',
    },
    "8.8.8.8,US,,Cote d'Or,": {"country_code": "US", "city_name": "Cote d'Or"},
}


def test_ways_to_write_a_row(read: Read) -> None:
    check_lines(read, dict.fromkeys(WAYS, NEWARK))


def test_cells(read: Read) -> None:
    check_lines(read, CELLS)


def test_a_row_without_location_hides_a_wider_one(read: Read) -> None:
    newark = {"country_code": "US", "city_name": "Newark"}
    for empty in ("8.8.8.0/24,,,,", "8.8.8.0/24", "8.8.8.0/24,ZZ,,,"):
        reading = read({"feed.csv": f"{empty}\n8.8.0.0/16,US,,Newark,\n"}, recipe())
        assert reading.stated("8.8.8.8", "8.8.9.8") == [{}, newark], empty
        assert reading.source.nulled.total() == 0, empty


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


def test_bad_rows_are_rejected_with_their_lines(read: Read) -> None:
    text = "\n# x\n \n" + "".join(f"{line}\n" for line in BAD) + "9.9.9.9,US\n"
    reading = read({"feed.csv": text}, recipe())
    assert reading.bad_lines() == [(at, why) for at, why in enumerate(BAD.values(), 4) if why]
    assert reading.stated("9.9.9.9") == [{"country_code": "US"}]


def test_other_encodings(read: Read) -> None:
    """UTF-16 with its mark needs no word."""
    feed = FEED.replace("Newark", "箱根町")
    stated = ("utf-16", "utf-16-le", "shift_jis", "UTF-8", "utf_16_be")
    cases = [(feed.encode(name), f'encoding = "{name}"') for name in stated]
    cases += [(("\ufeff" + feed).encode(name), "") for name in ("utf-16-le", "utf-16-be")]
    for content, extra in cases:
        reading = read({"feed.csv": content}, recipe(extra=extra))
        assert reading.at("8.8.0.1") == {**NEWARK, "city_name": "箱根町"}, (content[:2], extra)


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


def test_the_encoding_is_checked(tmp_path: Path) -> None:
    for name in ('"latin-x"', '"hex"', "8", '"a\\u0000"', '"undefined"', "[]"):
        error = fails(tmp_path, {"feed.csv": FEED}, recipe(extra=f"encoding = {name}"))
        assert "unknown encoding" in str(error)
        assert error.path == str(tmp_path / "recipe.toml")


def test_another_file_is_one_error(tmp_path: Path) -> None:
    text = "start|end|country\n" * 100
    error = fails(tmp_path, {"feed.csv": text}, recipe(), max_rejects=None)
    assert error.line == 1


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


#: Feed: rows read, rows rejected, the city at 2.125.160.216, the encoding if it is stated.
REAL: dict[str, tuple[int, int, str, str]] = {
    "valid": (3, 0, "Boxford", ""),
    "valid-lax": (3, 0, "Boxford", ""),
    "valid-optional-fields": (3, 0, "Boxford", ""),
    "valid-utf8-bom": (3, 0, "Boxford", ""),
    "valid-utf16le": (3, 0, "Boxford", "utf-16"),
    "valid-shiftjis": (3, 0, "東京", "shift_jis"),
    "invalid-empty-network": (2, 1, "", ""),
    "invalid-network": (2, 1, "", ""),
    "invalid-missing-fields": (2, 0, "", ""),
}


@pytest.mark.parametrize("name", REAL)
def test_real_feeds(read: Read, shared_data: Path, name: str) -> None:
    rows, rejected, city, encoding = REAL[name]
    path = shared_data / "geofeed" / f"geofeed-{name}.csv"
    reading = read({}, recipe(str(path), f'encoding = "{encoding}"' if encoding else ""))
    source = reading.source
    assert (source.read, source.rejected.total(), source.nulled.total()) == (rows, rejected, 0)
    if name != "valid-optional-fields":
        jersey = {"country_code": "US", "region_code": "NJ", "city_name": "Parsippany"}
        assert reading.at("2a02:ecc0::1") == jersey
    if city:
        boxford = {"country_code": "GB", "region_code": "WBK", "city_name": city}
        assert reading.stated("202.196.224.5", "2.125.160.216") == [VIENNA, boxford]


def test_a_real_empty_feed(tmp_path: Path, shared_data: Path) -> None:
    error = fails(tmp_path, {}, recipe(str(shared_data / "geofeed" / "empty.csv")))
    assert error.problem == "empty file"
