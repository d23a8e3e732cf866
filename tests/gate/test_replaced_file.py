"""An accounts file that is replaced, removed or restored while a service uses it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from geolookup.errors import InvalidKeyError
from geolookup.gate import open_accounts
from tests.cli.program import umask
from tests.gate.conftest import SECOND, FakeClock, Open, of, outcomes
from tests.internals.gate import accounts_file, back_up

PLANS_OF = ("mid", "endless")


@pytest.fixture
def url(file: Path) -> str:
    return f"sqlite:///{file}"


#: What is raised for a key: it is admitted or refused.
IN, OUT = None, InvalidKeyError


def test_another_file_renamed_to_the_path_counts_within_a_second(
    worker: Open, clock: FakeClock, url: str, file: Path, tmp_path: Path
) -> None:
    admin, services = worker(), [worker(), worker()]
    old = [admin.create_key(plan, plan) for plan in PLANS_OF]
    back_up(url, backup := tmp_path / "backup")
    new = admin.create_key("New", "mid")
    for service in services:
        assert outcomes(service, [*old, new]) == [IN] * 3
    backup.replace(file)
    clock.now += SECOND
    for service in services:
        assert outcomes(service, [*old, new]) == [IN, IN, OUT]
    admin.revoke(of(old[0]))
    clock.now += SECOND
    for service in [*services, worker()]:
        assert outcomes(service, [*old, new]) == [OUT, IN, OUT]
        service.close()
    admin.close()
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT count(*), sum(revoked) FROM key").fetchone() == (2, 1)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_the_file_and_its_log_are_for_their_owner(url: str, file: Path, mask: int) -> None:
    with umask(mask), open_accounts(url) as accounts:
        accounts.create_key("Acme", "free")
        modes = [stat.S_IMODE(path.stat().st_mode) for path in file.parent.glob("accounts.db*")]
    assert modes == [0o600] * 3


def test_a_long_log_is_written_back_while_the_file_is_in_use(
    worker: Open, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts_file, "_CHECKPOINT", 20)
    accounts = worker()
    for number in range(20):
        accounts.create_key(f"account {number}", "mid")
    # Until then the file has not even tables.
    assert b"account 0" in file.read_bytes()


#: Notes each sync of a log, as a byte.
_SHIM = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int note(int fd) {
    char link[64], name[4096] = {0};
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, name, sizeof name - 1) < 0 || !strstr(name, "-wal")) return 0;
    int log = open(getenv("SYNCED"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    return write(log, ".", 1) == 1 ? close(log) : -1;
}
int fsync(int fd) { return note(fd); }
int fdatasync(int fd) { return note(fd); }
"""
_CHANGES = """
import os, sys
from geolookup.gate import open_accounts
from geolookup.gate.keys import digest, identifier
url, account, log = sys.argv[1:]
with open_accounts(url, clock=lambda: 10**15) as accounts:
    def synced(change, *given):
        before = os.path.getsize(log)
        change(*given)
        return os.path.getsize(log) - before
    key = accounts.create_key(account, "paid")
    accounts.admit(key)  # SQLite syncs the head of a new log
    print(*(synced(accounts.admit, key) for _ in range(3)))
    print(synced(accounts.revoke, identifier(digest(key))))
    print(synced(accounts.create_key, account, "paid"))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="interposes the system's calls")
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_new_and_revoked_keys_reach_the_disk_at_once(url: str, tmp_path: Path) -> None:
    shim, log = tmp_path / "shim.so", tmp_path / "synced"
    compile_it = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(shim)]
    subprocess.run(compile_it, input=_SHIM, text=True, check=True)
    for option, syncs in (("", "0"), ("?synchronous=full", "1")):
        account = f"account{option}"
        done = subprocess.run(
            [sys.executable, "-c", _CHANGES, url + option, account, str(log)],
            cwd=tmp_path,  # LD_PRELOAD is separated by blanks, which the folder's path may have
            env={**os.environ, "LD_PRELOAD": f"./{shim.name}", "SYNCED": str(log)},
            capture_output=True,
            text=True,
            check=True,
        )
        admitted, revoked, created = done.stdout.splitlines()
        # Unless it is asked for, the usage is not worth a sync for each request.
        assert admitted.split() == [syncs] * 3
        assert int(revoked) > 0
        assert int(created) > 0
