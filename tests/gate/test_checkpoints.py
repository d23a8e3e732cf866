"""The log of an accounts file is written back in the background, and nothing is lost by it."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from geolookup.gate import Accounts, checkpoints, open_accounts
from geolookup.gate.account_store import wall_clock

ADMISSIONS = 1500


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "accounts.db"


def busy(accounts: Accounts, keys: list[str]) -> None:
    for number in range(ADMISSIONS):
        accounts.admit(keys[number % len(keys)])


def used_in(file: Path, copy: Path) -> int:
    """Return what the file itself says, without its log, after a complete checkpoint."""
    copy.write_bytes(file.read_bytes())
    with closing(sqlite3.connect(f"file:{copy}?immutable=1", uri=True)) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'account'").fetchone():
            return 0  # even the tables are in the log alone
        found: int = db.execute("SELECT sum(used) FROM account").fetchone()[0] or 0
    return found


def test_the_log_is_written_back_while_requests_go_on(file: Path, plans: Path) -> None:
    with open_accounts(f"sqlite:///{file}", plans) as accounts:
        keys = [accounts.create_key(str(number), "mid") for number in range(20)]
        unwritten = file.read_bytes()
        busy(accounts, keys)
        ends = time.monotonic() + 10
        # Only a checkpoint writes to the file itself. The file without its log is consistent only
        # after a complete checkpoint, which may not happen while requests go on.
        while file.read_bytes() == unwritten and time.monotonic() < ends:
            time.sleep(0.05)
        assert file.read_bytes() != unwritten
        assert sum(row.used for row in accounts.usage()) == ADMISSIONS
    assert [path.name for path in file.parent.glob("accounts.db*")] == ["accounts.db"]
    assert used_in(file, file.with_name("copy.db")) == ADMISSIONS


@pytest.mark.long
def test_closing_while_it_is_written_back_leaves_one_file(file: Path, plans: Path) -> None:
    accounts = open_accounts(f"sqlite:///{file}", plans)
    keys = [accounts.create_key(str(number), "mid") for number in range(20)]
    for turn in range(1, 6):
        threads = [Thread(target=vars(accounts)["_store"].upkeep) for _ in range(3)]
        for number in range(600):
            accounts.admit(keys[number % len(keys)])
            if number % 200 == 0:
                threads[number // 200].start()
        accounts.close()
        for thread in threads:
            thread.join()
        accounts.close()
        assert [path.name for path in file.parent.glob("accounts.db*")] == ["accounts.db"]
        assert used_in(file, file.with_name("copy.db")) == 600 * turn
        time.sleep(1.01)  # the rate of each key


def test_a_file_put_in_place_of_another_is_the_one_written_back(file: Path, plans: Path) -> None:
    with open_accounts(f"sqlite:///{file}", plans, clock=wall_clock) as accounts:
        keys = [accounts.create_key(str(number), "mid") for number in range(20)]
        busy(accounts, keys)
        store = vars(accounts)["_store"]
        store.upkeep()
        assert used_in(file, file.with_name("copy.db")) == ADMISSIONS
        store._drop()  # as after any error of the file
        for path in file.parent.glob("accounts.db*"):
            path.rename(path.with_name(f"old-{path.name}"))
        more = [accounts.create_key(f"new {number}", "mid") for number in range(10)]
        for number in range(600):
            accounts.admit(more[number % len(more)])
        store.upkeep()
        assert used_in(file, file.with_name("copy.db")) == 600


def test_a_short_log_waits_and_a_long_one_does_not(
    file: Path, plans: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "_PAUSE", 3600.0)
    monkeypatch.setattr(checkpoints, "_LONG", 1000)
    with open_accounts(f"sqlite:///{file}", plans, clock=wall_clock) as accounts:
        keys = [accounts.create_key(str(number), "mid") for number in range(40)]
        store = vars(accounts)["_store"]
        written = []
        for _ in range(3):
            for number in range(600):
                accounts.admit(keys[number % len(keys)])
            store.upkeep()
            written.append(used_in(file, file.with_name("copy.db")))
        assert written == [600, 600, 1800]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_process_writes_back_by_itself(file: Path, plans: Path) -> None:
    with open_accounts(f"sqlite:///{file}", plans) as accounts:
        keys = [accounts.create_key(str(number), "mid") for number in range(20)]
        busy(accounts, keys)
        vars(accounts)["_store"].upkeep()
        time.sleep(1.01)
        child = os.fork()
        if child == 0:  # pragma: no cover - another process
            busy(accounts, keys)
            vars(accounts)["_store"].upkeep()
            accounts.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert sum(row.used for row in accounts.usage()) == 2 * ADMISSIONS
    assert used_in(file, file.with_name("copy.db")) == 2 * ADMISSIONS
