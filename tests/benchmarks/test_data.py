"""Data of benchmarks, and their results: ratios, shares, bars."""

from __future__ import annotations

import ipaddress
import math
import shutil
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from geolookup_builder.compile import compile_dataset
from geolookup_builder.overlaid_sources import Options
from hypothesis import given
from hypothesis import strategies as st

import geolookup
from benchmarks.build import writer
from benchmarks.data import cache, changed, generate, geolite
from benchmarks.data.shape import SCALES, of_rows
from benchmarks.first import command as first
from benchmarks.floor.steps import COPY, steps_of
from benchmarks.harness import workload
from benchmarks.harness.measure import facts
from benchmarks.harness.plots import chart, draw
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Cell, Number, Table
from benchmarks.inline import command as inline
from benchmarks.inline import texts
from benchmarks.peers import check
from benchmarks.peers.check import UnequalError
from benchmarks.report import command as report
from benchmarks.tables import addresses
from benchmarks.tables.answers import compare, digests
from benchmarks.tables.contenders import OWN
from benchmarks.tables.ratios import ratios
from benchmarks.target.command import percentiles
from geolookup.dataset.files import Dataset
from geolookup.progress import Progress
from tests.benchmarks.conftest import COMPILER, Run
from tests.datasets import SMALL
from tests.skips import needs


def test_generated_rows_are_disjoint_and_a_seed_gives_the_same(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        (tmp_path / name).mkdir()
        generate.write(tmp_path / name, SCALES["tiny"], seed)
    one, again, other = (
        (tmp_path / name / generate.CSV).read_bytes() for name in ("one", "again", "other")
    )
    assert one == again
    assert one != other
    made = generate.write(tmp_path, of_rows(3000), seed=3)
    lines = (tmp_path / generate.CSV).read_text(encoding="utf-8").splitlines()[1:]
    networks = [ipaddress.ip_network(line.partition(",")[0]) for line in lines]
    spans = [(network.version, int(network[0]), int(network[-1])) for network in networks]
    assert made.rows == len(lines) == 3000
    assert all(
        (version, last) < (after, first)
        for (version, _, last), (after, first, _) in pairwise(spans)
    )
    assert all(network.is_global for network in networks)


def test_the_cache_has_what_is_promised_and_makes_it_once(dataset: Path) -> None:
    shape = SCALES["tiny"]
    with geolookup.open(dataset) as engine:
        counts = engine.metadata.counts
    assert counts["ipv4_intervals"] == shape.ipv4
    assert counts["ipv6_intervals"] == shape.ipv6
    assert counts["locations"] == shape.locations
    assert counts["networks"] == shape.networks
    before = (dataset / "manifest.json").stat()
    assert cache.dataset("tiny") == dataset
    assert (dataset / "manifest.json").stat().st_ino == before.st_ino
    old = dataset.parent.with_name("dataset-tiny-9-0123456789ab")
    old.mkdir()
    assert cache.dataset("tiny", seed=9).is_dir()
    assert not old.exists()
    assert dataset.is_dir()


@pytest.mark.parametrize("family", [4, 6])
def test_workload_is_public_and_hits_or_misses(dataset: Path, family: int) -> None:
    intervals, distinct = workload.read(dataset, family), {}
    for distribution, hit in product(workload.DISTRIBUTIONS, (True, False)):
        made = workload.addresses(intervals, distribution, 500, hit=hit)
        assert made == workload.addresses(intervals, distribution, 500, hit=hit)
        assert {ipaddress.ip_address(item).version for item in made} == {family}
        with geolookup.open(dataset) as engine:
            actual = [engine.data(item)["location"]["country_code"] for item in made]
        assert {country is not None for country in actual} == {hit}, distribution
        distinct[distribution, hit] = len(set(made))
    # In the large intervals of IPv6 no address is drawn twice.
    assert family == 6 or distinct["zipf", True] < distinct["uniform", True]


def test_greater_exponent_repeats_more() -> None:
    rng = np.random.default_rng
    distinct = [
        len(np.unique(workload.DISTRIBUTIONS["zipf"](rng(1), 10_000, 5_000, exponent)))
        for exponent in (0.5, 0.9, 1.0, 1.1, 2.0)
    ]
    assert distinct == sorted(distinct, reverse=True)


def test_generate_and_geolite_rows(tmp_path: Path, run: Run) -> None:
    printed = run("generate", str(tmp_path / "new"), "--rows", "1000")
    assert printed.startswith("1,000 rows, ")
    assert (tmp_path / "new" / generate.RECIPE).is_file()
    size = geolite.of_rows(9000)
    recipe = geolite.write(tmp_path, size, seed=3)
    assert size.rows == 9000
    report = compile_dataset(recipe, tmp_path / "dataset", Options(), Progress())
    assert sum(source.read for source in report.sources) == 9000
    assert sum(source.rejected.total() for source in report.sources) == 0
    assert sum(source.nulled.total() for source in report.sources) == 0
    assert report.counts["locations"] == size.locations
    assert report.counts["networks"] == size.systems
    assert all(known["ipv4"] and known["ipv6"] for known in list(report.coverage.values())[:2])


def test_the_next_release_differs_in_a_share_of_its_rows(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "next", "again")]
    for folder in folders:
        folder.mkdir()
    recipe = generate.write(folders[0], SCALES["tiny"]).recipe
    for folder in folders[1:]:
        changed.write(recipe, folder, 0.02)
    one, following, again = (
        [row.replace('"', "") for row in (folder / generate.CSV).read_text("utf-8").splitlines()]
        for folder in folders
    )
    assert following == again
    assert len(one) == len(following)
    different = [new for old, new in zip(one, following, strict=True) if old != new]
    wanted = (len(one) - 1) * 0.02
    assert 0.9 * wanted <= len(different) <= wanted + 1  # drawn rows may have equal locations
    assert sum(",N1-" in row for row in different) == wanted // 10


