"""What a killed process held returns, and never more than it held."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import cast
from unittest.mock import Mock

import pytest

from geolookup.errors import AccountsError
from geolookup.gate import Accounts, maintenance, open_accounts
from geolookup.gate.account_store import Key, Store
from geolookup.gate.held_tokens import HeldTokens, Record
from geolookup.gate.leases import Tokens
from tests.cli.program import python
from tests.conftest import ROOT
from tests.servers import PATIENCE, until
from tests.skips import names_in_utf8
from tests.tiers import scaled

#: It holds what it leased until it is killed: its background thread does nothing. Arguments: the
#: store, the plans, the key, and how many processes it forks that stay.
_HOLDER = """
import os, sys, time
from geolookup.gate import accounts, maintenance
maintenance._PAUSE = 3600
url, plans, key, forks = sys.argv[1:]
opened = accounts.open_accounts(url, plans)
for _ in range(3):
    opened.admit(key)
for _ in range(int(forks)):
    if not os.fork():
        time.sleep(3600)
print("ready", flush=True)
time.sleep(3600)
"""


def holder(url: str, plans: Path, key: str, forks: int = 0) -> subprocess.Popen[bytes]:
    """Start a process that is admitted three times and holds a lease."""
    command = [sys.executable, "-W", "ignore", "-c", _HOLDER, url, str(plans), key, str(forks)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, process_group=0 if forks else None
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.stdout.close()
    return process


def used(accounts: Accounts) -> int:
    return accounts.usage()[0].used


def test_a_worker_keeps_what_it_holds_until_it_is_killed(url: str, plans: Path) -> None:
    with open_accounts(url, plans) as accounts:
        key = accounts.create_key("Acme", "endless")
        with holder(url, plans, key) as living:
            held = used(accounts)
            accounts.return_ended()
            assert used(accounts) == held > 4
            living.kill()
        accounts.admit(key)  # its background thread starts
        until(lambda: used(accounts) == 4)
        accounts.return_ended()  # what was returned is not returned again
        assert used(accounts) == 4
    assert not accounts._store.leases_folder().exists()


def test_killed_workers_are_searched_for_in_one_run_of_five(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs, enough = list[str](), Event()

    def give_back() -> None:
        runs.append("give back")
        if len(runs) > 20:
            enough.set()

    monkeypatch.setattr(maintenance, "_PAUSE", 0)
    thread = maintenance.Maintenance(Mock(), give_back, lambda: runs.append("search"), Mock())
    assert enough.wait(PATIENCE)
    thread.stop()
    assert runs[:12] == [*["give back", "search"], *["give back"] * 4] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_a_killed_worker_does_not_hold_its_tokens(url: str, plans: Path) -> None:
    with open_accounts(url, plans) as accounts:
        key = accounts.create_key("Acme", "endless")
        with holder(url, plans, key, forks=1) as killed:
            killed.kill()
            killed.wait()
            try:
                accounts.admit(key)  # its background thread starts
                until(lambda: used(accounts) == 4)
            finally:
                os.killpg(killed.pid, signal.SIGKILL)


#: Forks processes, each of which kills itself ``step`` lines of the gate later than the one before,
#: until one reaches the end. Each writes a byte for each admission; its clock goes on, so that it
#: leases, uses and returns tokens, and reuses them a second later. Prints the loss of each.
_KILLED = """
import itertools, os, signal, sys
from geolookup import gate
from geolookup.gate import open_accounts
from geolookup.errors import RateLimitError
from geolookup.gate.leases import BUCKET
url, plans, step = sys.argv[1:]
now = 1_795_132_800_000_000
accounts = open_accounts(url, plans, clock=lambda: now)

def work(key, lines, admitted):
    global now
    accounts.admission(key)
    left = itertools.count(lines, -1)
    def at_line(frame, event, _):
        if event == "line" and next(left) <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return at_line
    def at_call(frame, event, argument):
        of_gate = frame.f_code.co_filename.startswith(gate.__path__[0])
        return at_line(frame, event, argument) if of_gate else None
    sys.settrace(at_call)
    for wait, times in [(0, 3), (1, 2), (2, 1), (1, 2), (46, 5), (1, 5), (3, 1)]:
        now += wait * BUCKET
        if times % 2:  # else the next lease returns them
            accounts.give_back()
        for _ in range(times):
            try:
                accounts.admit(key)
                os.write(admitted, b".")
            except RateLimitError:
                pass
            now += 1000
    accounts.close()
    sys.settrace(None)
    os._exit(0)

for number, lines in enumerate(itertools.count(0, int(step))):
    key = accounts.create_key(f"after {lines} lines", "p")
    read, write = os.pipe()
    child = os.fork()
    if not child:
        work(key, lines, write)
    _, status = os.waitpid(child, 0)
    os.close(write)
    admitted = os.read(read, 1000).count(b".")
    accounts.return_ended()
    print(accounts.usage()[number].used - admitted)
    os.close(read)
    if status != signal.SIGKILL:
        assert admitted == 19 and status == 0
        break
