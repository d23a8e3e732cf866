"""Pages that tests open in a browser, each made once, and what a reader finds on their maps."""

from __future__ import annotations

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
_LONG = "x" * 10_000
_NAMES = (
    "</script><script>alert(1)</script>",
    "<img src=https://example.net/x.png onerror=alert(1)>",
    "\u202egnp.exe \u2066\u200f",
    "{{ 7 * 7 }} {% raw %} \u2028",
    "'\"` & <!-- -->",
    _LONG,
    "很长的名字" * 50,
)
_RECIPE = """
[dataset]
name = "<b>hostile</b>"
[[source]]
format = "csv"
path = "rows.csv"
name = "</title><script>alert(1)</script>"
licence = '"><style>*{display:none}</style>'
attribution = "<script>alert(1)</script>"
url = "javascript:alert(1)"
"""
#: A line of a log whose request is hostile.
_LINE = '{} - - [20/Nov/2026:{:02}:30:00 +0000] "GET /<script>alert(1)</script> HTTP/1.1" 200 1'
_ADDRESSES = (
    *("8.8.8.8", "1.1.1.1", "2620:fe::fe", "9.9.9.9", "10.0.0.1", "</script>", "193.0.6.139"),
)


def _made(folder: Path, *command: str) -> Path:
    output = folder / "page.html"
    done = run(*command, "--output", str(output))
    assert done.returncode == 0, done.stderr
    return output


def _bundled(folder: Path) -> Path:
    return _made(folder, "report", str(BUNDLED))


def _hostile(folder: Path) -> Path:
    head = "network,country_code,region_name,city_name,latitude,longitude,asn,asn_organization\n"
    rows = [
        f"{at + 20}.0.0.0/9,{code},{cell},{cell},{10 * at},{-20 * at},{64496 + at},{cell}\n"
        for at, (code, name) in enumerate(zip(("US", "DE", "JP", "BR"), _NAMES[:4], strict=True))
        for cell in ['"' + name.replace('"', '""') + '"']
    ]
    rows += [
        f'2a0{at}::/24,FR,"{cell}","{cell}",,,{64510 + at},"{cell}"\n'
        for at, cell in enumerate(item.replace('"', '""') for item in _NAMES[4:])
    ]
    dataset, _ = build_at(folder, {"rows.csv": head + "".join(rows)}, _RECIPE)
    return _made(folder, "report", str(dataset))


def _of(rows: str) -> Callable[[Path], Path]:
    return lambda folder: _made(folder, "report", str(build_at(folder, {"rows.csv": rows})[0]))


def _against(folder: Path) -> Path:
    return _made(folder, "report", str(SMALL), "--against", str(BUNDLED))


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
    "bundled": _bundled,
    "hostile": _hostile,
    "empty": _of("network,country_code\n"),
    "against": _against,
    "truth": _truth,
    "map": _map,
    "map-of-nothing": _map_of_nothing,
}
