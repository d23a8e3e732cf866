"""Every link of the site leads somewhere: to a page and its anchor, or to a file of the project."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest

import geolookup
from tests.cli.command_tree import tree
from tests.conftest import ROOT
from tests.skips import needs
from tests.test_packaging import HOME, KINDS

pytestmark = [pytest.mark.long, needs("sphinx", "furo")]


class _Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        actual = {name: value or "" for name, value in attrs}
        self.anchors.add(actual.get("id", ""))
        if tag == "a" and "href" in actual:
            self.links.append(actual["href"])


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path) for path in sorted(site.rglob("*.html"))}


def test_links_inside_lead_to_pages_and_anchors(pages: dict[Path, _Page]) -> None:
    checked = 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path.name}: {link}"
            if parts.fragment and target in pages:
                anchor = unquote(parts.fragment)
                assert anchor in pages[target].anchors, f"{path.name}: {link}"
                checked += 1
    assert checked > 300


def test_links_to_the_project_lead_to_its_files(pages: dict[Path, _Page]) -> None:
    links = {link for page in pages.values() for link in page.links if link.startswith(f"{HOME}/")}
    for link in links:
        match = re.fullmatch(r"/(\w+)/main/([^#]+)(#.*)?", link.removeprefix(HOME))
        if match is not None:
            assert KINDS[match[1]](ROOT / match[2]), link
    assert any("/recipes/world.toml" in link for link in links)


def test_the_reference_has_every_public_name(pages: dict[Path, _Page]) -> None:
    anchors = set().union(*(page.anchors for page in pages.values()))
    names = set(geolookup.__all__) - {"__version__"}
    methods = {f"Engine.{name}" for name in dir(geolookup.Engine) if not name.startswith("_")}
    missing = [
        name
        for name in sorted(names | methods)
        if not {f"geolookup.{name}", f"geolookup.errors.{name}", f"module-geolookup.{name}"}
        & anchors
    ]
    assert not missing


def test_the_reference_has_every_command_and_option(site: Path, pages: dict[Path, _Page]) -> None:
    for name, command in tree():
        page = site / "reference" / "commands.html"
        assert name.replace(" ", "-") in pages[page].anchors or not command.example, name
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                for text in (*option.opts, *option.secondary_opts):
                    anchor = f"cmdoption-geolookup-{name.replace(' ', '-')}-{text.strip('-')}"
                    assert anchor in pages[page].anchors, anchor
