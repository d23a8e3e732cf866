"""The log of an accounts file is written back in the background, and nothing is lost by it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from geolookup.gate import Accounts, open_accounts
from tests.gate.conftest import Worker
from tests.internals.gate import Plan, Requests, accounts_file, wall_clock
from tests.servers import until


@pytest.fixture
def worker(file: Path, plans: Path) -> Iterator[Worker]:
    """Accounts of a file without a background thread."""
    with Worker(f"sqlite:///{file}", plans, wall_clock) as opened:
        yield opened


def make_keys(accounts: Accounts, count: int) -> list[str]:
    """Make keys of 100 requests a second: so many that no test comes near it with one of them."""
    return [accounts.create_key(f"{count} {number}", "mid") for number in range(count)]


def busy(accounts: Accounts, keys: list[str], admissions: int) -> None:
    for number in range(admissions):
        accounts.admit(keys[number % len(keys)])


def used_in(file: Path) -> int:
    """Return what the file itself says, without its log, after a complete checkpoint."""
    copy = file.with_name("copy.db")
    copy.write_bytes(file.read_bytes())
    with closing(sqlite3.connect(f"{copy.as_uri()}?immutable=1", uri=True)) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'account'").fetchone():
            return 0  # even the tables are in the log alone
        used: int = (
            db.execute(
                "SELECT sum(used) FROM (SELECT max(used) AS used FROM run GROUP BY account)"
            ).fetchone()[0]
            or 0
        )
    return used


def files(file: Path) -> list[str]:
    return [path.name for path in file.parent.glob("accounts.db*")]


def test_the_log_is_written_back_while_requests_go_on(file: Path, plans: Path) -> None:
    with open_accounts(f"sqlite:///{file}", plans) as accounts:
        keys = make_keys(accounts, 20)
        unwritten = file.read_bytes()
        busy(accounts, keys, 600)
        # Only a checkpoint writes to the file itself. The file without its log is consistent only
        # after a complete checkpoint, which may not happen while requests go on.
        until(lambda: file.read_bytes() != unwritten)
        assert sum(row.used for row in accounts.usage()) == 600
    assert files(file) == ["accounts.db"]
    assert used_in(file) == 600


@pytest.mark.long
def test_closing_while_it_is_written_back_leaves_one_file(file: Path, worker: Worker) -> None:
    keys = make_keys(worker, 50)
    for turn in range(1, 4):
        threads = [Thread(target=worker.store.upkeep) for _ in range(3)]
        for thread in threads:
            busy(worker, keys, 200)
            thread.start()
        worker.close()
        for thread in threads:
            thread.join()
        worker.close()
        assert files(file) == ["accounts.db"]
        assert used_in(file) == 600 * turn


def test_a_file_in_place_of_another_is_written_back(file: Path, worker: Worker) -> None:
    for made in (20, 10):
        busy(worker, make_keys(worker, made), 600)
        worker.store.upkeep()
        assert used_in(file) == 600
        for path in file.parent.glob("accounts.db*"):
            path.rename(path.with_name(f"old-{path.name}"))


def test_a_short_log_waits_for_a_second_and_a_long_one_does_not(
    file: Path, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, written = 500, list[int]()
    make_keys(worker, count)
    requests = [Requests(number, Plan("mid", 100, None)) for number in range(1, count + 1)]
    for now, times in ((100.0, 1), (100.9, 2), (101.0, 0), (101.9, 15), (101.9, 5)):
        monkeypatch.setattr(accounts_file, "monotonic", lambda now=now: now)
        for _ in range(times):
            worker.store.admit(requests)
        worker.store.upkeep()
        written.append(used_in(file) // count)
    assert written == [1, 1, 3, 3, 23]
