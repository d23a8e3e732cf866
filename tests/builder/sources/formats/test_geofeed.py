"""Geofeeds as the RFC has them and as they are found: blanks, comments, widths, encodings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.builder.sources.readings import Read, fields, one

FEED = """\
# a feed
8.8.0.0/16,US,US-NJ,Newark,07101
8.8.8.8,us,us-ca,"Los Gatos, old",
2600:100::/32,NO,,Oslo,
"""
NEWARK = fields("country_code=US; region_code=NJ; city_name=Newark; postal_code=07101")
GATOS = fields("country_code=US; region_code=CA; city_name=Los Gatos, old")


RECIPE = one("geofeed", "feed.csv")


def check_lines(read: Read, lines: Mapping[str, dict[str, str]]) -> None:
    """Read a line of one address or prefix at a time, and compare what it states."""
    for line, expected in lines.items():
        reading = read({"feed.csv": line + "\n"}, RECIPE)
        assert reading.source.rejected.total() == 0, line
        assert reading.at("8.8.8.8") == expected, line


def test_a_feed_in_any_encoding(read: Read) -> None:
    for text in (FEED, "\ufeff" + FEED[9:]):  # a mark before a row
        reading = read({"feed.csv": text}, RECIPE)
        assert (reading.source.read, reading.source.rejected.total()) == (3, 0)
        assert reading.ranges() == {
            "8.8.0.0-8.8.8.7": NEWARK,
            "8.8.8.8/32": GATOS,
            "8.8.8.9-8.8.255.255": NEWARK,
            "2600:100::/32": {"country_code": "NO", "city_name": "Oslo"},
        }
    # UTF-16 with its mark needs no word.
    feed = FEED.replace("Newark", "箱根町")
    stated = ("utf-16", "utf-16-le", "shift_jis", "UTF-8", "utf_16_be")
    cases = [(feed.encode(name), f'encoding = "{name}"') for name in stated]
    cases += [(("\ufeff" + feed).encode(name), "") for name in ("utf-16-le", "utf-16-be")]
    for content, extra in cases:
        reading = read({"feed.csv": content}, one("geofeed", "feed.csv", extra))
        assert reading.at("8.8.0.1") == {**NEWARK, "city_name": "箱根町"}, (content[:2], extra)


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


def test_cells_and_ways_to_write_a_row(read: Read) -> None:
    check_lines(read, dict.fromkeys(WAYS, NEWARK))
    check_lines(read, CELLS)


def test_rows_over_each_other(read: Read) -> None:
    # And so does a country that is none, which is counted.
    newark = {"country_code": "US", "city_name": "Newark"}
    for empty in ("8.8.8.0/24,,,,", "8.8.8.0/24", "8.8.8.0/24,ZZ,,,", "8.8.8.0/24,QQ,,X,"):
        reading = read({"feed.csv": f"{empty}\n8.8.0.0/16,US,,Newark,\n"}, RECIPE)
        assert reading.stated("8.8.8.8", "8.8.9.8") == [{}, newark], empty
        assert reading.source.nulled == ({"country_code": 1} if "QQ" in empty else {}), empty
    text = "8.8.8.0/24,US\n8.8.8.0/24,CA\n"
    reading = read({"feed.csv": text}, RECIPE)
    assert reading.source.duplicates == 1
    assert reading.stated("8.8.8.8") == [{"country_code": "CA"}]


BAD = {
    "8.8.8.0/33,US": "not a prefix length",
    "8.8.8.1/24,US": "host bits set",
    "8.8.8/24,US": "not an address",
    ",,,,": "not an address",
    ",US,US-NJ,Newark,": "not an address",
    '8.8.8.0/24,US,,"Newark,': "not an address",
    '8.8.8.0/24,US,,New"ark" #': None,
    "8.8.8.0/24,US\x1f": "wrong number of cells",
    "2600:100:/32,US": "not an address",
    "8.8.8.0/24 US": "not a prefix length",
}


def test_bad_rows_are_rejected_with_their_lines(read: Read) -> None:
    text = "\n# x\n \n" + "".join(f"{line}\n" for line in BAD) + "9.9.9.9,US\n"
    reading = read({"feed.csv": text}, RECIPE)
    assert reading.bad_lines() == [(at, why) for at, why in enumerate(BAD.values(), 4) if why]
    assert reading.stated("9.9.9.9") == [{"country_code": "US"}]


VIENNA = fields("country_code=AT; region_code=9; city_name=Vienna; postal_code=1060")


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
    path = str(shared_data / "geofeed" / f"geofeed-{name}.csv")
    reading = read({}, one("geofeed", path, f'encoding = "{encoding}"' if encoding else ""))
    source = reading.source
    assert (source.read, source.rejected.total(), source.nulled.total()) == (rows, rejected, 0)
    if name != "valid-optional-fields":
        jersey = fields("country_code=US; region_code=NJ; city_name=Parsippany")
        assert reading.at("2a02:ecc0::1") == jersey
    if city:
        boxford = fields(f"country_code=GB; region_code=WBK; city_name={city}")
        assert reading.stated("202.196.224.5", "2.125.160.216") == [VIENNA, boxford]


def test_countries_by_another_code(read: Read) -> None:
    """``UK`` and ``EL`` are read, with regions that either code begins."""
    rows = (
        "8.8.1.0/24,UK,UK-ENG",
        "8.8.2.0/24,UK,GB-ENG",
        "8.8.3.0/24,GB,UK-ENG",
        "8.8.4.0/24,el,",
    )
    reading = read({"a.csv": "\n".join(f"{row},," for row in rows) + "\n"}, one("geofeed", "a.csv"))
    england = {"country_code": "GB", "region_code": "ENG"}
    assert reading.stated("8.8.1.1", "8.8.2.1", "8.8.3.1") == [england] * 3
    assert reading.stated("8.8.4.1") == [{"country_code": "GR"}]
