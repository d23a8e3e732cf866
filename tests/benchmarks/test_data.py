"""The generated data have the shape they promise, and the files of peers say the same."""

from __future__ import annotations

import ipaddress
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from geolookup_builder.compile import Options, compile_dataset

import geolookup
from benchmarks.build import writer
from benchmarks.data import cache, changed, generate, geolite
from benchmarks.data.shape import SCALES, of_rows
from benchmarks.harness import workload
from benchmarks.peers import check
from geolookup.progress import Progress
from tests.benchmarks.conftest import Run
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
    spans = [(each.version, int(each[0]), int(each[-1])) for each in networks]
    assert made.rows == len(lines) == 3000
    assert all(
        (version, last) < (after, first)
        for (version, _, last), (after, first, _) in pairwise(spans)
    )
    assert all(each.is_global for each in networks)


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
        assert {ipaddress.ip_address(each).version for each in made} == {family}
        with geolookup.open(dataset) as engine:
            found = [engine.data(each)["location"]["country_code"] for each in made]
        assert {country is not None for country in found} == {hit}, distribution
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
