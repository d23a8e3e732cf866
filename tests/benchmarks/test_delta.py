"""``delta`` runs and prints what it promises; no time is asserted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import main
from benchmarks.delta import command as delta


@pytest.mark.long
def test_a_row_for_each_way(tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    done = CliRunner().invoke(main, ["delta", "--rows", "2000", "--json", str(target)])
    assert done.exit_code == 0, done.output
    rows = json.loads(target.read_text(encoding="utf-8"))["rows"]
    assert [*rows][:3] == [delta.WITH, delta.WITHOUT, delta.WHOLE]
    assert 0 < rows[delta.WITH]["bytes"] < rows[delta.WHOLE]["bytes"]
    for name in rows:
        assert f"\n{name} " in done.output
