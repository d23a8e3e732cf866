"""The cache: an entry is made once, the last used are kept, and none that others can change."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from geolookup.errors import OutputError, SettingsError
from tests.damage import given_away
from tests.internals.filesystem import atomic, cache


@pytest.fixture(autouse=True)
def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o755)
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "datasets"


def find(folder: Path) -> bytes | None:
    file = folder / "file"
    return file.read_bytes() if file.is_file() and cache.is_safe(folder) else None


def make(folder: Path) -> None:
    with atomic.staged_folder(folder, 0o755) as fresh:
        (fresh / "file").write_bytes(b"x" * 100)
        (fresh / "file").chmod(0o644)


def opened(name: str, at: int = 0) -> None:
    """Open an entry, used at a time."""
    assert cache.open_cached(name, find, make) == b"x" * 100
    os.utime(cache.entries_folder() / name, (at, at))


def names(entries: Path) -> set[str]:
    return {path.name for path in entries.iterdir() if not path.name.startswith(".")}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFO on this system")
def test_an_entry_is_made_once_and_again_if_it_is_damaged(entries: Path) -> None:
    made = list[Path]()

    def counted(folder: Path) -> None:
        made.append(folder)
        make(folder)

    for _ in range(2):
        assert cache.open_cached("a", find, counted) == b"x" * 100
    assert made == [entries / "a"]
    (entries / "a" / "file").unlink()
    cache.open_cached("a", find, counted)
    shutil.rmtree(entries / "a")
    os.mkfifo(entries / "a", 0o644)  # it would wait for its other end
    cache.open_cached("a", find, counted)
    assert len(made) == 3
    with pytest.raises(OutputError, match=r"b: cannot be opened after it was written"):
        cache.open_cached("b", find, lambda folder: None)


def test_the_least_recently_used_are_evicted(
    entries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But neither the one in use nor one that a process makes."""
    for at, name in enumerate("abc", 1):
        opened(name, at)
    opened("a", 4)
    monkeypatch.setenv(cache.SIZE_VARIABLE, "200B")
    opened("d", 5)
    assert names(entries) == {"a", "d"}
    monkeypatch.setenv(cache.SIZE_VARIABLE, "1B")

    def made_meanwhile(folder: Path) -> None:
        opened("b", 6)
        assert names(entries) == {"a", "b"}
        make(folder)

    (entries / "a" / "file").unlink()
    cache.open_cached("a", find, made_meanwhile)
    assert names(entries) == {"a"}
    opened("c", 7)
    assert names(entries) == {"c"}
    monkeypatch.setenv(cache.SIZE_VARIABLE, "much")
    opened("c")  # it is there
    with pytest.raises(SettingsError, match="GEOLOOKUP_CACHE_SIZE: 'much' is not a number of"):
        opened("d")


def test_an_error_names_another_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(OutputError) as caught:
        opened("a")
    assert str(tmp_path / "file" / "cache") in str(caught.value)
    assert str(caught.value).endswith(", or name another cache by $GEOLOOKUP_CACHE")


@pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
@pytest.mark.parametrize("place", ["a", "a/file"])
def test_an_entry_that_others_can_change_is_made_again(entries: Path, place: str) -> None:
    for mode in (0o777, 0o775, None):
        opened("a")
        (entries / "a" / "file").write_bytes(b"swapped")
        if mode is None:
            given_away(entries / place, entries)
        else:
            (entries / place).chmod(mode)
    opened("a")


@pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
def test_a_cache_that_others_can_change_is_refused(entries: Path) -> None:
    opened("a")
    for folder in (entries, entries.parent, entries.parent.parent):
        folder.chmod(0o777)
        with pytest.raises(OutputError) as caught:
            opened("a")
        problem = f"{folder}: every user may write it: no dataset of this cache can be trusted; run"
        assert str(caught.value).startswith(f"{problem} chmod go-w {folder} and remove {entries}")
        assert str(caught.value).endswith(", or name another cache by $GEOLOOKUP_CACHE")
        folder.chmod(0o755)
    opened("a")
