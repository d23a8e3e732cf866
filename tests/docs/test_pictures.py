"""The pictures in docs are those that ``python -m docs.pictures`` makes and the commands print."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest

import geolookup
from geolookup.contract.address import canonical
from geolookup.contract.special import is_private
from geolookup.engine import BUNDLED
from geolookup.pictures import hilbert
from geolookup.pictures.views import SPECIAL, UNKNOWN, View
from tests.conftest import ROOT
from tests.skips import needs, optional

# docs.terminal needs pseudo-terminals, which are POSIX; [report] draws the charts.
OF_TERMINAL, DRAWN = needs("fcntl"), needs("fcntl", "docs.pictures", "vl_convert")
pictures, address_map = optional("docs.pictures"), optional("docs.address_map")


def texts(svg: str) -> list[str]:
    return [unescape(each) for each in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


@DRAWN
def test_the_chart_of_speed_shows_every_figure_of_the_readme() -> None:
    table = pictures.README.read_text(encoding="utf-8").partition("\n## Benchmarks\n")[2]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    figures = [each for line in lines[2:] for each in re.findall(r"\| \**([\d,]+)", line)]
    assert len(figures) == 21
    drawn = texts((pictures.FOLDER / "speed.svg").read_text(encoding="utf-8"))
    assert sorted(each[:-3] for each in drawn if each.endswith(" ns")) == sorted(figures)
    assert drawn == texts(pictures.speed().decode())  # positions depend on the fonts of a machine


@DRAWN
def test_a_page_shows_each_picture_and_says_what_it_shows() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert pictures.PICTURES
    for name in pictures.PICTURES:
        alternatives = re.findall(rf"!\[([^\]]+)\]\((?:[\w./]+/)?{re.escape(name)}\)", text)
        assert alternatives, name
        assert min(map(len, alternatives)) >= 40, name


#: Where the square of the map begins in the picture, and its side in pixels: 2^11.
LEFT, TOP, ORDER = 48, 124, 11


@DRAWN
@pytest.mark.long
def test_the_map_has_the_colours_of_the_countries() -> None:
    image = pytest.importorskip("PIL.Image").open(pictures.FOLDER / "address-map.png")
    assert (pictures.FOLDER / "address-map.png").stat().st_size < 400_000
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 1 << ORDER, (2, 3000), np.uint64)
    addresses = hilbert.cells(2 * x + 1, 2 * y + 1, ORDER + 1) << np.uint64(8)
    (view,) = address_map.countries().views
    with geolookup.open(BUNDLED) as engine:
        wanted = [colour(view, engine, address) for address in addresses.tolist()]
    drawn = np.asarray(image.convert("RGB"))[y + np.uint64(TOP), x + np.uint64(LEFT)]
    found = ["#" + bytes(each).hex() for each in drawn]
    # Lines and numbers lie on the rest.
    assert sum(map(close, found, wanted)) > 0.94 * len(found)


def colour(view: View, engine: geolookup.Engine, address: int) -> str:
    """Return the colour of the country that a lookup answers."""
    if is_private(4, address):
        return view.colours[SPECIAL]
    code = engine.get(canonical(4, address), "location.country_code")
    ends = f"({code})"
    labels = [at for at, label in enumerate(view.labels) if label.endswith(ends)]
    return view.colours[min(labels[0] if code else UNKNOWN, len(view.colours) - 1)]


def close(one: str, other: str) -> bool:
    """Return whether two colours are alike but for the few of a palette."""
    both = (bytes.fromhex(each.removeprefix("#")) for each in (one, other))
    return all(abs(a - b) <= 8 for a, b in zip(*both, strict=True))


terminal = optional("docs.terminal")
#: What differs from run to run: a local time and a duration.
_VARYING = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d P[DS]T|in \d+\.\d s")


def _alike(text: str) -> str:
    return _VARYING.sub("…", text)


@OF_TERMINAL
@pytest.mark.long
def test_the_picture_shows_what_the_commands_print() -> None:
    steps = terminal.record()
    assert _alike(terminal.svg(steps)) == _alike(terminal.PICTURE.read_text(encoding="utf-8"))
    assert max(map(len, terminal.shown(steps))) <= terminal.COLUMNS


@OF_TERMINAL
def test_the_picture_has_a_description_and_stands_still_where_that_is_wanted() -> None:
    text = terminal.PICTURE.read_text(encoding="utf-8")
    described = text.partition("<desc")[2].partition("</desc>")[0]
    assert all(f"$ {command}" in described for command in terminal.SESSION)
    moving = text.partition("@media (prefers-reduced-motion: no-preference) {")[2]
    assert "animation:" not in text.replace(moving, "")
    for page in (ROOT / "README.md", ROOT / "docs" / "index.md"):
        assert re.search(r"!\[[^\]]{40,}\]", page.read_text(encoding="utf-8")), page
