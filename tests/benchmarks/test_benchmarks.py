"""The benchmarks run and print what they promise; what they measure is asserted nowhere."""

from __future__ import annotations

import ipaddress
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from geolookup_builder.compile import Options, compile_dataset
from geolookup_builder.report import Progress

import geolookup
from benchmarks import cache, generate, geolite, mmdb_rows, peers_check, workload
from benchmarks.__main__ import COMMANDS, main
from benchmarks.shape import SCALES, of_rows
from tests.conftest import ROOT

MACHINE = {"python", "implementation", "system", "machine", "cores", "pinned"}


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    # What tests make must not push out what was made to measure.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "FOLDER", tmp_path_factory.mktemp("cache"))
        yield


@pytest.fixture(scope="module")
def dataset() -> Path:
    return cache.dataset("tiny")


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_module_runs_and_lists_the_names() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)
    assert done.stderr == ""


def test_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        (tmp_path / name).mkdir()
        generate.write(tmp_path / name, SCALES["tiny"], seed)
    one, again, other = (
        (tmp_path / name / generate.CSV).read_bytes() for name in ("one", "again", "other")
    )
    assert one == again
    assert one != other


def test_generated_rows_are_disjoint_networks_in_address_order(tmp_path: Path) -> None:
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


def test_dataset_has_the_counts_promised(dataset: Path) -> None:
    shape = SCALES["tiny"]
    with geolookup.open(dataset) as engine:
        counts = engine.metadata.counts
    assert counts["ipv4_intervals"] == shape.ipv4
    assert counts["ipv6_intervals"] == shape.ipv6
    assert counts["locations"] == shape.locations
    assert counts["networks"] == shape.networks


def test_cache_makes_a_dataset_once_and_drops_those_of_older_code(dataset: Path) -> None:
    before = (dataset / "manifest.json").stat()
    assert cache.dataset("tiny") == dataset
    assert (dataset / "manifest.json").stat().st_ino == before.st_ino
    old = dataset.parent.with_name("dataset-tiny-9-0123456789ab")
    old.mkdir()
    assert cache.dataset("tiny", seed=9).is_dir()
    assert not old.exists()
    assert dataset.is_dir()


@pytest.mark.parametrize("distribution", workload.DISTRIBUTIONS)
@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("hit", [True, False])
def test_workload_is_public_and_hits_or_misses(
    dataset: Path, distribution: str, family: int, hit: bool
) -> None:
    intervals = workload.read(dataset, family)
    made = workload.addresses(intervals, distribution, 500, hit=hit)
    assert made == workload.addresses(intervals, distribution, 500, hit=hit)
    assert {ipaddress.ip_address(each).version for each in made} == {family}
    with geolookup.open(dataset) as engine:
        found = [engine.data(each)["location"]["country_code"] for each in made]
    assert all((country is not None) == hit for country in found)


def test_zipf_repeats_more_than_uniform(dataset: Path) -> None:
    intervals = workload.read(dataset, 4)
    distinct = {
        name: len(set(workload.addresses(intervals, name, 1000, hit=True)))
        for name in workload.DISTRIBUTIONS
    }
    assert distinct["zipf"] < distinct["uniform"]


def test_generate_says_what_it_made(tmp_path: Path) -> None:
    printed = run("generate", str(tmp_path / "new"), "--rows", "1000")
    assert printed.startswith("1,000 rows, ")
    assert (tmp_path / "new" / generate.RECIPE).is_file()


def test_geolite_rows_are_those_of_a_city_and_an_asn_data_set(tmp_path: Path) -> None:
    size = geolite.of_rows(9000)
    recipe = geolite.write(tmp_path, size, seed=3)
    assert size.rows == 9000
    report = compile_dataset(recipe, tmp_path / "dataset", Options(), Progress())
    assert sum(source.read for source in report.sources) == 9000
    assert sum(source.rejected.total() for source in report.sources) == 0
    assert sum(source.blanked.total() for source in report.sources) == 0
    assert report.counts["locations"] == size.locations
    assert report.counts["networks"] == size.systems
    assert all(known["ipv4"] and known["ipv6"] for known in list(report.coverage.values())[:2])


@pytest.mark.parametrize("part", ["csv", "city"])
def test_build_prints_a_table(part: str) -> None:
    printed = run("build", part, "--rows", "6000")
    for name in ("rows", "compile", "rows per second", "peak memory", "dataset"):
        assert f"\n{name} " in printed
    assert str(ROOT) not in printed


def test_build_prints_json() -> None:
    result = json.loads(run("build", "csv", "--rows", "2000", "--json"))["csv"]
    assert result["rows"] == 2000
    assert result["dataset_bytes"] > 0
    assert result["peak_memory"] is None or result["peak_memory"] > 1 << 20
    assert set(result["machine"]) == MACHINE


def test_build_scaling_prints_exponent_and_bytes_a_row() -> None:
    printed = run("build", "scaling", "--rows", "6000")
    assert "\n3,000 " in printed
    assert "\n6,000 " in printed
    assert re.search(
        r"time grows as rows \*\* -?\d+\.\d\d, memory by -?[\d,]+ bytes a row", printed
    )


def test_build_beside_the_mmdb_writer_says_the_same_rows() -> None:
    pytest.importorskip("mmdb_writer", reason="[bench] brings the writer")
    result = json.loads(run("build", "writer", "--rows", "6000", "--json"))["writer"]
    assert result["ours"]["rows"] == result["theirs"]["rows"] == 6000


def test_mmdb_of_the_rows_says_what_the_dataset_says(tmp_path: Path) -> None:
    pytest.importorskip("mmdb_writer", reason="[bench] brings the writer")
    recipe = geolite.write(tmp_path, geolite.of_rows(3000))
    compile_dataset(recipe, tmp_path / "dataset", Options(), Progress())
    assert mmdb_rows.write_city(tmp_path, tmp_path / "rows.mmdb") == 2659
    intervals = workload.read(tmp_path / "dataset", 4)
    made = workload.addresses(intervals, "uniform", 500, hit=True)
    peers_check.check(tmp_path / "dataset", tmp_path / "rows.mmdb", made)


def test_build_size_adds_up() -> None:
    pytest.importorskip("mmdb_writer", reason="[bench] brings the writer")
    result = json.loads(run("build", "size", "--rows", "6000", "--json"))["size"]
    whole = sum(result["files"].values())
    assert whole < result["dataset"] < whole + 30_000  # and the manifest
    assert 0.9 * whole < sum(result["columns"].values()) + 4000 * len(result["files"]) < 1.3 * whole
    assert set(result["mmdb"]) == {"city", "asn"}
    assert result["packed"] < result["dataset"]


def test_single_prints_a_table_and_writes_json(dataset: Path, tmp_path: Path) -> None:
    target = tmp_path / "single.json"
    options = ("--scale", "tiny", "--addresses", "50", "--rounds", "2", "--json", str(target))
    printed = run("single", *options)
    result = json.loads(target.read_text(encoding="utf-8"))
    kinds = {each["kind"] for each in result["results"]}
    assert len(kinds) == 8
    assert all(f"\n{kind} " in printed for kind in kinds)
    assert len(result["results"]) == 16
    assert result["call_overhead"] > 0
    assert result["kernel"] in ("_compiled", "python")
    assert set(result["machine"]) == MACHINE
    assert str(ROOT) not in printed + target.read_text(encoding="utf-8")
