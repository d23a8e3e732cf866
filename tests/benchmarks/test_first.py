"""``first`` runs and prints both passes of each installed contender; no time is asserted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import main
from benchmarks.data import cache
from benchmarks.first import command

pytest.importorskip("maxminddb", reason="the MMDB is checked by reading it")
pytest.importorskip("mmdb_writer", reason="the peers need an MMDB; the [bench] extra writes it")


def test_first_passes_beside_warm_ones(tmp_path: Path) -> None:
    options = ("--scale", "tiny", "--addresses", "60", "--rounds", "2", "--only", "(C) get")
    done = CliRunner().invoke(main, ["first", *options, "--json", str(tmp_path / "first.json")])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "first.json").read_text(encoding="utf-8"))
    rows = found["results"]["60"]
    assert set(rows) == {command.C_DICT, command.C_JSON, command.C_ORJSON}
    for name, row in rows.items():
        assert f"\n{name} " in done.stdout
        if "refused" not in row:
            assert len(row["first"]) == len(row["warm"]) == 2
            assert min(*row["first"], *row["warm"]) > 0


def test_ratios_are_those_of_the_rounds() -> None:
    rows = {
        command.JSON: {"first": [2.0, 4.0], "warm": [2.0, 2.0]},
        command.C_JSON: {"first": [20.0, 20.0], "warm": [1.0, 1.0]},
        command.RUST_JSON: {"first": [], "warm": [], "refused": "not installed"},
    }
    found = {each.text: each for each in command.ratios({"results": {"60": rows}})}
    assert [each.value for each in found.values()] == [1.5, 7.5]
    assert [each.verdict for each in found.values()] == ["met", "met"]


def test_addresses_are_distinct() -> None:
    made = command.distinct(cache.dataset("tiny"), 50)
    assert len(set(made)) == len(made) == 50
