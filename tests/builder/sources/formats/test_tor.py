"""Exit addresses of Tor in both layouts, with lines that hold none."""

from __future__ import annotations

from pathlib import Path

from tests.builder.building import fails
from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read
from tests.builder.sources.recipes import one

BULK = "185.220.101.1\n185.220.101.2\n2a0b:f4c2::1\n"
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
    for text, addresses in (
        (BULK, ["185.220.101.1", "185.220.101.2", "2a0b:f4c2::1"]),
        (EXITS, ["91.102.152.236", "91.102.152.227"]),
        (EXITS.replace("\n", "\r\n"), ["91.102.152.227"]),
        ("\ufeff# x\n" + BULK, ["185.220.101.1"]),
    ):
        reading = read({"list": text}, RECIPE)
        assert (reading.source.read, reading.source.rejected.total()) == (3, 0), text
        assert reading.source.duplicates == (1 if "ExitNode" in text else 0), text
        assert reading.stated(*addresses, "91.102.152.228") == [PRIVACY] * len(addresses) + [{}]


BAD = ["ExitAddress", "ExitAddress x 2026-11-19 07:10:30", "185.220.101.0/24", "1.2.3", "a b c"]


def test_bad_lines_are_rejected_with_their_numbers(read: Read) -> None:
    text = EXITS + "".join(f"{line}\n" for line in BAD)
    lines = range(12, 12 + len(BAD))
    assert read({"list": text}, RECIPE).bad_lines() == [(at, "not an address") for at in lines]


def test_another_file_is_one_error(tmp_path: Path) -> None:
    error = fails(tmp_path, {"list": "<none>\n" * 5}, RECIPE, max_rejects=0)
    assert (error.line, error.path) == (1, str(tmp_path / "list"))


def test_rows_are_those_of_a_plain_reader(tmp_path: Path) -> None:
    lines = (EXITS + BULK).splitlines()
    words = [line.removeprefix("ExitAddress ").split()[0] for line in lines]
    rows = [{"network": word, **PRIVACY} for word in words if "." in word or ":" in word]
    assert len(rows) == 6
    check_rows(tmp_path, {"list": EXITS + BULK}, RECIPE, rows)
