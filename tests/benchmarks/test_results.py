"""What benchmarks compute of what they measured: ratios, tables, percentiles, equal answers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import geolookup
from benchmarks.data import cache
from benchmarks.first import command as first
from benchmarks.floor.steps import COPY, steps_of
from benchmarks.harness.measure import facts
from benchmarks.harness.ratios import Ratio
from benchmarks.inline import command as inline
from benchmarks.inline import texts
from benchmarks.peers.check import UnequalError
from benchmarks.report import command as report
from benchmarks.tables import addresses
from benchmarks.tables.answers import compare, digests
from benchmarks.tables.contenders import OWN
from benchmarks.tables.ratios import ratios
from benchmarks.target.command import percentiles
from geolookup.dataset.files import Dataset
from tests.benchmarks.conftest import COMPILER
from tests.datasets import SMALL


def test_verdicts_and_ratios_of_rounds() -> None:
    for value, wanted, least, verdict in (
        (2, 2, True, "met"), (1.9, 2, True, "missed"), (2, 2, False, "met"),
        (2.1, 2, False, "missed"), (2, None, False, "reported"),
    ):  # fmt: skip
        assert Ratio("", value, wanted, least).verdict == verdict
    rows = {
        first.JSON: {"first": [2.0, 4.0], "warm": [2.0, 2.0]},
        first.C_JSON: {"first": [20.0, 20.0], "warm": [1.0, 1.0]},
        first.RUST_JSON: {"first": [], "warm": [], "refused": "not installed"},
    }
    passes = list(first.ratios({"results": {"60": rows}}))
    assert [(each.value, each.verdict) for each in passes] == [(1.5, "met"), (7.5, "met")]
    names = f"{OWN}: IPv4, one field", "maxminddb-polars: IPv4, one field"
    rounds = dict(zip(names, ({"rounds": [50.0]}, {"rounds": [500.0]}), strict=True))
    for count, wanted in ((1_000_000, 8), (10_000_000, 11)):
        found = {each.text: each for each in ratios(rounds, {}, count)}
        assert found[f"{names[1]} / {names[0]}"].wanted == wanted


def test_addresses_and_percentiles_of_passes() -> None:
    made = first.distinct(cache.dataset("tiny"), 50)
    assert len(set(made)) == len(made) == 50
    found = percentiles([float(each) for each in range(1000)])
    assert found == {"p50": 500, "p95": 950, "p99": 990, "p99.9": 999, "p100": 999}


def test_inline_has_the_same_texts_and_a_table(tmp_path: Path) -> None:
    for name, (_, share) in texts.TEXTS.items():
        for path in (tmp_path / "a", tmp_path / "b"):
            texts.write(name, SMALL, 0.04, path)
        written = (tmp_path / "a").read_text()
        assert written == (tmp_path / "b").read_text()
        assert len(written.splitlines()) == 200
        assert 30_000 < len(written) < 50_000 or share == 1
    rows = {inline.ANNOTATE: [1.0, 1.0, 9.0], inline.SCRIPT: [10.0]}
    texts_of = {name: {"size": 200_000_000, "rows": rows} for name in texts.TEXTS}
    result = {"rounds": 3, "results": texts_of, "machine": facts(pinned=True)}
    table, found, _ = map(str, inline.lines(result))
    assert table.splitlines()[1].split()[-3:] == ["200"] * 3
    assert found.splitlines()[1].split()[-6:] == ["200.00", "MB/s", ">=", "150", "MB/s", "met"]
    assert "10.00x" in found


@pytest.mark.skipif(not shutil.which(COMPILER), reason="needs a C compiler")
def test_steps_of_the_floor_read_any_address(dataset: Path, tmp_path: Path) -> None:
    steps = steps_of(Dataset(dataset), 1000, tmp_path)
    steps(["0.0.0.1", "1.1.1.1", "255.255.255.255"], COPY)


def test_the_rows_of_a_map_are_distinct_addresses_of_a_week(dataset: Path, tmp_path: Path) -> None:
    report.write_rows(dataset, tmp_path / "rows.parquet", 300)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]
    rows = pq.read_table(tmp_path / "rows.parquet")
    assert len(rows["ip"].unique()) == len(rows) == 300
    instants = sorted(rows["time"].to_pylist())
    assert 6 < (instants[-1] - instants[0]).total_seconds() / 86_400 < 7
    with geolookup.open(dataset) as engine:
        assert (None,) not in engine.get_many(rows["ip"].to_pylist(), ["location.country_code"])


@pytest.mark.parametrize("family", [4, 6])
def test_addresses_of_tables_are_distinct_public_and_known(
    family: int, dataset: Path, tmp_path: Path
) -> None:
    paths = [tmp_path / name for name in "abc"]
    addresses.write(dataset, paths[:2], family, 500)
    addresses.write(dataset, paths[2:], family, 1_000)
    one, other, again = (pa.ipc.open_file(path).read_all() for path in paths)
    both = pa.concat_tables([one, other])
    assert both["ip"].to_pylist() == again["ip"].to_pylist()
    assert len(both["ip"].unique()) == 1_000
    with geolookup.open(dataset) as engine:
        found = engine.enrich(both, fields=["ip", "ip_type", "location.country_code"], prefix="x_")
    assert found["x_ip"].to_pylist() == both["ip"].to_pylist()
    assert found["x_ip_type"].unique().to_pylist() == [f"ipv{family}"]
    assert found["x_location_country_code"].null_count < 500


def test_answers_that_differ_are_not_timed() -> None:
    values = {"ip": ["8.8.8.8", "1.1.1.1"], "location.country_code": ["US", "AU"]}
    turned = {path: each[::-1] for path, each in values.items()}
    other = {**values, "location.country_code": ["US", "NZ"]}
    same = {"ours": digests(values), "theirs": digests(turned)}
    assert compare(same) == 2
    with pytest.raises(UnequalError, match=r"^third and ours differ in location.country_code$"):
        compare({**same, "third": digests(other)})
