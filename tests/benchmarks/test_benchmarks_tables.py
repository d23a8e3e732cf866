"""``tables`` runs on a small scale; no time is asserted, the addresses that it draws are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import geolookup
from benchmarks import cache, tables_workload
from benchmarks.__main__ import main
from benchmarks.tables_contenders import CONTENDERS, OWN

pytest.importorskip("mmdb_writer", reason="the peers need an MMDB; the [bench] extra writes it")


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    # What tests make must not push out what was made to measure.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "FOLDER", tmp_path_factory.mktemp("cache"))
        yield


def test_every_contender_has_rounds_or_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "tables.json"
    options = ("--scale", "tiny", "--rows", "400", "--rounds", "2")
    ways = ("--way", "memory", "--way", "parquet")
    done = CliRunner().invoke(main, ["tables", *options, *ways, "--json", str(path)])
    assert done.exit_code == 0, done.output
    result = json.loads(path.read_text(encoding="utf-8"))
    assert set(result["rows"]) == {each.key for each in CONTENDERS}
    for name, row in result["rows"].items():
        assert name in done.output
        if name.startswith(OWN):
            assert len(row["rounds"]) == 2
        assert "refused" in row or min(row["rounds"]) > 0
    assert result["ways"]["parquet"]["rows"] == 400
    assert "wanted" in done.output


@pytest.mark.parametrize("family", [4, 6])
def test_addresses_are_distinct_public_and_known(family: int, tmp_path: Path) -> None:
    dataset = cache.dataset("tiny")
    tables_workload.write(dataset, tmp_path / "a.arrow", family, 3_000)
    tables_workload.write(dataset, tmp_path / "b.arrow", family, 3_000)
    first, second = (
        pa.ipc.open_file(tmp_path / name).read_all() for name in ("a.arrow", "b.arrow")
    )
    assert first == second
    assert len(first["ip"].unique()) == 3_000
    with geolookup.open(dataset) as engine:
        found = engine.enrich(first, fields=["ip", "ip_type", "location.country_code"], prefix="x_")
    assert found["x_ip"].to_pylist() == first["ip"].to_pylist()
    assert found["x_ip_type"].unique().to_pylist() == [f"ipv{family}"]
    assert found["x_location_country_code"].null_count < 1_500
