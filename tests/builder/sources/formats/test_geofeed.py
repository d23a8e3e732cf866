"""Geofeeds as the RFC has them and as they are found: blanks, comments, widths, encodings."""

from __future__ import annotations

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
    '8.8.8.0/24,US,NJ,Newark,07101,more,"even, more',
    '8.8.8.0/24,US,US-NJ,Newark,07101# comment, with "quotes',
    "8.8.8.0/24,US,US-NJ,Newark,07101 , # comment",
    '"8.8.8.0/24","US","US-NJ","Newark","07101"',
    ' "8.8.8.0/24" , "US" , "US-NJ" , " Newark " , "07101" ',
)
CELLS: dict[str, dict[str, str]] = {
    "8.8.8.8": {},
    "8.8.8.8,US": {"country_code": "US"},
    "8.8.8.8,US,US-NJ": {"country_code": "US", "region_code": "NJ"},
    "8.8.8.8,US # only": {"country_code": "US"},
    "8.8.8.8,,,,": {},
    "8.8.8.8,ZZ,,,": {},
    "8.8.8.8,US,CA-ON,": {"country_code": "US"},
    "8.8.8.8,,US-NJ,": {},  # a region is nothing without its country
    '8.8.8.8,US,,"A ""quoted"" town #5",': {
        "country_code": "US",
        "city_name": 'A "quoted" town #5',
    },
    "8.8.8.8,US,,Cote d'Or,": {"country_code": "US", "city_name": "Cote d'Or"},
}


def test_cells_and_ways_to_write_a_row(read: Read) -> None:
    for line, expected in (dict.fromkeys(WAYS, NEWARK) | CELLS).items():
        reading = read({"feed.csv": line + "\n"}, RECIPE)
        assert reading.source.rejected.total() == 0, line
        assert reading.at("8.8.8.8") == expected, line


BAD = {
    ",US,US-NJ,Newark,": "not an address",
    '8.8.8.0/24,US,,"Newark,': "not an address",
    '8.8.8.0/24,US,,New"ark" #': None,
    "8.8.8.0/24,US\x1f": "wrong number of cells",
    "8.8.8.0/24 US": "not a prefix length",
}


def test_bad_rows_are_rejected_with_their_lines(read: Read) -> None:
    text = "\n# x\n \n" + "".join(f"{line}\n" for line in BAD) + "9.9.9.9,US\n"
    reading = read({"feed.csv": text}, RECIPE)
    assert reading.bad_lines() == [(at, why) for at, why in enumerate(BAD.values(), 4) if why]
    assert reading.stated("9.9.9.9") == [{"country_code": "US"}]
