"""Scores of own columns are what comparing each address with the rows of the truth gives."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.comparison.scoring.text import lines
from geolookup.errors import BuildError, DiffError
from tests import own_random
from tests.own_random import CELLS, Address, Row, expected
from tests.own_sources import own_dataset
from tests.tiers import scaled

COLUMNS = [name for name in CELLS if name.startswith("own.")]
_EVERY = list(own_random.addresses())


@settings(max_examples=scaled(2, 40), deadline=None, suppress_health_check=list(HealthCheck))
@given(own_random.rows, own_random.rows, st.lists(st.sampled_from(_EVERY), unique=True))
def test_shares_are_those_of_each_address(
    rows: list[Row], truth: list[Row], listed: list[Address]
) -> None:
    with TemporaryDirectory() as folder:
        dataset = own_random.build(Path(folder), rows)
        ranges, table = Path(folder, "ranges.csv"), Path(folder, "addresses.csv")
        ranges.write_text(own_random.as_csv(truth), encoding="utf-8")
        _write_addresses(table, truth, listed)
        for path, addresses in ((ranges, _EVERY), (table, listed)):
            wanted = _shares(rows, truth, addresses)
            if not wanted and not _has_places(truth, addresses):
                with pytest.raises(DiffError, match="no row states"):
                    geolookup.score(dataset, truth=path)
                continue
            parts = geolookup.score(dataset, truth=path).datasets[0].parts
            actual = {
                (part, name): share
                for part in ("ipv4", "ipv6")
                for name, share in parts[part].metrics.items()
                if name.startswith("own.")
            }
            assert actual == pytest.approx(wanted)


def _write_addresses(path: Path, truth: Sequence[Row], listed: Sequence[Address]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["ip", "country", *COLUMNS])
        for address in listed:
            known = expected(truth, address)
            cells = [known.get("country_code"), *(known.get(name) for name in COLUMNS)]
            writer.writerow([address, *map(_cell, cells)])


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "; ".join(value) if isinstance(value, list) else "" if value is None else str(value)


def _has_places(truth: Sequence[Row], addresses: Sequence[Address]) -> bool:
    return any("country_code" in expected(truth, address) for address in addresses)


def _shares(
    rows: Sequence[Row], truth: Sequence[Row], addresses: Sequence[Address]
) -> dict[tuple[str, str], float]:
    shares = {}
    for family in (4, 6):
        for name in COLUMNS:
            kinds: Counter[str] = Counter()
            for address in (one for one in addresses if one.version == family):
                value, answer = (expected(side, address).get(name) for side in (truth, rows))
                if value is not None:
                    kinds[
                        "agree" if value == answer else "null" if answer is None else "wrong"
                    ] += 1
            for kind in ("agree", "wrong", "null"):
                if total := kinds.total():
                    shares[f"ipv{family}", f"{name}_{kind}"] = kinds[kind] / total
    return shares


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
