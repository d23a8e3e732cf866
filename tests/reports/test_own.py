"""The report of a dataset with own columns: their coverage, their sources and their shares."""

from __future__ import annotations

from tests.internals.dataset import Dataset
from tests.internals.reports import coverage_section, read_facts, sources_section
from tests.own_sources import own_dataset


def test_own_columns_are_in_coverage_and_provenance() -> None:
    facts = read_facts(Dataset(own_dataset()))
    coverage, sources = coverage_section(facts), sources_section(facts)
    nulls, *_ = coverage.values["tables"]
    # Of 3,702,258,689 public addresses, 16,777,216 have a share.
    assert ("own.share", "99.55 %", "100.00 %") in nulls.rows
    ipv4 = next(c for c in sources.values["charts"] if c.name == "provenance-ipv4")
    shares = {row[0]: dict(zip(ipv4.head[1:], row[1:], strict=True)) for row in ipv4.rows}
    # Of the 22,086,144 addresses that have a site, in private space too.
    assert shares["own.site_id"]["1. sites.csv"] == "99.70 %"
    assert shares["own.site_id"]["2. threats.jsonl"] == "0.30 %"
    assert shares["own.share"]["3. places.csv"] == "99.61 %"