@needs("mmdb_writer", "maxminddb", "netaddr")
def test_mmdb_of_the_rows_says_what_the_dataset_says(tmp_path: Path) -> None:
    recipe = geolite.write(tmp_path, geolite.of_rows(3000))
    compile_dataset(recipe, tmp_path / "dataset", Options(), Progress())
    assert writer.write_city(tmp_path, tmp_path / "rows.mmdb") == 2659
    intervals = workload.read(tmp_path / "dataset", 4)
    made = workload.addresses(intervals, "uniform", 500, hit=True)
    check.check(tmp_path / "dataset", tmp_path / "rows.mmdb", made)


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
    assert [(run.value, run.verdict) for run in passes] == [(1.5, "met"), (7.5, "met")]
    names = f"{OWN}: IPv4, one field", "maxminddb-polars: IPv4, one field"
    rounds = dict(zip(names, ({"rounds": [50.0]}, {"rounds": [500.0]}), strict=True))
    for count, wanted in ((1_000_000, 8), (10_000_000, 11)):
        actual = {ratio.text: ratio for ratio in ratios(rounds, {}, count)}
        assert actual[f"{names[1]} / {names[0]}"].goal == wanted


def test_addresses_and_percentiles_of_passes() -> None:
    made = first.distinct(cache.dataset("tiny"), 50)
    assert len(set(made)) == len(made) == 50
    result = percentiles([float(index) for index in range(1000)])
    assert result == {"p50": 500, "p95": 950, "p99": 990, "p99.9": 999, "p100": 999}


def test_inline_has_the_same_texts_and_a_table(tmp_path: Path) -> None:
    for name, (_, share) in texts.TEXTS.items():
        for path in (tmp_path / "a", tmp_path / "b"):
            texts.write(name, SMALL, 0.04, path)
        written = (tmp_path / "a").read_text(encoding="utf-8")
        assert written == (tmp_path / "b").read_text(encoding="utf-8")
        assert len(written.splitlines()) == 200
        assert 30_000 < len(written) < 50_000 or share == 1
    rows = {inline.ANNOTATE: [1.0, 1.0, 9.0], inline.SCRIPT: [10.0]}
    texts_of = {name: {"size": 200_000_000, "rows": rows} for name in texts.TEXTS}
    result = {"rounds": 3, "results": texts_of, "machine": facts(pinned=True)}
    table, actual, _ = map(str, inline.lines(result))
    assert table.splitlines()[1].split()[-3:] == ["200"] * 3
    assert actual.splitlines()[1].split()[-6:] == ["200.00", "MB/s", ">=", "150", "MB/s", "met"]
    assert "10.00x" in actual


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
        table = engine.enrich(both, ["ip", "ip_type", "location.country_code"], prefix="x_")
    assert table["x_ip"].to_pylist() == both["ip"].to_pylist()
    assert table["x_ip_type"].unique().to_pylist() == [f"ipv{family}"]
    assert table["x_location_country_code"].null_count < 500


