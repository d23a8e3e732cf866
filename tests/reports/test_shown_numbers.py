"""Pages in Chromium: each number that a reader sees, against lookups and against the score."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import geolookup
from tests.browser import OF_PAGES, Reader
from tests.cli.program import run
from tests.comparison.conftest import old_and_new
from tests.conftest import Build
from tests.reports.shown import check_changes, check_dataset, check_truth, of_browser, sampled
from tests.reports.test_against import WINDOWS, scored_parts, truth_files
from tests.reports.test_dataset_facts import MIXED
from tests.reports.world_reader import hover, place

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


def test_of_a_dataset(reader: Reader, tmp_path: Path, build: Build) -> None:
    dataset, _ = build({"a.csv": MIXED})
    check_dataset(_shown(reader, tmp_path, dataset), dataset)
    # Nothing has coordinates: the map of the world has countries, and says so of the others.
    said = []
    for choice in reader.page.locator("[name=world-map-density]").all():
        choice.check()
        reader.wait_for_maps()
        said.append(hover(reader, *place(reader, 40, -100)))
    assert said[0].startswith("United States (US): 509 addresses")
    assert [" no " in each for each in said] == [False, True, True, True]


def test_of_what_changed(reader: Reader, tmp_path: Path) -> None:
    tables = _shown(reader, tmp_path, NEW, "--against", str(OLD))
    check_changes(tables, sampled(OLD, NEW, WINDOWS))
    check_dataset(tables, NEW)


def test_of_ground_truth(reader: Reader, tmp_path: Path) -> None:
    files: Sequence[str] = [*truth_files(tmp_path).values()]
    tables = _shown(reader, tmp_path, NEW, *(word for path in files for word in ("--truth", path)))
    check_truth(tables, scored_parts(geolookup.score(NEW, files)))
    assert "8.8.8.130" not in reader.page.content()


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


#: Blocks whose shares of IPv4 are no ties of rounding.
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
