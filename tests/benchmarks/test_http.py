"""``benchmarks http`` runs and prints what it promises; what it measures is asserted nowhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import main
from benchmarks.http import command as http
from tests.conftest import ROOT

for _needed in ("granian", "maxminddb", "mmdb_writer"):
    pytest.importorskip(_needed)


@pytest.mark.skipif(shutil.which("wrk") is None, reason="no wrk here")
def test_http_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    target = tmp_path / "http.json"
    options = ("--scale", "tiny", "--seconds", "1", "--rounds", "1", "--requests", "10")
    done = CliRunner().invoke(main, ["http", *options, "--json", str(target)])
    assert done.exit_code == 0, done.output
    result = json.loads(target.read_text(encoding="utf-8"))
    (found,) = result["scales"].values()
    names = [each["name"] for each in found["results"]]
    alone = [http.FAST, http.MANY, http.CONSTANT, http.BARE, http.PEER]
    assert names == [*alone, http.FAST_TWO, http.MANY_TWO, http.CONSTANT_TWO]
    assert all(f"\n{name} " in done.output for name in names)
    for each in found["results"]:
        assert each["rate"] > 0
        assert each["failed"] == 0
        assert each["name"] in (http.MANY, http.MANY_TWO) or each["refused"] == 0
    assert found["memory"]["requests"] >= 10
    assert " p99" in done.output
    assert f"{http.FAST_TWO} / one" in done.output
    assert str(ROOT) not in done.output


def test_without_wrk_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    done = CliRunner().invoke(main, ["http", "--scale", "tiny"])
    assert done.exit_code == 1
    assert "install the package wrk" in done.output
    assert "Traceback" not in done.output
