"""``tables`` runs on a small scale. No time is asserted; its addresses are checked."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import geolookup
from benchmarks.__main__ import main
from benchmarks.data import cache
from benchmarks.tables import addresses
from benchmarks.tables.contenders import CONTENDERS, OWN

pytest.importorskip("mmdb_writer", reason="the peers need an MMDB; the [bench] extra writes it")


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
    addresses.write(dataset, tmp_path / "a.arrow", family, 3_000)
    addresses.write(dataset, tmp_path / "b.arrow", family, 3_000)
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
