"""Killed restores beside a running service: accounts are old or new, never both.

Two backups are restored in turn, and each restore is killed at a random moment: the accounts come
from one backup, with one entry of the audit log for each that came through.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from geolookup.gate import open_accounts
from tests.conftest import ROOT
from tests.gate.conftest import MORE_ACCOUNTS
from tests.http.serving import Store, serving, sqlite_store
from tests.internals.gate import back_up

#: Restores that are killed.
_KILLS = 60


def attack() -> None:
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        store = sqlite_store(folder)
        backups = [_backup(store, folder, name) for name in ("first", "second")]
        store.key()  # a service does not start without accounts
        with serving(store, folder, workers=2):
            _kill(store, backups)


def _backup(store: Store, folder: Path, name: str) -> Path:
    """Return a backup whose accounts all begin with a name."""
    origin = f"sqlite:///{folder}/{name}.db"
    with open_accounts(origin, store.plans) as accounts:
        accounts.create_key(name, "endless")
    back_up(origin, folder / name)
    with closing(sqlite3.connect(folder / name)) as db:
        db.executescript(MORE_ACCOUNTS)
    return folder / name


def _restore(store: Store, backup: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "geolookup", "accounts", "restore", str(backup)]
    command += ["--accounts", store.url]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)


def _kill(store: Store, backups: list[Path]) -> None:
    rng, restored = random.Random(5), 0
    with open_accounts(store.url, store.plans) as accounts:
        began = time.monotonic()
        assert _restore(store, backups[1]).wait() == 0
        longest = 1.2 * (time.monotonic() - began)
        before = len(accounts.log())
        for number in range(_KILLS):
            process = _restore(store, backups[number % 2])
            time.sleep(rng.uniform(0, longest))
            process.kill()
            restored += process.wait() == 0
            names = [usage.name.partition(" ")[0] for usage in accounts.usage()]
            assert len({*names}) == 1, {*names}
            assert len(names) in (1, 2_000)
        entries = len(accounts.log()) - before
    print(f"{_KILLS} kills: {restored} restores had ended, {entries} are in the audit log")
    # One that is killed after its commit is in the log, and did not end by itself.
    assert 0 < restored <= entries <= _KILLS
