"""The report and the explanation of numbers that take a name of a source below.

The names themselves: the examples of tests/property/test_resolution.
"""

from __future__ import annotations

from pathlib import Path

import geolookup
from tests.builder.building import recipe
from tests.conftest import build_at

HEADER = "network,asn,asn_organization\n"


def test_the_report_and_the_explanation(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "own.csv": f"{HEADER}8.8.8.0/24,AS64500,\n8.8.9.0/24,64501,\n8.8.10.0/24,64502,Ours\n",
        "below.csv": f"{HEADER}9.0.0.0/8,64500,First\n10.0.0.0/8,64501,Private\n",
    }
    text = recipe(*(f'path = "{name}"' for name in files))
    dataset, report = build_at(tmp_path, files, text)
    assert report.as_names == 2
    assert "asn_organization: 2 numbers named by the sources below" in [*report.lines()]
    with geolookup.open(dataset) as engine:
        explained = engine.explain("8.8.8.1")["layers"]["asn"]
    named = explained["source"], explained["values"]["asn_organization"]
    assert named == ("own.csv", "First")
