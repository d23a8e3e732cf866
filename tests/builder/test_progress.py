"""The progress of builds, and of commands that read a table: one line on a terminal alone."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest

from geolookup.errors import BuildError
from tests.builder.building import recipe
from tests.internals.builder import Options, compile_recipe, load
from tests.internals.progress import Progress

CLEAR = "\r\x1b[K"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def compiled(folder: Path, stream: io.StringIO, text: str = "network,isp\n8.8.8.8,x\n") -> None:
    (folder / "a.csv").write_text(text, encoding="utf-8")
    (folder / "r.toml").write_text(recipe('path = "a.csv"'), encoding="utf-8")
    compile_recipe(load(folder / "r.toml"), folder / "d", Options(force=True), Progress(stream))


def test_a_terminal_alone_sees_the_stages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal()
    compiled(tmp_path, terminal)
    shown = terminal.getvalue()
    stages = ["reading a.csv", "flattening a.csv", "interning", "writing"]
    places = [shown.index(CLEAR + stage) for stage in stages]
    assert places == sorted(places)
    assert shown.endswith(CLEAR)
    assert "\n" not in shown
    with pytest.raises(BuildError):
        compiled(tmp_path, terminal := Terminal(), "network\nnowhere\n")
    assert terminal.getvalue().endswith(CLEAR)
    stream = io.StringIO()
    compiled(tmp_path, stream)
    assert stream.getvalue() == ""
    progress = Progress()  # of standard error
    with progress.stage("reading"):
        progress.rows(1)
    assert capsys.readouterr() == ("", "")


def test_rows_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for fraction, left in (
        (0.5, "  0:00:10 left"),
        (0.25, "  0:00:30 left"),
        (0.001, "  2:46:30 left"),
        (None, ""),
    ):
        terminal = Terminal()
        progress = Progress(terminal)
        with progress.stage("reading"):
            now[0] += 10
            progress.show(20_000, fraction)
            shown = f"{CLEAR}reading  20,000 rows  2,000 rows/s{left}  10.0 s"
            assert terminal.getvalue().endswith(shown)
            now[0] += 0.05
            progress.show(30_000, fraction)  # too soon after the last
            assert terminal.getvalue().endswith(shown)
        assert terminal.getvalue().endswith(shown + CLEAR)
        assert progress.seconds == pytest.approx(10.05)
