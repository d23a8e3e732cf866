"""Reports of datasets that hold anything or nothing: a page of known elements and of texts."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from geolookup.dataset.files import Dataset
from tests.conftest import build_at

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

MARKUP = "</script><img src=x onerror=alert(1)><style>*{}</style>\"'&amp;{{7*7}}"
CONTROLS = "a\u0001\u001b[31m\u2028\u202eb"
LONG = "W" * 10_000
HEAD = "network,country_code,region_name,city_name,latitude,longitude,asn,asn_organization\n"
QUOTED = MARKUP.replace('"', '""')
ROWS = f"""8.8.8.0/24,US,"{QUOTED}","{QUOTED}",1,2,64500,"{QUOTED}"
8.8.9.0/24,DE,"{CONTROLS}","{CONTROLS}",,,64501,"{CONTROLS}"
2a00::/32,FR,,,,,64502,{LONG}
"""
#: JSON's texts are TOML's too.
SOURCES = "".join(
    f"""[[source]]
format = "csv"
path = "a.csv"
name = {json.dumps(text)}
licence = {json.dumps(text)}
attribution = {json.dumps(text)}
url = {json.dumps(url)}
"""
    for text, url in ((MARKUP, "javascript:alert(1)"), (CONTROLS, MARKUP), (LONG, "https://a.b/"))
)
RECIPE = f"[dataset]\nname = {json.dumps(MARKUP)}\n{SOURCES}"
DATASETS = {
    "hostile": (HEAD + ROWS, RECIPE),
    "empty": (HEAD, None),
    "ipv4": (HEAD + "8.8.8.0/24,US,,,,,,\n", None),
    "ipv6": (HEAD + "2a00::1/128,FR,,Paris,,,1,\n", None),
    "no-place": (HEAD + "8.8.8.0/24,,,,,,1,One\n", None),
}
#: Elements of a page, and those of drawings.
ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "nav", "section", "div"),
    *("h1", "h2", "p", "a", "ul", "li", "dl", "dt", "dd", "figure", "figcaption", "details"),
    *(
        "summary",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "svg",
        "g",
        "path",
        "text",
    ),
    *("rect", "line", "defs", "clippath", "lineargradient", "stop"),
}


class _Page(HTMLParser):
    """The elements, links and texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.links: set[str] = set()
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links.update(value or "" for name, value in attrs if name == "href")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def _page(dataset: Path) -> _Page:
    from geolookup.reports.dataset.countries import countries_section
    from geolookup.reports.dataset.coverage import coverage_section
    from geolookup.reports.dataset.facts import read_facts
    from geolookup.reports.dataset.files import files_section
    from geolookup.reports.dataset.networks import networks_section
    from geolookup.reports.dataset.prefix_lengths import prefix_lengths_section
    from geolookup.reports.dataset.report import title
    from geolookup.reports.dataset.sources import sources_section
    from geolookup.reports.dataset.summary import summary_section
    from geolookup.reports.licences_section import licences_section
    from geolookup.reports.page import page

    facts = read_facts(Dataset(dataset))
    made = [summary_section, coverage_section, countries_section, networks_section]
    made += [prefix_lengths_section, sources_section]
    sections = [each(facts) for each in made]
    sections += [licences_section(facts.metadata), files_section(dataset)]
    return _Page(page(title(dataset), "", sections))


#: The fast tier has the extremes.
_FAST = ("hostile", "empty")
_PARAMS = [pytest.param(name, marks=() if name in _FAST else pytest.mark.long) for name in DATASETS]


@pytest.fixture(scope="module", params=_PARAMS)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> _Page:
    rows, recipe = DATASETS[request.param]
    return _page(build_at(tmp_path_factory.mktemp("hostile"), {"a.csv": rows}, recipe)[0])


def test_a_page_has_the_elements_of_its_templates_alone(found: _Page) -> None:
    assert found.elements <= ELEMENTS
    assert not {name for name in found.attributes if name.startswith("on")}
    assert all(each.startswith(("#", "https://")) for each in found.links)
    assert len(found.ids) == len(set(found.ids))


def test_texts_have_no_control_characters_and_end(found: _Page) -> None:
    controls = {*map(chr, range(32)), "\x7f", "\u2028", "\u2029"} - {"\n"}
    assert not controls & set("".join(found.texts))


@pytest.mark.parametrize("found", ["hostile"], indirect=True)
def test_hostile_texts_are_shown_as_they_are(found: _Page) -> None:
    assert f"Report of {MARKUP}" in found.texts
    assert LONG in found.texts  # whole in the attribution, which a licence demands
    assert f"{'W' * 119}…" in found.texts
    assert "javascript:alert(1)" in found.texts
    assert any("\\x1b[31m" in text for text in found.texts)


@pytest.mark.parametrize("found", ["empty"], indirect=True)
def test_an_empty_dataset_says_so(found: _Page) -> None:
    assert "Nothing to show." in found.texts
    assert "unknown" in found.texts  # its age