def test_answers_that_differ_are_not_timed() -> None:
    values = {"ip": ["8.8.8.8", "1.1.1.1"], "location.country_code": ["US", "AU"]}
    turned = {path: item[::-1] for path, item in values.items()}
    other = {**values, "location.country_code": ["US", "NZ"]}
    same = {"ours": digests(values), "theirs": digests(turned)}
    assert compare(same) == 2
    with pytest.raises(UnequalError, match=r"^third and ours differ in location.country_code$"):
        compare({**same, "third": digests(other)})


def bars(table: Table) -> list[dict[str, Any]]:
    """Return the bars of a chart, with the width in px that the scale gives each."""
    actual = []
    for line in chart(table).spec["vconcat"]:
        for panel in line["hconcat"]:
            scale = panel["layer"][0]["encoding"]["x"]["scale"]
            at = math.log if scale["type"] == "log" else float
            least, most = map(at, scale["domain"])
            for bar in panel["data"]["values"]:
                width = (at(bar["end"]) - least) / (most - least) * scale["range"][1]
                actual.append({**bar, "px": width, "log": scale["type"] == "log"})
    return actual


amounts = st.just(0.0) | st.floats(1e-6, 1e9)
cells = st.one_of(
    st.builds(Number, amounts, st.just(",.2f"), st.sampled_from(["", " MB", "x"])),
    st.just("-"),
)
rows_of_cells = st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=6)


@needs("vl_convert")
@given(rows_of_cells, st.sampled_from(["", "ns"]))
def test_each_number_is_a_bar_with_its_text(rows: list[list[Cell]], unit: str) -> None:
    named = [(f"row {at}", *row) for at, row in enumerate(rows)]
    table = Table("name", ("title", "one", "other"), named, unit)
    drawn = {(bar["name"], bar["label"], bar["end"]) for bar in bars(table)}
    for name, *row in named:
        for cell in row:
            if isinstance(cell, Number) and cell.value:
                label = str(cell) if cell.unit or not unit else f"{cell} {unit}"
                assert (name, label, cell.value) in drawn


@needs("vl_convert")
@given(st.lists(st.floats(1, 1e7), min_size=2, max_size=6))
def test_a_greater_value_has_a_longer_bar(values: list[float]) -> None:
    table = Table(
        "name", ("title", "s"), [(str(at), Number(item)) for at, item in enumerate(values)]
    )
    drawn = bars(table)
    assert {bar["log"] for bar in drawn} == {max(values) / min(values) > 100}
    ordered = sorted(drawn, key=lambda bar: bar["end"])
    assert [bar["px"] for bar in ordered] == sorted(bar["px"] for bar in drawn)
    assert all(0 <= bar["px"] <= 140.001 for bar in drawn)


@needs("vl_convert")
def test_panels_scales_colours_and_bounds() -> None:
    line = [("a", Number(10), Number(40), Number(2, ".1f", "x"))]
    shared = bars(Table("name", ("title", "one", "other", "over"), line, unit="ns"))
    assert [bar["px"] for bar in shared] == [35, 140, 140]
    assert [bar["label"] for bar in shared] == ["10 ns", "40 ns", "2.0x"]
    alone = bars(Table("name", ("title", "one", "other", "over"), line))
    assert [bar["px"] for bar in alone] == [140, 140, 140]
    peak = Number(9, ".1f", " GB")
    rows: list[list[Cell]] = [["geolookup", Number(5)], ["peak", peak], ["none", "unknown"]]
    ours, other = bars(Table("name", ("title", ""), rows, ours="geolookup"))
    assert (ours["label"], other["label"]) == ("5", "9.0 GB")  # each unit has a panel
    assert ours["colour"] != other["colour"]
    ratios = [Ratio("one", 3, 4, True, "x"), Ratio("other", 5, None, unit="x")]
    one, other = bars(ratio_table("name", "ratios", ratios))
    assert (one["label"], one["bound"]) == ("3.00x (>= 4x missed)", 4)
    assert (other["label"], other["bound"]) == ("5.00x", None)


@needs("vl_convert")
def test_tables_without_numbers_are_not_drawn(tmp_path: Path) -> None:
    prose = Table("prose", ("title", ""), [("a", "said")])
    numbers = Table("numbers", ("title", ""), [("a", Number(1))])
    written = draw([prose, numbers], tmp_path / "made")
    assert [path.name for path in written] == ["numbers.svg", "numbers.png"]
    assert written[1].read_bytes().startswith(b"\x89PNG")
