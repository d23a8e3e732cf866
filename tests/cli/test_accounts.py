"""``geolookup accounts`` as a shell runs it."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from geolookup.gate import open_accounts
from tests.cli.program import run


@pytest.fixture
def url(tmp_path: Path) -> str:
    found = f"sqlite:///{tmp_path}/a.db"
    with open_accounts(found) as accounts:
        accounts.create_key("Acme", "free")
    return found


def names(url: str) -> list[str]:
    with open_accounts(url) as accounts:
        return [each.name for each in accounts.usage()]


def test_a_backup_and_its_restore(url: str, tmp_path: Path) -> None:
    backup = str(tmp_path / "backup")
    done = run("accounts", "backup", backup, "--accounts", url)
    assert (done.returncode, done.stdout) == (0, f"{backup}: accounts: 1, keys: 1\n")
    assert done.stderr == ""
    with open_accounts(url) as accounts:
        accounts.create_key("Late", "free")
    again = run("accounts", "backup", backup, "--accounts", url)
    assert again.returncode == 2
    assert "exists already" in again.stderr
    done = run("accounts", "restore", backup, "--accounts", url)
    assert done.stdout == f"{url}: accounts: 1, keys: 1, restored from {backup}\n"
    assert done.returncode == 0
    assert names(url) == ["Acme"]
    assert run("accounts", "backup", backup, "--accounts", url, "--force").returncode == 0


@pytest.mark.parametrize(
    "kind", ["missing", "folder", "pipe", "text", "database", "damaged", "itself"]
)
def test_what_is_no_backup_changes_nothing(url: str, tmp_path: Path, kind: str) -> None:
    backup = tmp_path / "backup"
    if kind == "folder":
        backup.mkdir()
    elif kind == "pipe":
        os.mkfifo(backup)
    elif kind == "text":
        backup.write_text("x" * 5000)
    elif kind == "database":
        with sqlite3.connect(backup) as db:
            db.execute("CREATE TABLE account (id)")
        db.close()
    elif kind == "damaged":
        run("accounts", "backup", str(backup), "--accounts", url)
        content = bytearray(backup.read_bytes())
        content[1024:] = b"\xa5" * (len(content) - 1024)
        backup.write_bytes(content)
    elif kind == "itself":
        backup = tmp_path / "a.db"
    done = run("accounts", "restore", str(backup), "--accounts", url)
    assert done.returncode == 2
    assert str(backup) in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert ("no such file" in done.stderr) == (kind == "missing")
    assert names(url) == ["Acme"]


def test_a_damaged_accounts_file_is_moved_away_before_it_is_restored(
    url: str, tmp_path: Path
) -> None:
    backup, live = str(tmp_path / "backup"), tmp_path / "a.db"
    run("accounts", "backup", backup, "--accounts", url)
    live.write_bytes(b"\xa5" * 5000)
    done = run("accounts", "restore", backup, "--accounts", url)
    assert done.returncode == 2
    assert "if it is damaged, move it, its -wal and its -shm away" in done.stderr
    for each in tmp_path.glob("a.db*"):
        each.rename(tmp_path / f"old-{each.name}")
    assert run("accounts", "restore", backup, "--accounts", url).returncode == 0
    assert names(url) == ["Acme"]


def test_the_accounts_file_is_not_its_own_backup(url: str, tmp_path: Path) -> None:
    done = run("accounts", "backup", str(tmp_path / "a.db"), "--accounts", url, "--force")
    assert done.returncode == 2
    assert "itself" in done.stderr
    assert names(url) == ["Acme"]


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_stores_that_have_their_own_backups(tmp_path: Path, command: str) -> None:
    at = ("--accounts", "redis://:secret@127.0.0.1:1/0")
    done = run("accounts", command, str(tmp_path / "x"), *at)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "secret" not in done.stderr
    assert list(tmp_path.iterdir()) == []
