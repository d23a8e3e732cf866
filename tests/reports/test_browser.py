"""Reports and maps in headless Chromium: what every page and both kinds of map must do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser import OF_PAGES, Reader
from tests.reports.conftest import PAGES

pytestmark = OF_PAGES
Pages = Callable[[str], Path]
WIDTHS = (400, 1600)
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


def _opened(reader: Reader, path: Path) -> list[str]:
    """Open a page and wait until its scripts are done; returns the requests to come."""
    requests: list[str] = []
    reader.page.on("request", lambda request: requests.append(request.url))
    reader.page.on("dialog", lambda dialog: reader.problems.append(f"dialog: {dialog.message}"))
    reader.open(path.as_uri())
    reader.wait_for_maps()
    return requests


def _sized(reader: Reader, width: int) -> None:
    reader.page.set_viewport_size({"width": width, "height": 900})


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_problem(page: Pages, reader: Reader, name: str) -> None:
    _opened(reader, page(name))
    for opened in ("false", "true"):  # what opens, too
        reader.page.evaluate(
            f"document.querySelectorAll('details').forEach(each => {{ each.open = {opened}; }})"
        )
        for width in WIDTHS:
            _sized(reader, width)
            reader.check_width()
        reader.check()


@pytest.mark.parametrize("name", PAGES)
def test_no_request_is_only_prevented_by_the_policy(
    page: Pages, reader: Reader, name: str, tmp_path: Path
) -> None:
    text, changed = _POLICY.subn("", page(name).read_text(encoding="utf-8"))
    assert changed == 1
    free = tmp_path / "free.html"
    free.write_text(text, encoding="utf-8")
    requests = _opened(reader, free)
    assert [request for request in requests if not request.startswith(("blob:", "data:"))] == [
        free.as_uri()
    ]
