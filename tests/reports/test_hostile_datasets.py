"""Reports of datasets that hold anything or nothing: a page of known elements and of texts."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from geolookup.reports.dataset.report import sections, title
from geolookup.reports.page import page
from tests.conftest import build_at
from tests.skips import needs
from tests.tiers import one_of_each

pytestmark = needs("jinja2", "vl_convert", "PIL")

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
    *("summary", "table", "caption", "thead", "tbody", "tr", "th", "td", "svg", "g", "path"),
    *("text", "rect", "line", "defs", "clippath", "lineargradient", "stop"),
}


#: Sections without a map, whose scripts other elements are for.
_PLAIN = ("summary", "coverage", "countries", "networks", "prefix-lengths", "sources", "licences",
          "files")  # fmt: skip


class _Page(HTMLParser):
    """The elements, links and texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements, self.attributes, self.links = set[str](), set[str](), set[str]()
        self.ids, self.texts = list[str](), list[str]()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links.update(value or "" for name, value in attrs if name == "href")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def _page(dataset: Path) -> _Page:
    shown = [each for each in sections(dataset) if each.anchor in _PLAIN]
    assert len(shown) == len(_PLAIN)
    return _Page(page(title(dataset), "", shown))


@pytest.mark.parametrize(
    "name", one_of_each(DATASETS, lambda name: name if name in ("hostile", "empty") else "hostile")
)
def test_a_page_has_the_elements_of_its_templates_and_texts(name: str, tmp_path: Path) -> None:
    rows, recipe = DATASETS[name]
    found = _page(build_at(tmp_path, {"a.csv": rows}, recipe)[0])
    assert found.elements <= ELEMENTS
    assert not {name for name in found.attributes if name.startswith("on")}
    assert all(each.startswith(("#", "https://")) for each in found.links)
    assert len(found.ids) == len(set(found.ids))
    controls = {*map(chr, range(32)), "\x7f", "\u2028", "\u2029"} - {"\n"}
    assert not controls & set("".join(found.texts))
    shown = {
        "hostile": [
            f"Report of {MARKUP}",
            LONG,  # whole in the attribution, which a licence demands
            f"{'W' * 119}…",
            "javascript:alert(1)",
        ],
        "empty": ["Nothing to show.", "unknown"],  # its age
    }
    assert set(shown.get(name, [])) <= set(found.texts)
    assert name != "hostile" or any("\\x1b[31m" in text for text in found.texts)
