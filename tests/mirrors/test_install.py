"""What is fetched for a generation, what is refused, and what the installing process writes."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest

from geolookup import publish
from geolookup.errors import DatasetError, MirrorError, OutputError
from geolookup.mirrors import child
from geolookup.mirrors.folder import mirror
from geolookup.mirrors.index import Delta, File, Index, IndexEntry
from geolookup.mirrors.install import _Installation
from geolookup.mirrors.polling import PollResult, Status
from geolookup.mirrors.source import Source
from geolookup.signing.envelope import LARGEST_ENVELOPE
from tests.mirrors.conftest import Edge, content_of, folder_act
from tests.remote.serving import Handler
from tests.store.numbered import named

NOW, HERE, ALSO_HERE, ELSEWHERE = (digit * 64 for digit in "abcd")


def file(name: str, size: int) -> File:
    return File(name, size, "0" * 64)


def index(**sizes: int) -> Index:
    """An index whose deltas from generations have sizes; that of the pack is 100."""
    ids = {"here": HERE, "also_here": ALSO_HERE, "elsewhere": ELSEWHERE}
    deltas = tuple(Delta(ids[name], file(name, size)) for name, size in sizes.items())
    listed = IndexEntry(NOW, "2026-11-23T10:00:00Z", file("pack", 100), deltas, False, None)
    return Index("geo", 1, "2026-11-23T10:00:00Z", NOW, (listed,))


def test_which_archives_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source: Any = SimpleNamespace(store=tmp_path)
    nowhere = _Installation(source, index())
    with pytest.raises(DatasetError, match="no store here"):
        nowhere._take()
    assert not nowhere._is_taken()
    for generation in (HERE, ALSO_HERE):
        (tmp_path / "generations" / generation).mkdir(parents=True)
    for sizes, refused, expected in (
        ({}, (), ["pack"]),
        ({"here": 99}, (), ["here"]),
        ({"here": 100}, (), ["pack"]),  # as large as the pack
        ({"here": 90, "also_here": 80, "elsewhere": 70}, (), ["also_here"]),
        ({"here": 80, "also_here": 90}, (), ["here"]),
        ({"elsewhere": 1}, (), ["pack"]),
        ({"here": 80, "also_here": 90}, ("here",), ["here", "pack"]),
        ({}, ("pack",), ["pack"]),
    ):
        tried: list[str] = []

        def publish(archive: File, refused: Sequence[str] = refused, tried: Any = tried) -> None:
            tried.append(archive.path)
            if archive.path in refused:
                raise MirrorError("x", "gone", "try again")

        installation = _Installation(source, index(**sizes))
        monkeypatch.setattr(installation, "_publish", publish)
        if "pack" in refused:
            with pytest.raises(MirrorError):
                installation._fetch()
        else:
            is_pack = expected[-1] == "pack"
            size = 100 if is_pack else sizes[expected[-1]]
            assert installation._fetch() == ("pack" if is_pack else "delta", size)
        assert tried == expected


def test_the_limits_of_what_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def fetch(remote: Any, sha256: str, cache: Path, _progress: object, limits: Any) -> object:
        asked.append((remote.uri, sha256, cache.name, limits))
        return SimpleNamespace(file=SimpleNamespace(path=cache, bytes=7), changed=len(asked) == 1)

    monkeypatch.setattr("geolookup.mirrors.source.fetch", fetch)
    source = Source("https://example.com/geo/?key=1", tmp_path, limit_rate=1000)
    assert [source.index()[1], source.index()[1]] == [7, 0]  # fetched, and unchanged
    source.archive(File("packs/x", 5, "1" * 64))
    common = {"longest_wait": 10.0, "fastest": 1000}
    for (uri, sha256, cache, limits), expected in zip(
        asked[1:],
        (
            ("https://example.com/geo/index.json?key=1", "", "index", 3, LARGEST_ENVELOPE),
            ("https://example.com/geo/packs/x?key=1", "1" * 64, "archives", 6, 5),
        ),
        strict=True,
    ):
        assert (uri, sha256, cache, limits.attempts, limits.largest) == expected
        assert {name: getattr(limits, name) for name in common} == common
    for address in ("https://example.com/geo", str(tmp_path)):
        Source(address, tmp_path).check()
    with pytest.raises(MirrorError, match="unknown scheme ftp"):
        Source("ftp://example.com/", tmp_path).check()


def test_what_is_larger_after_its_transfer(followed: Edge) -> None:
    """An index or an archive that is compressed by gzip on its way."""
    followed.publish(2, deltas=0)
    pack, honest = followed.index().now.pack, folder_act(followed.folder)
    assert pack is not None
    before = content_of(followed.store)
    for folder, most in (("", LARGEST_ENVELOPE), ("packs", pack.bytes)):

        def act(handler: Handler, folder: str = folder, most: int = most) -> None:
            if handler.path.strip("/").rpartition("/")[0] != folder:
                return honest(handler)
            return handler.answer(200, gzip.compress(bytes(most + 1)), Content_Encoding="gzip")

        followed.site.plan[:] = [act]
        with pytest.raises(MirrorError, match=f"the file is larger than {most:,} bytes"):
            followed.poll()
        assert content_of(followed.store) == before
        assert not any((followed.store / ".follow").rglob("part/*"))


def test_archives_that_contradict_the_index_leave_the_store(followed: Edge, tmp_path: Path) -> None:
    """A statement of other bytes: each poll would add a generation. Another name: none could."""
    followed.publish(2)
    index = followed.index()
    now = replace(index.now, signature="no statement", deltas=())
    others = (
        generation for generation in index.generations if generation.generation != index.current
    )
    followed.forge(replace(index, generations=(now, *others)))
    before = content_of(followed.store)
    with pytest.raises(DatasetError, match="not a signed document"):
        followed.poll()
    publish(named(tmp_path / "other", "other", 4), tmp_path / "origin")
    mirror(tmp_path / "origin", tmp_path / "www")
    other = replace(followed, folder=tmp_path / "www")
    followed.site.plan[:] = [folder_act(tmp_path / "www")]
    other.forge(replace(other.index(), name="geo"))
    with pytest.raises(DatasetError, match="is the dataset 'other', but the index says 'geo'"):
        followed.poll()
    assert content_of(followed.store) == before


install = import_module("geolookup.mirrors.install")
BEFORE = Status(url="https://x/", serial=7)
POLLED = PollResult("updated", "a" * 64, 5, "pack", 9, "", "f")


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


def install_in(fake: Fake, store: Path, monkeypatch: pytest.MonkeyPatch) -> PollResult:
    monkeypatch.setattr(child, "_start", lambda: fake)
    return child.install_in_child(Source("https://x/", store, 3), store / "index.json", BEFORE)


def error_line(error: Exception, store: Path) -> str:
    return json.dumps({"error": child._error_arguments(error, store)}) + "\n"


def test_the_follower_asks_and_takes_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Fake(json.dumps({"polled": asdict(POLLED)}) + "\n")
    assert install_in(fake, tmp_path, monkeypatch) == POLLED
    asked = fake.stdin.getvalue()
    assert asked.endswith("\n")
    assert json.loads(asked) == {
        "source": {
            "url": "https://x/",
            "store": str(tmp_path),
            "keep": 3,
            "keep_for": None,
            "limit_rate": None,
        },
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
        ("", -40, store, "the installation was killed by signal 40", None),
        ('{"polled": ', 1, store, "the installation ended with status 1", None),
        ("", 0, store, "the installation ended with status 0", None),
    ):
        with pytest.raises(MirrorError) as caught:
            install_in(Fake(answer, status), store, monkeypatch)
        actual = caught.value
        assert [Path(actual.path), actual.problem, actual.wait] == expected


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
    request, full = Source("https://x/", tmp_path, 3, 1000), OutputError(tmp_path, "full", "wait")
    stated = {**asdict(request), "store": str(tmp_path)}
    line = json.dumps({"source": stated, "index": "i", "before": asdict(BEFORE)}) + "\n"
    signals: dict[int, Any] = {}
    called: list[object] = []

    def installed(*arguments: object) -> PollResult:
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
    assert child.command("a.b", "c") == [sys.executable, "-P", "-m", "a.b", "c"]
    monkeypatch.setattr(sys, "path", ["/a", "", "/b"])
    monkeypatch.setenv("KEPT", "1")
    environment = child.environment()
    assert (environment["PYTHONPATH"], environment["KEPT"]) == (f"/a{os.pathsep}/b", "1")
    content, killed = [b"x", b"\n", b""], []
    monkeypatch.setattr(os, "read", lambda _descriptor, _size: content.pop(0))
    monkeypatch.setattr(os, "kill", lambda *to: killed.append(to))
    child._wait()
    assert (content, killed) == ([], [(os.getpid(), signal.SIGTERM)])
