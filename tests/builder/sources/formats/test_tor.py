"""Exit addresses of Tor in both layouts, with lines that hold none."""

from __future__ import annotations

from pathlib import Path

from tests.builder.building import fails
from tests.builder.sources.readings import Read
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


def test_another_file_is_one_error(tmp_path: Path) -> None:
    error = fails(tmp_path, {"list": "<none>\n" * 5}, RECIPE, max_rejects=0)
    assert (error.line, error.path) == (1, str(tmp_path / "list"))
