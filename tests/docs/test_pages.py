"""What a page shows is what happens: its examples run, or a table says why not; its pictures."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import geolookup
from geolookup.contract.address import canonical
from geolookup.contract.special import is_private
from geolookup.pictures.address_space import SPECIAL, UNKNOWN, View
from geolookup.store.paths import BUNDLED
from tests.conftest import ROOT
from tests.docs import fleet_figures
from tests.docs.blocks import (
    NOT_RUN,
    PAGES,
    PRESUMED,
    SHOWN,
    Block,
    Needs,
    blocks,
    name_of,
    sessions,
)
from tests.docs.namespace import environment, matches, shell
from tests.docs.program import program
from tests.docs.running import RUNS, read
from tests.pictures import hilbert
from tests.skips import needs, optional

BLOCKS = {name_of(page): blocks(page) for page in PAGES}


def _stated(block: Block) -> bool:
    return any(block.page == page and block.text.startswith(start) for page, start, _ in NOT_RUN)


def runs(block: Block) -> bool:
    return (bool(block.name) or block.kind in RUNS) and not _stated(block)


def _parameters() -> list[object]:
    """The README runs in the fast tier, the other pages with ``--all``."""
    return [
        pytest.param(page, marks=() if page == "README.md" else pytest.mark.long)
        for page, item in BLOCKS.items()
        if any(runs(block) for block in item)
    ]


@pytest.fixture(scope="module")
def commands_in() -> Iterator[Path]:
    """The folder of a command ``geolookup`` that starts in no time."""
    with program() as folder:
        yield folder


@pytest.mark.parametrize("page", _parameters())
def test_the_examples_of_a_page(page: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Commands of the README are processes of their own."""
    presumed = PRESUMED.get(page, Needs())
    for module in presumed.modules:
        pytest.importorskip(module)
    for needed in presumed.programs:
        if shutil.which(needed) is None:
            pytest.skip(f"no {needed} here")
    folder = None if page == "README.md" else request.getfixturevalue("commands_in")
    read(filter(runs, BLOCKS[page]), presumed, tmp_path, folder)


def test_every_block_runs_under_its_name_or_has_a_reason() -> None:
    silent = [
        block.position
        for result in BLOCKS.values()
        for block in result
        if not (runs(block) or _stated(block) or block.kind in SHOWN)
    ]
    assert silent == []
    # A reader sees no name that stands in the fence.
    unnamed = [
        block.position
        for page, item in BLOCKS.items()
        for block in item
        if block.name and block.name not in _above(page, block.line)
    ]
    assert unnamed == []
    for page, start, reason in NOT_RUN:
        assert any(block.text.startswith(start) for block in BLOCKS[page]), (page, start)
        for test in re.findall(r"tests/\S+\.py", reason):
            assert page in (ROOT / test).read_text(encoding="utf-8"), (page, test)
    assert {*PRESUMED} <= {page for page, item in BLOCKS.items() if any(map(runs, item))}


def _above(page: str, line: int) -> str:
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    return "\n".join(lines[max(0, line - 6) : line - 1])


def test_the_start_of_pages_in_any_locale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # They stand in the README, and .ci/run runs them in clean copies.
    install, test = (block.text.strip() for block in BLOCKS["README.md"] if block.kind == "sh")
    assert install.endswith("geolookup lookup 8.8.8.8")
    assert test.endswith("-m pytest -q -n 2 --dist worksteal")
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert re.match(r"# .+\n\n(?!```)[A-Z`\[][^|]+?[.:]", text), page
    for name in ("POSIX", "C"):
        monkeypatch.setenv("LC_ALL", name)
        with shell(tmp_path, tmp_path, environment(tmp_path)) as commands:
            assert commands.run("locale charmap") == (0, "UTF-8\n"), name


def test_what_is_read_of_a_page(tmp_path: Path) -> None:
    for shown, printed, same in (
        ("a 1\n", "a 2\n", False), ("a …\n", "a 2\n", True), ("a …\n", "a 2\nb\n", False),
        ("a\n…\n", "a\nb\nc\n", True), ("a\n…\nc\n", "a\nc\n", True),
        ("a\n…\nc\n", "a\nb\n", False), ("", "", True), ("", "a\n", False),
    ):  # fmt: skip
        assert matches(shown, printed) == same, (shown, printed)
    page = tmp_path / "page.md"
    text = "```{eval-rst}\n.. code::\n```\n\n````text\n```\n````\n\n```python a.py\n1\n```\n"
    page.write_text(text, encoding="utf-8")
    actual = [(block.kind, block.name, block.text) for block in blocks(page, tmp_path)]
    assert actual == [("text", "", "```\n"), ("python", "a.py", "1\n")]
    shown = "$ cat <<'E'\n> a\n> E\na\n$ b\n"
    assert list(sessions(shown)) == [("cat <<'E'\na\nE", "a\n"), ("b", "")]


def test_the_tables_of_the_fleet_are_the_computed_ones() -> None:
    page = (ROOT / "docs" / "operate" / "fleet.md").read_text(encoding="utf-8")
    for table in fleet_figures.TABLES:
        assert f"\n{fleet_figures.markdown(table())}\n\n" in page, table.__name__
    assert len(re.findall(r"^\|[ -|]*---", page, re.MULTILINE)) == len(fleet_figures.TABLES)


# docs.terminal needs POSIX pseudo-terminals; [report] draws the charts.
OF_TERMINAL, DRAWN = needs("fcntl"), needs("fcntl", "docs.pictures", "vl_convert")
pictures, address_map = optional("docs.pictures"), optional("docs.address_map")


def texts(svg: str) -> list[str]:
    return [unescape(match) for match in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


@DRAWN
def test_the_chart_of_speed_shows_every_figure_of_the_readme() -> None:
    table = pictures.README.read_text(encoding="utf-8").partition("\n## Benchmarks\n")[2]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    figures = [match for line in lines[2:] for match in re.findall(r"\| \**([\d,]+)", line)]
    assert figures
    drawn = texts((pictures.FOLDER / "speed.svg").read_text(encoding="utf-8"))
    assert sorted(entry[:-3] for entry in drawn if entry.endswith(" ns")) == sorted(figures)
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
    actual = ["#" + bytes(entry).hex() for entry in drawn]
    # Lines and numbers lie on the rest.
    assert sum(map(close, actual, wanted)) > 0.94 * len(actual)


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
    both = (bytes.fromhex(item.removeprefix("#")) for item in (one, other))
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
def test_the_picture_has_a_description_and_stands_still() -> None:
    text = terminal.PICTURE.read_text(encoding="utf-8")
    described = text.partition("<desc")[2].partition("</desc>")[0]
    assert all(f"$ {command}" in described for command in terminal.SESSION)
    assert re.findall("animat|transition|opacity", text) == []
    for page in (ROOT / "README.md", ROOT / "docs" / "index.md"):
        assert re.search(r"!\[[^\]]{40,}\]", page.read_text(encoding="utf-8")), page
