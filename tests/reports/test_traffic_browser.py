"""The map of a file in headless Chromium: what a reader sees is what the file holds."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.browser import OF_PAGES, Reader
from tests.cli.program import run

pytestmark = OF_PAGES
#: An address of the small dataset in each zone.
_ZONES = {
    "68.181.17.93": "America/Los_Angeles",
    "93.180.39.77": "Europe/Moscow",
    "103.27.9.201": "Asia/Kolkata",
}
_FIRST = datetime.fromisoformat("2026-11-01T00:20:00Z")  # clocks are set back that day in America
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_CELLS = """() => [...document.querySelectorAll("#hours tbody tr")].map(
  row => [...row.querySelectorAll("th, td")].map(cell => cell.textContent)
)"""
_TEXT = """() => document.documentElement.outerHTML.replace(/<script.*?<\\/script>/gs, "")"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traffic")
    lines = [
        f'{address} - - [{at:%d/%b/%Y:%H:%M:%S} +0000] "GET / HTTP/1.1" 200 1\n'
        for hour in range(300)
        for at in [_FIRST + timedelta(hours=hour)]
        for address in _ZONES
    ]
    (folder / "access.log").write_text("".join(lines))
    output = folder / "map.html"
    done = run("map", str(folder / "access.log"), "--output", str(output))
    assert done.returncode == 0, done.stderr
    return output


def _expected() -> Counter[tuple[str, int]]:
    found: Counter[tuple[str, int]] = Counter()
    for hour in range(300):
        for zone in _ZONES.values():
            local = (_FIRST + timedelta(hours=hour)).astimezone(ZoneInfo(zone))
            found[_DAYS[local.weekday()], local.hour] += 1
    return found


def test_the_hours_and_the_map_are_those_of_the_file(page: Path, reader: Reader) -> None:
    reader.open(page.as_uri())
    cells = {
        (day, hour): cell
        for day, *cells in reader.page.evaluate(_CELLS)
        for hour, cell in enumerate(cells)
    }
    wanted = _expected()
    assert len(cells) == 7 * 24
    assert {at: cell for at, cell in cells.items() if cell != "hidden"} == {
        at: str(number) for at, number in wanted.items() if number >= 5
    }
    hidden = sum(number for number in wanted.values() if number < 5)
    assert f"In hidden hours: {hidden}." in reader.page.locator("#when").inner_text()
    assert reader.page.locator("#where canvas").first.is_visible()
    assert "900" in reader.page.locator("#where table").first.inner_text()


def test_the_page_that_its_scripts_made_holds_no_address(page: Path, reader: Reader) -> None:
    reader.open(page.as_uri())
    reader.wait_for_maps()
    reader.page.locator("#where canvas").first.focus()
    for key in ("ArrowRight", "ArrowDown", "+"):
        reader.page.keyboard.press(key)
    reader.wait_for_maps()
    shown = reader.page.evaluate(_TEXT)
    assert not [text for text in (*_ZONES, "01/Nov", "2026-11-0") if text in shown]
