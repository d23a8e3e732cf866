"""Addresses with ``{month}``: the newest file that the publisher has, whatever the day is."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from geolookup.errors import BuildError, MissingFileError
from tests.internals.remote import candidates, transfer
from tests.remote.serving import Handler, Site, cut, fetched, file, serving, status

ROWS = b"network,isp\n8.8.8.0/24,one\n" * 1000


@pytest.mark.parametrize(
    ("known", "today", "expected"),
    [
        ("", date(2026, 12, 31), ("2026-12", "2026-11")),
        ("", date(2027, 1, 1), ("2027-01", "2026-12")),
        ("2026-10", date(2026, 12, 1), ("2026-12", "2026-11")),
        ("2026-11", date(2026, 12, 1), ("2026-12", "2026-11")),
        ("2026-12", date(2026, 12, 1), ("2026-12",)),
        ("2027-02", date(2026, 12, 1), ("2027-02",)),  # the clock was wrong, now or then
    ],
)
def test_the_months_of_a_day(known: str, today: date, expected: tuple[str, ...]) -> None:
    assert candidates(known, today) == expected


NOW, BEFORE = "2026-12", "2026-11"


@pytest.fixture(autouse=True)
def _december(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "today", lambda: date(2026, 12, 2))


class Publisher:
    """Has the files of all months but those that it lacks."""

    def __init__(self, *lacks: str) -> None:
        self.asked: list[str] = []
        self.lacks = set(lacks)
        self.act = file(ROWS)

    def __call__(self, handler: Handler) -> None:
        match = re.fullmatch(r"/a-([0-9]{4}-[0-9]{2})\.csv", handler.path)
        assert match, handler.path
        self.asked.append(match[1])
        (status(404) if match[1] in self.lacks else self.act)(handler)


def address(site: Site) -> str:
    return f"{site.url}/a-{{month}}.csv"


def test_the_month_before_until_the_new_file_is_there(tmp_path: Path) -> None:
    publisher = Publisher(NOW)
    with serving(publisher) as site:
        first = fetched(address(site), tmp_path)
        assert publisher.asked == [NOW, BEFORE]
        assert (first.changed, first.file.path.name) == (True, f"a-{BEFORE}.csv")
        # The file of the month before is unchanged, and its ETag is not sent for another file.
        assert not fetched(address(site), tmp_path).changed
        conditions = [headers["If-None-Match"] for _, headers in site.asked]
        assert (publisher.asked[2:], conditions[2:]) == ([NOW, BEFORE], [None, '"one"'])
        publisher.lacks.clear()
        newer = fetched(address(site), tmp_path)
        assert (newer.changed, newer.file.path.name) == (True, f"a-{NOW}.csv")
        # Withdrawn again: the older file does not come back.
        publisher.lacks.add(NOW)
        asked = len(publisher.asked)
        with pytest.raises(MissingFileError, match=f"a-{NOW}.csv: no such file on the server"):
            fetched(address(site), tmp_path)
        assert set(publisher.asked[asked:]) == {NOW}
    assert len(list((tmp_path / "cache").iterdir())) == 1  # one address, one folder


def test_a_part_is_resumed_in_its_own_month(tmp_path: Path) -> None:
    publisher = Publisher(NOW)
    publisher.act = cut(ROWS, 5000)
    with serving(publisher) as site:
        with pytest.raises(BuildError, match="truncated, at 5,000 of"):
            fetched(address(site), tmp_path)
        publisher.act = file(ROWS)
        publisher.lacks.clear()
        whole = fetched(address(site), tmp_path)
        assert (whole.start, whole.file.version.month) == (0, NOW)
        assert whole.file.path.read_bytes() == ROWS
        assert site.ranges[-1] is None
