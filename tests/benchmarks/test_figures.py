"""Figures on pages are the published ones; the coverage that pages state is the dataset's."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks import figures
from tests.conftest import ROOT
from tests.docs.blocks import unwrapped
from tests.internals.contract import special
from tests.internals.dataset import layout as fmt


def test_pages_show_the_published_figures() -> None:
    for path, text in figures.pages():
        message = f"{path}: python -m benchmarks.figures --write"
        assert path.read_text(encoding="utf-8") == text, message


def test_the_coverage_that_the_readme_and_the_home_page_state() -> None:
    """Of the bundled dataset, from its files; the table has the rows of its own page."""
    readme = unwrapped((ROOT / "README.md").read_text(encoding="utf-8"))
    folder = ROOT / "geolookup" / "world"
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert f"of the whole address space, {size / 1e6:.0f} MB." in readme
    stated = dict(re.findall(r"^\| ([^|]+) \| (\d+\.\d\d%) \|$", readme, re.MULTILINE))
    samples = (ROOT / "sample_data" / "README.md").read_text(encoding="utf-8")
    known = samples.partition("| known |")[2].partition("\n\n")[0]
    assert stated == dict(re.findall(r"^\| ([^|-]+) \| ([\d.]+%) \|", known, re.MULTILINE))
    shares = _shares(folder)
    assert stated["country"] == f"{shares['country_code']:.2%}"
    assert stated["AS"] == f"{shares['asn']:.2%}"
    assert "The currency follows from the country." in readme
    assert stated["country"] == f"{shares['currency_code']:.2%}"
    home = unwrapped((ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    assert f"**{int(100 * shares['country_code'])} %** of the public IPv4 addresses" in home
    assert f"{float(stated['city'][:-1]):.1f} % have a city" in home


def _shares(folder: Path) -> dict[str, float]:
    """Return the shares of the public IPv4 addresses with a value, interval by interval."""
    files = (fmt.IPV4, fmt.LOCATION, fmt.COUNTRY, fmt.NETWORK)
    tables = {name: pa.ipc.open_file(str(folder / name)).read_all() for name in files}
    rows = tables[fmt.IPV4]
    starts = np.append(rows["start"].to_numpy().astype(np.int64), 1 << 32)
    country = tables[fmt.LOCATION]["country"].to_numpy()[rows["location"].to_numpy()]
    known = {
        "country_code": tables[fmt.COUNTRY]["country_code"].is_valid().to_numpy()[country],
        "currency_code": tables[fmt.COUNTRY]["currency_code"].is_valid().to_numpy()[country],
        "asn": tables[fmt.NETWORK]["asn"].is_valid().to_numpy()[rows["network"].to_numpy()],
    }
    public = [(a, b + 1) for a, b, kind in special.partition(4) if kind == special.PUBLIC]
    return {
        name: sum(_sum(starts, item, a, b) for a, b in public) / sum(b - a for a, b in public)
        for name, item in known.items()
    }


def _sum(starts: NDArray[np.int64], known: NDArray[np.bool_], begin: int, end: int) -> int:
    """Return how many addresses of [begin, end) lie in known intervals."""
    lengths = np.minimum(starts[1:], end) - np.maximum(starts[:-1], begin)
    return int(lengths[known & (lengths > 0)].sum())
