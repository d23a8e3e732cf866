"""``floor`` prints steps, lookups and multiples; no time is asserted."""

from __future__ import annotations

import json
import shlex
import shutil
import sysconfig
from pathlib import Path

import pytest

from benchmarks.floor.steps import COPY, steps_of
from geolookup.dataset.files import Dataset
from tests.benchmarks.conftest import MACHINE, Run
from tests.conftest import ROOT

_COMPILER = shlex.split(sysconfig.get_config_var("CC") or "cc")[0]
pytestmark = pytest.mark.skipif(not shutil.which(_COMPILER), reason="needs a C compiler")


@pytest.mark.long
def test_floor_prints_steps_and_multiples(dataset: Path, tmp_path: Path, run: Run) -> None:
    target = tmp_path / "floor.json"
    options = ("--scale", "tiny", "--addresses", "50", "--rounds", "2", "--json", str(target))
    printed = run("floor", *options)
    result = json.loads(target.read_text(encoding="utf-8"))
    for row in ("parse", "dependent reads", "dict from ready parts", "geolookup, JSON"):
        assert f"\n{row} " in printed
    assert "geolookup, dict / floor of dict, uniform" in printed
    assert set(result["machine"]) == MACHINE
    assert str(ROOT) not in printed + target.read_text(encoding="utf-8")


def test_steps_read_any_address(dataset: Path, tmp_path: Path) -> None:
    steps = steps_of(Dataset(dataset), 1000, tmp_path)
    steps(["0.0.0.1", "1.1.1.1", "255.255.255.255"], COPY)
