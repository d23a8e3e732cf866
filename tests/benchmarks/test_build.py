"""``build`` prints what it promises; what it measures is asserted nowhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from geolookup_builder.compile import Options, compile_dataset

from benchmarks.build import writer
from benchmarks.data import geolite
from benchmarks.harness import workload
from benchmarks.peers import check
from geolookup.progress import Progress
from tests.benchmarks.conftest import MACHINE, Run
from tests.conftest import ROOT

Measured = Callable[..., Any]


@pytest.fixture
def measured(run: Run, tmp_path: Path) -> Measured:
    """Run a part; returns its result."""

    def result(part: str, *options: str) -> Any:
        target = tmp_path / "result.json"
        run("build", part, *options, "--json", str(target))
        return json.loads(target.read_text(encoding="utf-8"))[part]

    return result


@pytest.mark.long
@pytest.mark.parametrize("part", ["csv", "city"])
def test_build_prints_a_table(part: str, run: Run) -> None:
    printed = run("build", part, "--rows", "6000")
    for name in ("rows", "compile", "rows per second", "peak memory", "dataset"):
        assert f"\n{name} " in printed
    assert str(ROOT) not in printed


@pytest.mark.long
def test_build_writes_json(measured: Measured) -> None:
    result = measured("csv", "--rows", "2000")
    assert result["rows"] == 2000
    assert result["dataset_bytes"] > 0
    assert result["peak_memory"] is None or result["peak_memory"] > 1 << 20
    assert set(result["machine"]) == MACHINE


@pytest.mark.long
def test_build_explained_prints_ratios(run: Run) -> None:
    printed = run("build", "explained", "--rows", "6000")
    for name in ("compile, s", "dataset, MB"):
        assert re.search(rf"\n{name}: full / without +\d+\.\d\dx +<= 2x +(met|missed)\n", printed)


@pytest.mark.long
def test_build_with_a_base_prints_what_differs(run: Run, measured: Measured) -> None:
    result = measured("base", "--rows", "6000")
    for family in ("IPv4", "IPv6"):
        differing = [result[name]["differing"][family] for name in ("with", "without")]
        assert differing[0] * 5 < differing[1]
    printed = run("build", "base", "--rows", "6000")
    assert re.search(r"\ncompile: with / without +\d+\.\d\dx +<= 1.1x +(met|missed)\n", printed)


@pytest.mark.long
def test_build_scaling_prints_exponent_and_bytes_a_row(run: Run) -> None:
    printed = run("build", "scaling", "--rows", "6000")
    assert "\n3,000 " in printed
    assert "\n6,000 " in printed
    assert re.search(
        r"time grows as rows \*\* -?\d+\.\d\d, memory by -?[\d,]+ bytes a row", printed
    )


@pytest.mark.long
def test_build_small_prints_milliseconds(run: Run) -> None:
    printed = run("build", "small", "--rows", "2000")
    assert "\nsmall: 2,000 rows " in printed
    for name in ("without syncs", "with syncs"):
        assert re.search(rf"\n{name} +\d+\.\d +\d+\.\d\n", printed)


def test_build_beside_the_mmdb_writer_says_the_same_rows(measured: Measured) -> None:
    pytest.importorskip("mmdb_writer", reason="[bench] brings the writer")
    result = measured("writer", "--rows", "6000")
    assert result["ours"]["rows"] == result["theirs"]["rows"] == 6000


def test_mmdb_of_the_rows_says_what_the_dataset_says(tmp_path: Path) -> None:
    pytest.importorskip("mmdb_writer", reason="[bench] brings the writer")
    recipe = geolite.write(tmp_path, geolite.of_rows(3000))
    compile_dataset(recipe, tmp_path / "dataset", Options(), Progress())
    assert writer.write_city(tmp_path, tmp_path / "rows.mmdb") == 2659
    intervals = workload.read(tmp_path / "dataset", 4)
    made = workload.addresses(intervals, "uniform", 500, hit=True)
    check.check(tmp_path / "dataset", tmp_path / "rows.mmdb", made)


def test_build_size_adds_up(measured: Measured) -> None:
    pytest.importorskip("mmdb_writer", reason="[bench] brings the writer")
    result = measured("size", "--rows", "6000")
    whole = sum(result["files"].values())
    assert whole < result["dataset"] < whole + 30_000  # and the manifest
    assert 0.9 * whole < sum(result["columns"].values()) + 4000 * len(result["files"]) < 1.3 * whole
    assert set(result["mmdb"]) == {"city", "asn"}
    assert result["packed"] < result["dataset"]
