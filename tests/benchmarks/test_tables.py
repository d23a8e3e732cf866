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
from benchmarks.peers.check import UnequalError
from benchmarks.tables import addresses
from benchmarks.tables.answers import compare, digests
from benchmarks.tables.contenders import CONTENDERS, OWN
from benchmarks.tables.ratios import ratios

pytest.importorskip("mmdb_writer", reason="the peers need an MMDB; the [bench] extra writes it")


def test_every_contender_has_rounds_or_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "tables.json"
    options = ("--scale", "tiny", "--rows", "400", "--rounds", "2")
    ways = ("--way", "memory", "--way", "parquet")
    done = CliRunner().invoke(main, ["tables", *options, *ways, "--json", str(path)])
    assert done.exit_code == 0, done.output
    (result,) = json.loads(path.read_text(encoding="utf-8"))["tables"]
    assert set(result["rows"]) == {each.key for each in CONTENDERS}
    for name, row in result["rows"].items():
        assert name in done.output
        if name.startswith(OWN):
            assert len(row["rounds"]) == 2
        assert "refused" in row or min(row["rounds"]) > 0
    assert result["ways"]["parquet"]["rows"] == 400
    assert "wanted" in done.output


def test_the_ratio_that_is_wanted_depends_on_the_number_of_rows() -> None:
    names = f"{OWN}: IPv4, one field", "maxminddb-polars: IPv4, one field"
    rows = dict(zip(names, ({"rounds": [50.0]}, {"rounds": [500.0]}), strict=True))
    for count, wanted in ((1_000_000, 8), (10_000_000, 11)):
        found = {each.text: each for each in ratios(rows, {}, count)}
        assert found[f"{names[1]} / {names[0]}"].wanted == wanted


@pytest.mark.parametrize("family", [4, 6])
def test_addresses_are_distinct_public_and_known(family: int, tmp_path: Path) -> None:
    dataset = cache.dataset("tiny")
    names = ("a.arrow", "b.arrow", "c.arrow")
    addresses.write(dataset, [tmp_path / name for name in names[:2]], family, 1_500)
    addresses.write(dataset, [tmp_path / "c.arrow"], family, 3_000)
    one, other, again = (pa.ipc.open_file(tmp_path / name).read_all() for name in names)
    first = pa.concat_tables([one, other])
    assert first["ip"].to_pylist() == again["ip"].to_pylist()
    assert len(first["ip"].unique()) == 3_000
    with geolookup.open(dataset) as engine:
        found = engine.enrich(first, fields=["ip", "ip_type", "location.country_code"], prefix="x_")
    assert found["x_ip"].to_pylist() == first["ip"].to_pylist()
    assert found["x_ip_type"].unique().to_pylist() == [f"ipv{family}"]
    assert found["x_location_country_code"].null_count < 1_500


def test_answers_that_differ_are_not_timed() -> None:
    values = {"ip": ["8.8.8.8", "1.1.1.1"], "location.country_code": ["US", "AU"]}
    turned = {path: each[::-1] for path, each in values.items()}
    other = {**values, "location.country_code": ["US", "NZ"]}
    same = {"ours": digests(values), "theirs": digests(turned)}
    assert compare(same) == 2
    with pytest.raises(UnequalError, match=r"^third and ours differ in location.country_code$"):
        compare({**same, "third": digests(other)})
