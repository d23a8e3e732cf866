"""The pictures in docs are those that ``python -m docs.pictures`` makes."""

from __future__ import annotations

import re
from html import unescape

import pytest

pytest.importorskip("fcntl", reason="docs.terminal needs pseudo-terminals, which are POSIX")
pytest.importorskip("vl_convert", reason="[report] draws the charts")

from docs import pictures
from tests.conftest import ROOT


def texts(svg: str) -> list[str]:
    return [unescape(each) for each in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


def test_the_chart_of_speed_shows_every_figure_of_the_readme() -> None:
    table = pictures.README.read_text(encoding="utf-8").partition("\n## Benchmarks\n")[2]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    figures = [each for line in lines[2:] for each in re.findall(r"\| \**([\d,]+)", line)]
    assert len(figures) == 21
    drawn = texts((pictures.FOLDER / "speed.svg").read_text(encoding="utf-8"))
    assert sorted(each[:-3] for each in drawn if each.endswith(" ns")) == sorted(figures)
    assert drawn == texts(pictures.speed())  # positions depend on the fonts of a machine


@pytest.mark.parametrize("name", sorted(pictures.PICTURES))
def test_a_page_shows_each_picture_and_says_what_it_shows(name: str) -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    alternatives = [
        alternative
        for page in pages
        for alternative in re.findall(
            rf"!\[([^\]]+)\]\((?:[\w./]+/)?{name}\)", page.read_text(encoding="utf-8")
        )
    ]
    assert alternatives
    assert min(map(len, alternatives)) >= 40
