"""Scores of own columns: their shares, gates, and several files of truth."""

from __future__ import annotations

from pathlib import Path

import pytest

import geolookup
from geolookup.comparison.scoring.text import lines
from geolookup.errors import BuildError, DiffError
from tests.own_sources import own_dataset


def test_gates_lines_and_several_files(tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("network,own.site_id\n10.0.0.0/16,HQ\n", encoding="utf-8")
    second.write_text("network,site_id,risk_score\n10.0.0.0/15,Lab,5\n", encoding="utf-8")
    result = geolookup.score(
        own_dataset(), truth=[first, second], fail_if=["own.site_id_agree < 60%"]
    )
    metrics = result.datasets[0].parts["ipv4"].metrics
    # 10.0.0.0/16 is HQ; 10.1.0.0/16 is Branch, where only the second file states a site.
    assert (metrics["own.site_id_agree"], metrics["own.site_id_wrong"]) == (0.5, 0.5)
    # The column is not private: of private addresses it is not asked.
    assert "own.risk_score_agree" not in metrics
    assert [verdict.gate for verdict in result.failed] == ["own.site_id_agree < 60%"]
    assert "  own.site_id agree  50.00 %" in lines(result)
    other = tmp_path / "other.csv"
    other.write_text("network,own.place\n8.8.8.0/24,HQ\n", encoding="utf-8")
    with pytest.raises(BuildError):  # no dataset has the column
        geolookup.score(own_dataset(), truth=other, truth_format="csv")
    for gate, error in (
        ("own.site_agree < 1", "no metric 'own.site_agree'"),
        ("own.share_agree < 1", "nothing to measure"),
    ):
        with pytest.raises(DiffError, match=error):
            geolookup.score(own_dataset(), truth=first, fail_if=[gate])
