"""``gate`` and ``verify`` run and print what they promise; no time is asserted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import main
from benchmarks.gate import command as gate


@pytest.mark.parametrize(
    ("command", "options", "rows"),
    [
        pytest.param(
            "gate",
            ("--rounds", "2", "--keys", "40", "--decisions", "200"),
            (gate.LEASED, gate.EXACT, gate.SHARED, gate.REFUSED_LEASED, gate.REFUSED_EXACT),
            marks=pytest.mark.long,
        ),
        pytest.param(
            "verify",
            ("--rounds", "2", "--scale", "tiny"),
            ("plain", "deep"),
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_row_for_each_kind(
    command: str, options: tuple[str, ...], rows: tuple[str, ...], tmp_path: Path
) -> None:
    target = tmp_path / "result.json"
    done = CliRunner().invoke(main, [command, *options, "--json", str(target)])
    assert done.exit_code == 0, done.output
    result = json.loads(target.read_text(encoding="utf-8"))
    assert tuple(result["rows"]) == rows
    for name, rounds in result["rows"].items():
        assert f"\n{name} " in done.output
        assert len(rounds) == 2
        assert min(rounds) > 0
