"""The log of an accounts file is written back in the background, and nothing is lost by it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from geolookup.gate import Accounts, accounts_file, open_accounts
from geolookup.gate.account_store import wall_clock
from tests.servers import until

ADMISSIONS = 1500


@pytest.fixture(params=[None])
def accounts(request: pytest.FixtureRequest, file: Path, plans: Path) -> Iterator[Accounts]:
    """The accounts of a file: with a background thread, unless they have a clock."""
    with open_accounts(f"sqlite:///{file}", plans, clock=request.param) as opened:
        yield opened


#: Without a background thread.
alone = pytest.mark.parametrize("accounts", [wall_clock], indirect=True)


def make_keys(accounts: Accounts, count: int) -> list[str]:
    """Make keys of 100 requests a second: so many that no test comes near it with one of them."""
    return [accounts.create_key(f"{count} {number}", "mid") for number in range(count)]


def busy(accounts: Accounts, keys: list[str], admissions: int = ADMISSIONS) -> None:
    for number in range(admissions):
        accounts.admit(keys[number % len(keys)])


def used_in(file: Path) -> int:
    """Return what the file itself says, without its log, after a complete checkpoint."""
    copy = file.with_name("copy.db")
    copy.write_bytes(file.read_bytes())
    with closing(sqlite3.connect(f"{copy.as_uri()}?immutable=1", uri=True)) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'account'").fetchone():
            return 0  # even the tables are in the log alone
        used: int = db.execute("SELECT sum(used) FROM account").fetchone()[0] or 0
    return used


def files(file: Path) -> list[str]:
    return [path.name for path in file.parent.glob("accounts.db*")]


def test_the_log_is_written_back_while_requests_go_on(file: Path, accounts: Accounts) -> None:
    keys = make_keys(accounts, 20)
    unwritten = file.read_bytes()
    busy(accounts, keys)
    # Only a checkpoint writes to the file itself. The file without its log is consistent only
    # after a complete checkpoint, which may not happen while requests go on.
    until(lambda: file.read_bytes() != unwritten)
    assert sum(row.used for row in accounts.usage()) == ADMISSIONS
    accounts.close()
    assert files(file) == ["accounts.db"]
    assert used_in(file) == ADMISSIONS


@pytest.mark.long
def test_closing_while_it_is_written_back_leaves_one_file(file: Path, accounts: Accounts) -> None:
    keys = make_keys(accounts, 50)
    for turn in range(1, 6):
        threads = [Thread(target=vars(accounts)["_store"].upkeep) for _ in range(3)]
        for thread in threads:
            busy(accounts, keys, 200)
            thread.start()
        accounts.close()
        for thread in threads:
            thread.join()
        accounts.close()
        assert files(file) == ["accounts.db"]
        assert used_in(file) == 600 * turn


@alone
def test_a_file_in_place_of_another_is_written_back(file: Path, accounts: Accounts) -> None:
    busy(accounts, make_keys(accounts, 20))
    store = vars(accounts)["_store"]
    store.upkeep()
    assert used_in(file) == ADMISSIONS
    store._drop()  # as after any error of the file
    for path in file.parent.glob("accounts.db*"):
        path.rename(path.with_name(f"old-{path.name}"))
    busy(accounts, make_keys(accounts, 10), 600)
    store.upkeep()
    assert used_in(file) == 600


@alone
def test_a_short_log_waits_and_a_long_one_does_not(
    file: Path, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts_file, "_PAUSE", 3600.0)
    monkeypatch.setattr(accounts_file, "_LONG", 1000)
    keys, store, written = make_keys(accounts, 40), vars(accounts)["_store"], []
    for _ in range(3):
        busy(accounts, keys, 600)
        store.upkeep()
        written.append(used_in(file))
    assert written == [600, 600, 1800]


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_process_writes_back_by_itself(file: Path, accounts: Accounts) -> None:
    keys = make_keys(accounts, 50)
    busy(accounts, keys)
    vars(accounts)["_store"].upkeep()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        try:
            busy(accounts, keys)
            vars(accounts)["_store"].upkeep()
            accounts.close()
        except BaseException:  # noqa: BLE001 - the tests go on in the parent alone
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert sum(row.used for row in accounts.usage()) == 2 * ADMISSIONS
    accounts.close()
    assert used_in(file) == 2 * ADMISSIONS
