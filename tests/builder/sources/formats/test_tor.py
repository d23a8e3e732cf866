"""Exit addresses of Tor in both layouts, with lines that hold none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builder.building import fails, known
from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read, Reading, read_at
from tests.builder.sources.recipes import one
from tests.conftest import Build

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


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        pytest.param(
            BULK, ["185.220.101.1", "185.220.101.2", "2a0b:f4c2::1"], marks=pytest.mark.long
        ),
        (EXITS, ["91.102.152.236", "91.102.152.227"]),
        pytest.param(EXITS.replace("\n", "\r\n"), ["91.102.152.227"], marks=pytest.mark.long),
        pytest.param("\ufeff# x\n" + BULK, ["185.220.101.1"], marks=pytest.mark.long),
    ],
)
def test_exits(read: Read, text: str, addresses: list[str]) -> None:
    reading = read({"list": text}, RECIPE)
    assert (reading.source.read, reading.source.rejected.total()) == (3, 0)
    assert reading.source.duplicates == (1 if "ExitNode" in text else 0)
    assert reading.stated(*addresses, "91.102.152.228") == [PRIVACY] * len(addresses) + [{}]


BAD = ["ExitAddress", "ExitAddress x 2026-11-19 07:10:30", "185.220.101.0/24", "1.2.3", "a b c"]


@pytest.mark.long
def test_bad_lines_are_rejected_with_their_numbers(read: Read, tmp_path: Path) -> None:
    rejects = tmp_path / "rejects.csv"
    text = EXITS + "".join(f"{line}\n" for line in BAD)
    reading = read({"list": text}, RECIPE, rejects=rejects)
    assert dict(reading.source.rejected) == {"not an address": len(BAD)}
    lines = [line.split(",")[1] for line in rejects.read_text().splitlines()[1:]]
    assert lines == [str(at) for at in range(12, 12 + len(BAD))]


@pytest.mark.long
def test_another_file_is_one_error(tmp_path: Path) -> None:
    error = fails(tmp_path, {"list": "<none>\n" * 5}, RECIPE, max_rejects=0)
    assert (error.line, error.path) == (1, str(tmp_path / "list"))


@pytest.mark.long
def test_rows_are_those_of_a_plain_reader(tmp_path: Path) -> None:
    lines = (EXITS + BULK).splitlines()
    words = [line.removeprefix("ExitAddress ").split()[0] for line in lines]
    rows = [{"network": word, **PRIVACY} for word in words if "." in word or ":" in word]
    assert len(rows) == 6
    check_rows(tmp_path, {"list": EXITS + BULK}, RECIPE, rows)