accounts.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_line_a_worker_loses_one_lease_at_most(tmp_path: Path) -> None:
    url, plans = f"sqlite:///{tmp_path}/accounts.db", tmp_path / "plans.toml"
    plans.write_text("[plan.p]\nrate = 640\n", encoding="utf-8")
    done = python(_KILLED, url, str(plans), str(scaled(41, 7)))
    losses = list(map(int, done.stdout.split()))
    assert len(losses) > 20
    assert min(losses) == losses[-1] == 0
    assert max(losses) <= 640 // 20 + 1
    assert sum(loss <= 1 for loss in losses) > len(losses) // 2


class Returned:
    """A store in which the digest of account N begins with N; it fails as often as it is told."""

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.tokens: list[tuple[int, int]] = []

    def find(self, digest: bytes) -> Key | None:
        account = int.from_bytes(digest, "little")
        return Key(digest, "live", account, "", "p", 0, None, revoked=False) if account else None

    def take_back(self, account: int, unused: Sequence[Tokens]) -> None:
        self.failures -= 1
        if self.failures >= 0:
            raise AccountsError("store", "failed", "try again")
        self.tokens += [(account, number) for bucket, number in unused if bucket == 0]


def returned(folder: Path, failures: int = 0) -> list[tuple[int, int]]:
    """Return accounts and tokens that a living process returns, as often as the store fails."""
    store, living = Returned(failures), HeldTokens(folder)
    for _ in range(failures):
        with pytest.raises(AccountsError):
            living.return_ended(cast(Store, store))
    for _ in range(2):
        living.return_ended(cast(Store, store))
    return sorted(store.tokens)


def hold(file: HeldTokens, account: int, tokens: int) -> Record:
    record = file.record(account.to_bytes(32, "little"))
    record.hold(tokens)
    return record


def ended(folder: Path, *held: tuple[int, int]) -> Path:
    """Leave the records of a process that has ended, with the tokens of accounts; in a file."""
    file = HeldTokens(folder)
    for account, tokens in held:
        hold(file, account, tokens)
    file.detach()
    (path,) = folder.iterdir()
    return path


def drop(record: Record) -> None:
    record.hold(0)
    record.release()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "leases"


def test_records_return_once_or_are_dropped(folder: Path) -> None:
    file, count = HeldTokens(folder), 2000
    records = [hold(file, number, number + 1) for number in range(count)]
    for record in records[::2]:
        drop(record)
    size = sum(path.stat().st_size for path in folder.iterdir())
    for _ in range(2 * count):  # in a place that was released
        drop(hold(file, count + 2, 1))
    assert sum(path.stat().st_size for path in folder.iterdir()) == size
    hold(file, count + 1, 1)
    file.detach()
    found = returned(folder)
    assert found == [(number, number + 1) for number in range(1, count, 2)] + [(count + 1, 1)]
    assert not folder.exists()
    path = ended(folder, (7, 5))
    start, _, rest = path.name.partition("-")
    path.rename(folder / f"{int(start) - 2_000_000}-{rest}")
    assert returned(folder) == []
    assert not folder.exists()
    ended(folder, (0, 5), (1, 6))
    assert returned(folder) == [(1, 6)]
    ended(folder, (1, 9), (2, 9), (3, 9))
    assert len(returned(folder, failures=1)) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_a_folder_of_others_is_not_believed(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    ended(folder, (1, 5))
    folder.chmod(0o777)
    assert returned(folder) == []
    other = HeldTokens(folder)
    with caplog.at_level(logging.WARNING, "geolookup"):
        for number in (1, 2):
            drop(hold(other, number, 3))
    (warning,) = caplog.records
    assert warning.message.startswith(f"{folder}: not a folder of this user alone; ")
    assert len(list(folder.iterdir())) == 1


@names_in_utf8
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="files of POSIX")
def test_other_things_in_the_folder_do_not_keep_tokens(folder: Path) -> None:
    ended(folder, (1, 5))
    for name in ("other.leases", "-.leases", "0²-.leases"):
        (folder / name).write_bytes(b"x")
    (folder / "0-a.leases").mkdir()
    (folder / "0-b.leases").symlink_to("0-b.leases")
    os.mkfifo(folder / "0-c.leases")
    assert returned(folder) == [(1, 5)]


def test_a_process_that_closes_leaves_only_records(folder: Path) -> None:
    one, two = HeldTokens(folder), HeldTokens(folder)
    empty = hold(one, 1, 4)
    hold(two, 2, 4)
    assert len(list(folder.iterdir())) == 2
    drop(empty)
    one.close()
    two.close()
    assert len(list(folder.iterdir())) == 1
    assert returned(folder) == [(2, 4)]
    assert not folder.exists()
