"""The traffic page in Chromium: the filter and the files that its buttons save."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.browser import NARROW, OF_PAGES, Reader
from tests.cli.program import run

pytestmark = OF_PAGES
_COUNTS = {
    "68.181.17.93": 61, "77.88.8.201": 47, "89.207.57.131": 40, "91.197.29.187": 7,
    "93.180.39.77": 38, "128.10.143.29": 31, "1.46.201.119": 22, "8.8.8.8": 19, "1.1.1.1": 3,
}  # fmt: skip
_FIRST = datetime(2026, 11, 1, tzinfo=UTC)
_ROWS = """() => [...document.querySelectorAll("figure.view:not([hidden])")].map(figure => [
  figure.id, [...figure.querySelectorAll("tbody tr")].map(
    row => [...row.cells].map(cell => cell.textContent))])"""


class _Request:
    def __init__(self, address: str, number: int, data: Any) -> None:
        self.address = address
        self.minute = number % 7
        self.status = (200, 200, 404, 500)[number % 4]
        self.country: str = data["location"]["country_name"]
        network = data["network"]
        self.network = f"AS{network['asn']} {network['asn_organization']}"
        self.asn = network["asn"]
        self.kind: str | None = network["user_type"]

    def line(self) -> str:
        at = _FIRST + timedelta(minutes=self.minute)
        return f'{self.address} - - [{at:%d/%b/%Y:%H:%M:%S} +0000] "GET /" {self.status} 1\n'


@pytest.fixture(scope="module")
def requests() -> list[_Request]:
    with geolookup.open() as engine:
        answers: dict[str, Any] = {item: engine.lookup(item)["data"] for item in _COUNTS}
    return [
        _Request(address, number, answers[address])
        for address, count in _COUNTS.items()
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def page(
    tmp_path_factory: pytest.TempPathFactory, requests: list[_Request]
) -> Callable[[int], Path]:
    folder = tmp_path_factory.mktemp("traffic")
    log = folder / "access.log"
    log.write_text("".join(request.line() for request in requests), encoding="utf-8")

    def make(least: int) -> Path:
        output = folder / f"map-{least}.html"
        words = ("--min-count", str(least), "--input-format", "clf")
        done = run("map", str(log), "--output", str(output), *words, "--force")
        assert done.returncode == 0, done.stderr
        return output

    return make


def _choices(reader: Reader) -> Iterator[tuple[str, dict[str, list[list[str]]]]]:
    """Yield the name of each choice of the filter, and the rows of each view then."""
    options = reader.page.locator("#filter-choice option")
    for at in range(1, options.count()):
        name = options.nth(at).inner_text()
        reader.page.select_option("#filter-choice", index=at)
        yield name, dict(reader.page.evaluate(_ROWS))


def _open(reader: Reader, path: Path) -> None:
    reader.open(path.as_uri())
    reader.wait_for_maps()
    reader.page.wait_for_selector(".traffic-filter:not([hidden])")


def test_a_choice_narrows_every_view_to_its_requests(
    page: Callable[[int], Path], reader: Reader, requests: list[_Request]
) -> None:
    _open(reader, page(1))
    whole = reader.page.evaluate(_ROWS)
    names = set()
    for name, views in _choices(reader):
        own = [request for request in requests if name in (request.country, request.network)]
        assert own, name
        names.add(name)
        _check_counts(views["requests-time"], {
            f"2026-11-01 00:{minute:02d}": n
            for minute, n in Counter(request.minute for request in own).items()
        })  # fmt: skip
        _check_counts(views["top-networks"], Counter(request.network for request in own))
        _check_counts(views["top-countries"], Counter(request.country for request in own))
        statuses = views["status-countries"][0][1:]
        wanted = Counter(request.status // 100 for request in own)
        assert statuses == [str(wanted[number]) for number in (2, 4, 5)]
        hours = sum(int(cell) for _, *cells in views["hours"] for cell in cells)
        assert hours == len(own)
        if "hosting-share" in views:
            kinds = Counter(request.kind == "hosting" for request in own if request.kind)
            counts = [int(row[1]) for row in views["hosting-share"]]
            assert counts == [kinds[True], kinds[False]]
        assert f"{len(own)} requests of {name}" in reader.page.locator("output").first.inner_text()
    assert names == {name for item in requests for name in (item.country, item.network)}
    reader.page.select_option("#filter-choice", index=0)
    assert reader.page.evaluate(_ROWS) == whole


def _check_counts(rows: list[list[str]], wanted: dict[str, int]) -> None:
    assert {label: int(count) for label, count in rows if count != "0"} == wanted


def test_no_choice_shows_a_small_group(
    page: Callable[[int], Path], reader: Reader, requests: list[_Request]
) -> None:
    _open(reader, page(5))
    assert "AS13335" not in reader.page.content()  # 3 requests
    choices = 0
    for name, views in _choices(reader):
        own = [request for request in requests if name in (request.country, request.network)]
        assert len(own) >= 5
        counts = [
            int(cell.replace(",", ""))
            for rows in views.values()
            for _, *cells in rows
            for cell in cells
            if cell != "hidden"
        ]
        assert all(count >= 5 or count == 0 for count in counts), name
        choices += 1
    assert choices


def test_a_choice_hides_charts_of_few_requests(page: Callable[[int], Path], reader: Reader) -> None:
    _open(reader, page(20))
    messages = []
    for _, views in _choices(reader):
        message = reader.page.locator(".traffic-filter output").inner_text()
        assert ("Too few for a chart: Requests by minute" in message) == (
            "requests-time" not in views
        )
        messages.append(message)
    assert any("Too few for a chart" in message for message in messages)


def test_the_map_shows_the_countries_of_a_choice(
    page: Callable[[int], Path], reader: Reader, requests: list[_Request]
) -> None:
    _open(reader, page(1))
    country = requests[0].country
    layer = 'document.querySelector("[data-world]").worldMap.layer'
    reader.page.select_option("#filter-choice", label=country)
    weights = reader.page.evaluate(f"{layer}.countries.map(each => [each.title, each.weight])")
    assert weights == [[country, sum(request.country == country for request in requests)]]
    reader.page.select_option("#filter-choice", index=0)
    assert reader.page.locator("[name=where-map-density]:disabled").count() == 0


def test_buttons_save_tables_and_cells(
    page: Callable[[int], Path], reader: Reader, requests: list[_Request], tmp_path: Path
) -> None:
    _open(reader, page(1))
    rows = [*csv.reader(io.StringIO(_saved(reader, "#top-networks .save", tmp_path)))]
    assert rows[0] == ["networks", "requests"]
    counts = Counter(request.network for request in requests)
    assert {label: int(count) for label, count in rows[1:]} == counts
    reader.page.select_option("#filter-choice", label=requests[0].country)
    rows = [*csv.reader(io.StringIO(_saved(reader, "#top-networks .save", tmp_path)))]
    own = Counter(item.network for item in requests if item.country == requests[0].country)
    assert {label: int(count) for label, count in rows[1:]} == own
    cells = json.loads(_saved(reader, "#where .world-legend + .save", tmp_path))
    assert cells["type"] == "FeatureCollection"
    with geolookup.open() as engine:
        answers: list[Any] = [engine.lookup(request.address)["data"] for request in requests]
    places = [(item["location"]["longitude"], item["location"]["latitude"]) for item in answers]
    wanted = Counter(point for point in places if point[0] is not None)
    assert sum(item["properties"]["requests"] for item in cells["features"]) == wanted.total()
    for item in cells["features"]:
        longitude, latitude = item["geometry"]["coordinates"]
        assert any(abs(longitude - x) < 0.05 and abs(latitude - y) < 0.05 for x, y in wanted)


def _saved(reader: Reader, selector: str, folder: Path) -> str:
    with reader.page.expect_download() as download:
        reader.page.locator(selector).click()
    path = folder / "saved"
    download.value.save_as(path)
    assert re.fullmatch(r"[\w-]+\.(csv|geojson)", download.value.suggested_filename)
    return path.read_bytes().decode()


def test_a_narrowed_page_fits_a_phone_and_a_screen_reader(
    page: Callable[[int], Path], reader: Reader, requests: list[_Request]
) -> None:
    reader.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    _open(reader, page(5))
    reader.page.select_option("#filter-choice", label=requests[0].country)
    reader.check_width()
    reader.check()


def test_the_figures_fill_their_rows(page: Callable[[int], Path], reader: Reader) -> None:
    """Eight figures are one row of a wide page, and four rows of a phone: none stands alone."""
    reader.open(page(1).as_uri())
    for width, rows in ((1600, 1), (400, 4)):
        reader.page.set_viewport_size({"width": width, "height": 900})
        boxes = [box.bounding_box() for box in reader.page.locator("#summary .figures > div").all()]
        assert len({box["y"] for box in boxes if box}) == rows
        assert len(boxes) == 8
