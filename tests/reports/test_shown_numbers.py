"""Pages in Chromium: each number that a reader sees, against lookups, the score and the file."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.browser import OF_PAGES, Reader
from tests.cli.program import run
from tests.comparison.conftest import old_and_new
from tests.conftest import Build
from tests.reports.shown import check_changes, check_dataset, of_browser, sampled
from tests.reports.test_against import WINDOWS

pytestmark = OF_PAGES
OLD, NEW = old_and_new()


def _shown(
    reader: Reader, folder: Path, dataset: Path, *options: str
) -> dict[str, list[list[str]]]:
    output = folder / "page.html"
    done = run("report", str(dataset), "--output", str(output), *options)
    assert done.returncode == 0, done.stderr
    reader.open(output.as_uri())
    reader.wait_for_maps()
    return of_browser(reader)


def test_of_what_changed(reader: Reader, tmp_path: Path) -> None:
    tables = _shown(reader, tmp_path, NEW, "--against", str(OLD))
    check_changes(tables, sampled(OLD, NEW, WINDOWS))
    check_dataset(tables, NEW)


def test_shares_of_an_address_map(reader: Reader, tmp_path: Path, build: Build) -> None:
    dataset, _ = build({"a.csv": _WHOLE})
    _shown(reader, tmp_path, dataset)
    views = reader.page.locator("#ipv4 .address-map-views input")
    assert views.count() == len(_SHARES)
    for at, expected in enumerate(_SHARES):
        views.nth(at).check()
        reader.wait_for_maps()
        rows = reader.page.locator("#ipv4 .address-map-legend li").all()
        shares = {
            row.locator(".address-map-label").inner_text(): row.locator(
                ".address-map-share"
            ).inner_text()
            for row in rows
        }
        assert {label: shares[label] for label in expected} == expected


#: Blocks whose shares of IPv4 are not ties of rounding.
_WHOLE = """network,country_code,region_name,city_name,asn,asn_organization
64.0.0.0/3,US,,,1,One
32.0.0.0/4,DE,Bavaria,,2,Two
16.0.0.0/6,FR,,Paris,1,One
"""
_SHARES: list[dict[str, str]] = [
    {"United States (US)": "12.50 %", "Germany (DE)": "6.25 %", "France (FR)": "1.56 %"},
    {"country": "12.50 %", "region": "6.25 %", "city": "1.56 %"},
    {"AS1 One": "14.06 %", "AS2 Two": "6.25 %"},
    {"a.csv": "20.31 %"},
    {"no date stated": "20.31 %"},
]


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
    (folder / "access.log").write_text("".join(lines), encoding="utf-8")
    output = folder / "map.html"
    done = run("map", str(folder / "access.log"), "--output", str(output))
    assert done.returncode == 0, done.stderr
    return output


def _expected() -> Counter[tuple[str, int]]:
    result: Counter[tuple[str, int]] = Counter()
    for hour in range(300):
        for zone in _ZONES.values():
            local = (_FIRST + timedelta(hours=hour)).astimezone(ZoneInfo(zone))
            result[_DAYS[local.weekday()], local.hour] += 1
    return result


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
    # The page that its scripts made holds no address.
    reader.wait_for_maps()
    reader.page.locator("#where canvas").first.focus()
    for key in ("ArrowRight", "ArrowDown", "+"):
        reader.page.keyboard.press(key)
    reader.wait_for_maps()
    shown = reader.page.evaluate(_TEXT)
    assert not [text for text in (*_ZONES, "01/Nov", ":20:00") if text in shown]
