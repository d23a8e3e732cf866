"""The benchmark of text: its texts are the same each time, and its table is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.inline import command, texts
from tests.datasets import SMALL


def test_the_texts(tmp_path: Path) -> None:
    for name, (_, share) in texts.TEXTS.items():
        for path in (tmp_path / "a", tmp_path / "b"):
            texts.write(name, SMALL, 0.04, path)
        written = (tmp_path / "a").read_text()
        assert written == (tmp_path / "b").read_text()
        assert len(written.splitlines()) == 200
        assert 30_000 < len(written) < 50_000 or share == 1


def test_the_table() -> None:
    rows = {command.ANNOTATE: [1.0, 1.0, 9.0], command.SCRIPT: [10.0]}
    texts_of = {name: {"size": 200_000_000, "rows": rows} for name in texts.TEXTS}
    machine = {
        "implementation": "x",
        "python": "3",
        "system": "y",
        "machine": "z",
        "cores": 2,
        "pinned": True,
    }
    result = {"rounds": 3, "results": texts_of, "machine": machine}
    table, ratios, _ = map(str, command.lines(result))
    assert table.splitlines()[1].split()[-3:] == ["200"] * 3
    assert ratios.splitlines()[1].split()[-6:] == ["200.00", "MB/s", ">=", "150", "MB/s", "met"]
    assert "10.00x" in ratios


@pytest.mark.long
def test_a_run(tmp_path: Path) -> None:
    pytest.importorskip("maxminddb", reason="geolookup[mmdb] is not installed")
    programs = command.contenders(SMALL, tmp_path / "none")
    chosen = {name: program for name, program in programs.items() if name == command.ANNOTATE}
    found = command.measure_inline(chosen, SMALL, 0.05, 1)
    assert [*found["results"]] == [*texts.TEXTS]
