"""Figures on pages are the published ones; the coverage that pages state is the dataset's."""

from __future__ import annotations

import datetime as dt
import re

import geolookup
from benchmarks import figures
from tests.conftest import ROOT
from tests.docs.blocks import unwrapped
from tests.internals.dataset import known_addresses


def test_pages_show_the_published_figures() -> None:
    for path, text in figures.pages():
        message = f"{path}: python -m benchmarks.figures --write"
        assert path.read_text(encoding="utf-8") == text, message


def test_the_coverage_that_the_readme_and_the_home_page_state() -> None:
    """Of the bundled dataset; the table has the rows of its own page."""
    readme = unwrapped((ROOT / "README.md").read_text(encoding="utf-8"))
    folder = ROOT / "geolookup" / "world"
    size = sum(path.stat().st_size for path in folder.iterdir())
    month = dt.date.fromisoformat(str(geolookup.open(folder).metadata.age.date))
    assert f"of the whole address space, {size / 1e6:.0f} MB, of {month:%B %Y}." in readme
    stated = dict(re.findall(r"^\| ([^|]+) \| (\d+\.\d\d%) \|$", readme, re.MULTILINE))
    samples = (ROOT / "sample_data" / "README.md").read_text(encoding="utf-8")
    known = samples.partition("| known |")[2].partition("\n\n")[0]
    assert stated == dict(re.findall(r"^\| ([^|-]+) \| ([\d.]+%) \|", known, re.MULTILINE))
    ipv4 = known_addresses(folder)["ipv4"]
    country = ipv4.share("location.country_code")
    assert stated["country"] == f"{country:.2%}"
    assert stated["AS"] == f"{ipv4.share('network.asn'):.2%}"
    assert "The currency follows from the country." in readme
    assert stated["country"] == f"{ipv4.share('currency.code'):.2%}"
    home = unwrapped((ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    assert f"**{int(100 * country)} %** of the public IPv4 addresses" in home
    local_time, city = (float(stated[name][:-1]) for name in ("time zone", "city"))
    assert f"{local_time:.0f} % a local time, {city:.1f} % a city" in home
    agreement = re.search(r"GeoLite2 Country, \S+ \| [\d,]+ addresses \| ([\d.]+)%", samples)
    assert agreement
    assert (
        f"{float(agreement[1]):.0f}% of the addresses the country [is that of GeoLite2]" in readme
    )
