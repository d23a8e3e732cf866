"""The report of a dataset with own columns: their coverage, their sources and their shares."""

from __future__ import annotations

from tests.internals.dataset import Dataset
from tests.internals.reports import coverage_section, read_facts, sources_section
from tests.own_sources import own_dataset


def test_own_columns_are_in_coverage_and_provenance() -> None:
    facts = read_facts(Dataset(own_dataset()))
    coverage, sources = coverage_section(facts), sources_section(facts)
    _, ipv4, _ = coverage.values["charts"]
    # Of 3,702,258,689 public addresses, 16,777,216 have a share.
    assert ("own.share", "99.55 %") in ipv4.rows
    assert "Special-purpose space does not count" in coverage.values["note"]
    (decides,) = sources.values["tables"]
    rows = {row[:2]: row[2:4] for row in decides.rows}
    # Private columns: of the 22,086,144 addresses that have a site, in private space too.
    assert rows["1. sites.csv", "own.site_id"] == ("22,020,608", "99.70 %")
    assert rows["2. threats.jsonl", "own.site_id"] == ("65,536", "0.30 %")
    # Others: of all public addresses.
    assert rows["3. places.csv", "own.share"] == ("16,711,680", "0.45 %")
    assert "Private own columns are known in special-purpose space too" in sources.values["note"]
