"""What a follower and the process that installs for it write to each other, each alone."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import pytest

from geolookup.errors import MirrorError, OutputError
from geolookup.mirrors import child, processes
from geolookup.mirrors.request import Polled, Request
from geolookup.mirrors.status import Status

install = import_module("geolookup.mirrors.install")
BEFORE = Status(url="https://x/", serial=7)
POLLED = Polled("updated", "a" * 64, 5, "pack", 9, "", "f")


class Fake:
    """A child that has answered, and what was done with it."""

    def __init__(self, answer: str, status: int = 0, *, hangs: bool = False) -> None:
        self.stdin, self.stdout = io.StringIO(), io.StringIO(answer)
        self.returncode, self._hangs = status, hangs
        self.done: list[str] = []
        self.terminate = partial(self.done.append, "terminated")
        self.kill = partial(self.done.append, "killed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.done.append("waited")

    def wait(self, seconds: float) -> None:
        assert seconds < 1  # who stops a follower waits so long
        if self._hangs:
            raise subprocess.TimeoutExpired("child", seconds)


def install_in(fake: Fake, store: Path, monkeypatch: pytest.MonkeyPatch) -> Polled:
    monkeypatch.setattr(child, "_started", lambda: fake)
    return child.install_in_child(Request("https://x/", store, 3), store / "index.json", BEFORE)


def error_line(error: Exception, store: Path) -> str:
    return json.dumps({"error": child._stated(error, store)}) + "\n"


def test_the_follower_asks_and_takes_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Fake(json.dumps({"polled": asdict(POLLED)}) + "\n")
    assert install_in(fake, tmp_path, monkeypatch) == POLLED
    asked = fake.stdin.getvalue()
    assert asked.endswith("\n")
    assert json.loads(asked) == {
        "request": {"url": "https://x/", "store": str(tmp_path), "keep": 3, "budget": None},
        "index": str(tmp_path / "index.json"),
        "before": asdict(BEFORE),
    }
    assert fake.done == ["waited"]


def test_errors_of_the_child_are_those_of_the_poll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With path, problem, remedy and wait; or its end, perhaps after a part of its answer."""
    store, error = tmp_path / "store", partial(error_line, store=tmp_path / "store")
    busy = MirrorError(str(tmp_path), "busy", "wait", wait=7.0)
    for answer, status, *expected in (
        (error(busy), 0, tmp_path, "busy", 7.0),
        (error(OutputError(tmp_path, "full", "wait")), 0, tmp_path, "full", None),
        (error(MemoryError()), 0, store, "MemoryError", None),
        (error(OSError(28, "full")), 0, store, "[Errno 28] full", None),
        ("", -9, store, "the installation was killed by SIGKILL", None),
        ('{"polled": ', 1, store, "the installation ended with status 1", None),
        ("", 0, store, "the installation ended with status 0", None),
    ):
        with pytest.raises(MirrorError) as caught:
            install_in(Fake(answer, status), store, monkeypatch)
        found = caught.value
        assert [Path(found.path), found.problem, found.wait] == expected


def test_a_signal_ends_the_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may end in its time, or it is killed."""
    for hangs, done in ((False, []), (True, ["killed"])):
        fake = Fake("", hangs=hangs)

        def leave(fake: Fake = fake) -> str:
            assert fake.stdin.getvalue()
            raise SystemExit(143)

        monkeypatch.setattr(fake.stdout, "readline", leave)
        with pytest.raises(SystemExit):
            install_in(fake, tmp_path, monkeypatch)
        assert fake.done == ["terminated", *done, "waited"]


def test_the_child_answers_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    request, full = Request("https://x/", tmp_path, 3, 1000), OutputError(tmp_path, "full", "wait")
    stated = {**asdict(request), "store": str(tmp_path)}
    line = json.dumps({"request": stated, "index": "i", "before": asdict(BEFORE)}) + "\n"
    signals: dict[int, Any] = {}
    called: list[object] = []

    def installed(*arguments: object) -> Polled:
        called.append(arguments)
        if len(called) > 2:
            raise full
        return POLLED

    monkeypatch.setattr(install, "install", installed)
    monkeypatch.setattr(signal, "signal", signals.__setitem__)
    monkeypatch.setattr(child, "end_with_input", lambda: called.append("ends with its input"))
    for answer in (json.dumps({"polled": asdict(POLLED)}) + "\n", error_line(full, tmp_path)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(line))
        child.main()
        assert capsys.readouterr().out == answer
        assert called[-2:] == ["ends with its input", (request, Path("i"), BEFORE)]
    assert signals[signal.SIGINT] is signal.SIG_IGN
    with pytest.raises(SystemExit):
        signals[signal.SIGTERM](signal.SIGTERM, None)


def test_the_process_of_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same Python with the same modules, which ends when its standard input does."""
    assert processes.command("a.b", "c") == [sys.executable, "-P", "-m", "a.b", "c"]
    monkeypatch.setattr(sys, "path", ["/a", "", "/b"])
    monkeypatch.setenv("KEPT", "1")
    environment = processes.environment()
    assert (environment["PYTHONPATH"], environment["KEPT"]) == (f"/a{os.pathsep}/b", "1")
    content, killed = [b"x", b"\n", b""], []
    monkeypatch.setattr(os, "read", lambda _descriptor, _size: content.pop(0))
    monkeypatch.setattr(os, "kill", lambda *to: killed.append(to))
    processes._wait()
    assert (content, killed) == ([], [(os.getpid(), signal.SIGTERM)])
