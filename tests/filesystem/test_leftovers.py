"""Temporary files and folders of dead processes are removed, those of living ones never.

Strategy: real processes, killed while they hold what they write.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from geolookup.filesystem import atomic, leftovers
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="flock is POSIX")

WRITER = """
import sys, time
from pathlib import Path
from geolookup.filesystem import atomic
with getattr(atomic, sys.argv[1])(Path(sys.argv[2])) as fresh:
    (fresh / "data" if fresh.is_dir() else fresh).write_bytes(bytes(1 << 16))
    print(fresh.name, flush=True)
    time.sleep(60)
"""


@contextmanager
def writing(kind: str, output: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that writes, and the name of its temporary file or folder."""
    command = [sys.executable, "-c", WRITER, kind, str(output)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.parametrize("kind", ["staged_folder", "staged_file"])
def test_what_a_killed_process_left_is_removed(tmp_path: Path, kind: str) -> None:
    with writing(kind, tmp_path / "old") as (process, left):
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert [path.name for path in tmp_path.iterdir()] == [left]
    with atomic.staged_folder(tmp_path / "new"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


@pytest.mark.parametrize("kind", ["staged_folder", "staged_file"])
def test_what_a_process_writes_stays(tmp_path: Path, kind: str) -> None:
    with writing(kind, tmp_path / "old") as (_, held):
        with atomic.staged_folder(tmp_path / "new"):
            pass
        assert {path.name for path in tmp_path.iterdir()} == {held, "new"}


def test_our_own_stays(tmp_path: Path) -> None:
    with atomic.staged_folder(tmp_path / "a") as one, atomic.staged_folder(tmp_path / "b") as two:
        assert one.is_dir()
        assert two.is_dir()
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}


def test_what_has_another_name_stays(tmp_path: Path) -> None:
    mark = "0123456789abcdef"
    names = [f".a.{mark}", f"a.geolookup-{mark}", f".a.geolookup-{mark}0", f".a.geolookup-{mark}.x"]
    for name in names:
        (tmp_path / name).mkdir()
    leftovers.sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(names)


def test_links_and_fifos_stay(tmp_path: Path) -> None:
    """And what a link names is not touched."""
    (tmp_path / "mine").mkdir()
    link, fifo = (leftovers.temporary_name(tmp_path / name) for name in ("link", "fifo"))
    link.symlink_to(tmp_path / "mine")
    os.mkfifo(fifo)
    leftovers.sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"mine", link.name, fifo.name}


def test_removed_before_it_is_locked(tmp_path: Path) -> None:
    """Another process may find the new folder before its lock is held."""
    fresh, created = leftovers.temporary_name(tmp_path / "a"), []

    def create() -> None:
        fresh.mkdir()
        created.append(fresh)
        if len(created) < 3:
            leftovers.sweep(tmp_path)

    with leftovers.claimed(fresh, create):
        leftovers.sweep(tmp_path)
        assert fresh.is_dir()
    assert len(created) == 3


@pytest.mark.parametrize("name", ["x" * 250 + ".html", "日" * 83 + ".html", "🌍" * 62 + ".html"])
def test_an_output_has_as_long_a_name_as_the_system_allows(tmp_path: Path, name: str) -> None:
    with atomic.staged_file(tmp_path / name) as fresh:
        fresh.write_text("new")
    with atomic.staged_folder(tmp_path / name[1:]) as folder:
        (folder / "a").touch()
    assert {path.name for path in tmp_path.iterdir()} == {name, name[1:]}
