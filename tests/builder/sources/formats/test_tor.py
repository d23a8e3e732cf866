"""Exit addresses of Tor and plain lists of prefixes: what counts as a row, and lines of nothing."""

from __future__ import annotations

from tests.builder.sources.readings import Read, fields
from tests.builder.sources.recipes import one

BULK = "185.220.101.1\n185.220.101.4\n2a0b:f4c2::1\n"
EXITS = """\
@type tordnsel 1.0
Downloaded 2026-11-20 00:02:00
ExitNode 63BA28370F543D175173E414D5450590D73E22DC
Published 2026-11-19 07:35:55
LastStatus 2026-11-19 08:10:11
ExitAddress 91.102.152.236 2026-11-19 07:10:30
ExitAddress 91.102.152.227 2026-11-19 10:35:30
ExitNode A5C4A4D6F8E9B9E2B1D5B0A8C3F2E1D0C9B8A7F6
Published 2026-11-19 07:35:55
LastStatus 2026-11-19 08:10:11
ExitAddress 91.102.152.236 2026-11-19 09:00:00
"""
PRIVACY = {"user_type": "consumer_privacy_network"}
RECIPE = one("tor", "list")


def test_exits(read: Read) -> None:
    bulk = {"185.220.101.1/32", "185.220.101.4/32", "2a0b:f4c2::1/128"}
    exits = {"91.102.152.236/32", "91.102.152.227/32"}
    for text, addresses in (
        (BULK, bulk),
        (EXITS, exits),
        (EXITS.replace("\n", "\r\n"), exits),
        ("\ufeff# x\n" + BULK, bulk),
    ):
        reading = read({"list": text}, RECIPE)
        assert (reading.source.read, reading.source.rejected.total()) == (3, 0), text
        assert reading.source.duplicates == (1 if "ExitNode" in text else 0), text
        assert reading.ranges() == dict.fromkeys(addresses, PRIVACY), text


BAD = ["ExitAddress", "ExitAddress x 2026-11-19 07:10:30", "185.220.101.0/24", "1.2.3", "a b c"]


def test_bad_lines_are_rejected_with_their_numbers(read: Read) -> None:
    text = EXITS + "".join(f"{line}\n" for line in BAD)
    lines = range(12, 12 + len(BAD))
    assert read({"list": text}, RECIPE).bad_lines() == [(at, "not an address") for at in lines]


LIST = "# hosters\n8.8.8.0/24\n\n9.9.9.9   # one of them\n2600:100::/32 ; other comment\n"
HOSTING = 'fields = { user_type = "hosting" }'
LISTED = one("cidr-list", "list.txt", HOSTING)


def test_the_fields_of_every_row(read: Read) -> None:
    blank = "   \n\t\n" + LIST + "  # end"
    for text in (LIST, blank, "\ufeff8.8.8.0/24\n9.9.9.9\n2600:100::/32"):
        reading = read({"list.txt": text}, LISTED)
        assert reading.ranges().keys() == {"8.8.8.0/24", "9.9.9.9/32", "2600:100::/32"}, text
        assert [*reading.ranges().values()] == [{"user_type": "hosting"}] * 3, text
        assert (reading.source.read, reading.source.rejected.total()) == (3, 0), text
    located = 'country_code = "no", latitude = 59.5, longitude = 10'
    constants = f'fields = {{ asn = 64500, isp = "Acme", {located} }}'
    reading = read({"list.txt": "8.8.8.8\n"}, one("cidr-list", "list.txt", constants))
    stated = fields("asn=64500; isp=Acme; country_code=NO; latitude=59.5; longitude=10")
    assert reading.ranges() == {"8.8.8.8/32": stated}
    reading = read({"a.txt": "8.8.8.8", "b.txt": "9.9.9.9"}, one("cidr-list", "?.txt", HOSTING))
    assert (reading.source.read, len(reading.ranges())) == (2, 2)


BAD_LINES = {
    "8.8.8.0/33": "not a prefix length",
    "8.8.8.1/24": "host bits set",
    "8.8.8": "not an address",
    "8.8.8.0/24,US": "not a prefix length",
    "8.8.8.0/24 US": "not an address",
    "8.8.8.0/2\x1f4": "wrong number of cells",
    '"8.8.8.0/24': "not an address",
}


def test_lists_of_bad_lines_or_comments(read: Read) -> None:
    text = "# first\n\n" + "".join(f"{line}\n" for line in BAD_LINES) + "9.9.9.9\n"
    reading = read({"list.txt": text}, LISTED)
    assert reading.bad_lines() == list(enumerate(BAD_LINES.values(), 3))
    assert reading.stated("9.9.9.9") == [{"user_type": "hosting"}]
    reading = read({"list.txt": "# none today\n"}, LISTED)
    assert (reading.source.read, reading.stated("8.8.8.8")) == (0, [{}])
