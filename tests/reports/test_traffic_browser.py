"""The traffic page in Chromium: what a choice of the filter shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.browser import OF_PAGES, Reader
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
