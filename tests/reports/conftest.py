"""Each page that tests open, made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from geolookup.reports.section import Section
from tests.browser import Reader
from tests.reports.pages import PAGES


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the path of a page by its name; see ``PAGES``."""
    return cache(lambda name: PAGES[name](tmp_path_factory.mktemp(name)))


@pytest.fixture(autouse=True)
def _no_problem(request: pytest.FixtureRequest) -> Iterator[None]:
    """Nothing may go wrong in a page that a test opens."""
    reader = request.getfixturevalue("reader") if "reader" in request.fixturenames else None
    yield
    assert reader is None or reader.problems == []


@pytest.fixture
def opened(tmp_path: Path, reader: Reader) -> Callable[[Section], Reader]:
    """Open a page of a section, and wait until its map is drawn."""

    from geolookup.reports.page import page as page_of

    def open_page(section: Section) -> Reader:
        path = tmp_path / "map.html"
        path.write_text(page_of("Map", "A map.", [section]), encoding="utf-8")
        reader.page.set_viewport_size({"width": 1280, "height": 900})
        reader.open(path.as_uri())
        reader.page.wait_for_selector("[data-drawn]")
        return reader

    return open_page
