"""A number of an autonomous system without a name takes the name that a source below gives it."""

from __future__ import annotations

from pathlib import Path

import geolookup
from tests.conftest import build_at
from tests.property.test_spilled import tiny_memory

OWN = """network,asn,asn_organization
8.8.8.0/24,AS64500,
8.8.9.0/24,64501,
8.8.10.0/24,64502,Ours
8.8.11.0/24,64503,
8.8.12.0/24,,
"""
#: Rows inside private space, and rows that lose to more specific ones, name numbers too.
BELOW = """network,asn,asn_organization
9.0.0.0/8,64500,First
9.1.0.0/16,64500,Second
10.0.0.0/8,64501,Private
9.2.0.0/16,64502,Theirs
9.3.0.0/16,64503,
"""
LAST = "network,asn,asn_organization\n11.0.0.0/8,64500,Last\n11.1.0.0/16,64503,Late\n"
NAMES = {
    "8.8.8.1": (64500, "First"),  # the first source below, its first row
    "8.8.9.1": (64501, "Private"),
    "8.8.10.1": (64502, "Ours"),
    "8.8.11.1": (64503, "Late"),  # of the second source below
    "8.8.12.1": (None, None),
    "9.3.0.1": (64503, "Late"),
    "9.1.0.1": (64500, "Second"),
}
RECIPE = '[dataset]\nname = "names"\n' + "".join(
    f'[[source]]\nformat = "csv"\npath = "{name}.csv"\n{keys}'
    for name, keys in (("own", ""), ("below", ""), ("last", ""))
)
FILES: dict[str, str | bytes] = {"own.csv": OWN, "below.csv": BELOW, "last.csv": LAST}


def names(dataset: Path) -> dict[str, tuple[int | None, str | None]]:
    with geolookup.open(dataset) as engine:
        return {ip: engine.get(ip, "asn", "asn_organization") for ip in NAMES}


def test_the_first_source_below_names_a_number(tmp_path: Path) -> None:
    dataset, report = build_at(tmp_path, FILES, RECIPE)
    assert names(dataset) == NAMES
    assert report.as_names == 3
    assert "asn_organization: 3 numbers named by the sources below" in [*report.lines()]
    with geolookup.open(dataset) as engine:
        explained = engine.explain("8.8.8.1")["layers"]["asn"]
        assert (explained["source"], explained["values"]["asn_organization"]) == (
            "own.csv",
            "First",
        )
    with tiny_memory():
        in_files, _ = build_at(tmp_path, FILES, RECIPE)
    assert names(in_files) == NAMES


def test_a_source_names_none_of_its_own_rows(tmp_path: Path) -> None:
    rows = "network,asn,asn_organization\n8.8.8.0/24,64500,A\n8.8.9.0/24,64500,\n"
    dataset, report = build_at(tmp_path, {"a.csv": rows})
    with geolookup.open(dataset) as engine:
        assert engine.get("8.8.9.1", "asn_organization") is None
    assert report.as_names == 0
    assert not any("named" in line for line in report.lines())
