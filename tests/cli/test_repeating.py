"""``update --every``: when it updates, what it prints, and how it ends."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from geolookup import DatasetError, mirror, pack, publish
from geolookup.errors import UpdateError
from tests.cli.program import started
from tests.internals.cli import repeating
from tests.internals.history import StoreResult
from tests.store.numbered import id_of, shared


class _EndError(Exception):
    """The plan of a test has ended."""


Step = str | Exception


def test_waits_and_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wait doubles with each failure; a problem is told once, and a success after it."""
    no, other = UpdateError(["no\nanswer"]), DatasetError("x", "refused", "write it")
    steps: list[Step] = ["unchanged", "unchanged", no, no, other, no, "unchanged", "held", "held"]
    steps += ["published", UpdateError(["busy"], wait=900.0), UpdateError(["busy"], wait=9e9)]
    plan, waits, jitters, states = (
        iter(steps),
        list[float](),
        list[tuple[float, ...]](),
        list[str](),
    )

    def update() -> StoreResult:
        step = next(plan, _EndError())
        if isinstance(step, Exception):
            raise step
        return StoreResult("store", step)

    def uniform(*limits: float) -> float:
        jitters.append(limits)
        return 1.0

    monkeypatch.setattr("random.uniform", uniform)
    monkeypatch.setattr(repeating, "time", SimpleNamespace(sleep=waits.append))
    with pytest.raises(_EndError):
        repeating.repeat(update, lambda result: states.append(result.state), 300.0)
    assert waits == [300, 300, 30, 60, 120, 240, 300, 300, 300, 300, 900, 3600]
    assert jitters == [(0, 1), *[(1, 1.1)] * (len(waits) - 1)]
    assert states == ["unchanged", "unchanged", "held", "published"]
    problems = [
        line.partition("; next try in ")[0] for line in capsys.readouterr().err.splitlines()
    ]
    expected = ["no\\nanswer", "x: refused; write it", "no\\nanswer", "busy"]
    assert problems == [f"geolookup: {text}" for text in expected]


@pytest.mark.long
@pytest.mark.parametrize("is_mirror", [True, False])
def test_a_process_updates_until_sigterm(tmp_path: Path, is_mirror: bool) -> None:
    origin, edge = tmp_path / "origin", tmp_path / "edge"
    source = tmp_path / ("mirror" if is_mirror else "a.tar.zst")

    def offer(number: int) -> None:
        publish(shared(number), origin)
        if is_mirror:
            mirror(origin, source)
        else:
            pack(origin, source, force=True)

    offer(0)
    command = ["update", str(source), "--store", str(edge), "--every", "0.1s"]
    begin = b"published: geo, generation "
    if is_mirror:  # a line of JSON each
        command.append("--json")
        begin = f'{{"store":"{edge}","state":"published","generation":'.encode()
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(*command, **pipes) as process:
        for number in (0, 1):
            offer(number)
            lines = iter(process.stdout.readline, b"")
            assert any(line.startswith(begin) for line in lines)
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate()
    assert (process.returncode, output) == (0, b"")
    assert is_mirror or errors == b""
    assert id_of(1) in (edge / "current").read_text("utf-8")
