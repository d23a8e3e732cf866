"""Pages that tests open in a browser, each made once, and what a reader finds on their maps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import geolookup
from tests.cli.program import run
from tests.conftest import build_at
from tests.datasets import SMALL


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


BUNDLED = Path(geolookup.__file__).parent / "world"
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
#: A line of a log whose request is hostile.
_LINE = '{} - - [20/Nov/2026:{:02}:30:00 +0000] "GET /<script>alert(1)</script> HTTP/1.1" 200 1'
_ADDRESSES = ("8.8.8.8", "1.1.1.1", "2620:fe::fe", "9.9.9.9", "10.0.0.1", "</script>", "5.1.1.1")


def _made(folder: Path, *command: str) -> Path:
    output = folder / "page.html"
    done = run(*command, "--output", str(output))
    assert done.returncode == 0, done.stderr
    return output


def _report(*options: object) -> Callable[[Path], Path]:
    return lambda folder: _made(folder, "report", *map(str, options))


def _of(name: str) -> Callable[[Path], Path]:
    rows, recipe = DATASETS[name]
    return lambda folder: _made(folder, "report", str(build_at(folder, {"a.csv": rows}, recipe)[0]))


def _truth(folder: Path) -> Path:
    feed = folder / "<b>feed.csv"
    feed.write_text("8.8.8.0/24,DE,,<script>alert(1)</script>,\n2a00::/16,FR,,Paris,\n", "utf-8")
    return _made(folder, "report", str(SMALL), "--truth", str(feed))


def _map(folder: Path) -> Path:
    lines = [_LINE.format(address, hour) for hour in range(24) for address in _ADDRESSES]
    log = folder / "<b>access.log"
    log.write_text("\n".join(lines), encoding="utf-8")
    return _made(folder, "map", str(log), "--min-count", "2", "--dataset", str(BUNDLED))


def _map_of_nothing(folder: Path) -> Path:
    (folder / "ips.txt").write_text("10.0.0.1\nnone\n", encoding="utf-8")
    return _made(folder, "map", str(folder / "ips.txt"))


#: What makes each page, in an empty folder.
PAGES: dict[str, Callable[[Path], Path]] = {
    "bundled": _report(BUNDLED),
    "small": _report(SMALL),
    "hostile": _of("hostile"),
    "empty": _of("empty"),
    "against": _report(SMALL, "--against", BUNDLED),
    "truth": _truth,
    "map": _map,
    "map-of-nothing": _map_of_nothing,
}
