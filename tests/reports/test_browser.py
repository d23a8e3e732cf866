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
#: Whether each canvas that is shown has several colours; a part of it lies over a picture.
_DRAWN = """() => {
  const shown = [...document.querySelectorAll("canvas")].filter(each => each.checkVisibility());
  return shown.length > 0 && shown.every(({ width, height }, at) => {
    const copy = new OffscreenCanvas(width, height).getContext("2d");
    copy.drawImage(shown[at], 0, 0);
    return new Set(new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer)).size > 1;
  });
}"""
#: Marks what can be operated, and counts it.
_OPERABLE = """() => {
  const found = [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex='0']"
  )].filter(each => each.checkVisibility() && !each.disabled);
  // Of radio buttons with one name, Tab reaches one.
  const kept = found.filter(each => each.type !== "radio" || each.checked);
  kept.forEach((each, at) => { each.dataset.operable = at; });
  return kept.length;
}"""
_FOCUSED = """() => {
  const style = getComputedStyle(document.activeElement);
  const seen = style.outlineStyle !== "none" || style.boxShadow !== "none";
  return [document.activeElement.dataset.operable ?? null, seen];
}"""
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_canvas_is_drawn(page: Pages, reader: Reader, scheme: str) -> None:
    reader.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    _opened(reader, page("bundled"))
    reader.page.wait_for_function(_DRAWN, timeout=60_000)


@pytest.mark.parametrize("name", PAGES)
def test_the_keyboard_reaches_everything_and_shows_where(
    page: Pages, reader: Reader, name: str
) -> None:
    _sized(reader, 1600)
    _opened(reader, page(name))
    count = reader.page.evaluate(_OPERABLE)
    reached, hidden = set(), set()
    for _ in range(count + 5):
        reader.page.keyboard.press("Tab")
        at, seen = reader.page.evaluate(_FOCUSED)
        reached.add(at)
        if at is not None and not seen:
            hidden.add(at)
    assert reached - {None} == {str(at) for at in range(count)}
    assert hidden == set()
