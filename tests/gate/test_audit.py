"""The audit log: an entry for each change of accounts, which a restore does not remove."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from geolookup.errors import AccountsError
from geolookup.gate import open_accounts
from tests.gate.conftest import START, Open, of
from tests.internals.gate import back_up, digest, restore
from tests.skips import names_in_utf8, optional


@names_in_utf8
def test_created_and_revoked_keys_are_logged(worker: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_USER", "alice\x1b[2J\u202e")
    accounts = worker()
    key = accounts.create_key("Acme", "free", environment="test")
    monkeypatch.delenv("SUDO_USER")
    for _ in range(2):  # the second revocation changes nothing
        worker().revoke(of(key))
    with pytest.raises(ValueError, match="has the plan"):
        accounts.create_key("Acme", "paid")
    created, revoked = accounts.log()
    assert (created.at, created.action, created.key) == (START, "created", of(key))
    assert (created.account, created.detail) == ("Acme", "plan free, test")
    assert created.sudo_user == "alice\\x1b[2J\\u202e"
    assert (revoked.action, revoked.key, revoked.account) == ("revoked", of(key), "Acme")
    assert revoked.sudo_user is revoked.detail is None
    for entry in (created, revoked):
        assert (entry.uid, bool(entry.user)) == (os.getuid(), True)
        assert key[9:] not in repr(entry)
        assert (digest(key) or b"").hex() not in repr(entry)


def test_no_change_without_its_entry(url: str, worker: Open, file: Path) -> None:
    accounts = worker()
    key = accounts.create_key("Acme", "free")
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(file)) as db:
            db.execute("DROP TABLE log")
    else:
        with optional("redis").Redis.from_url(url) as client:
            client.delete("geolookup:log")
            client.set("geolookup:log", "not a list")
    for change in (
        lambda: accounts.create_key("Acme", "free"),
        lambda: accounts.create_key("Other", "free"),
        lambda: accounts.revoke(of(key)),
        accounts.log,
    ):
        with pytest.raises(AccountsError):
            change()
    api_keys = accounts.keys()
    assert [one.revoked for one in api_keys] == [False]
    assert [one.name for one in accounts.usage()] == ["Acme"]


def test_the_log_survives_a_restore(worker: Open, file: Path, tmp_path: Path) -> None:
    url, backup = f"sqlite:///{file}", tmp_path / "backup"
    accounts = open_accounts(url)
    accounts.create_key("Acme", "free")
    back_up(url, backup)
    late = accounts.create_key("Late", "free")
    accounts.revoke(of(late))
    before = accounts.log()
    restore(url, backup)
    *kept, entry = accounts.log()
    assert kept == before
    assert (entry.action, entry.key, entry.account) == ("restored", None, None)
    assert entry.detail == f"from {backup}, accounts: 1, keys: 1"
    accounts.close()
    file.unlink()
    restore(url, backup)  # of a missing file it restores the log too
    with open_accounts(url) as accounts:
        log = [(entry.action, entry.account) for entry in accounts.log()]
        assert log == [("created", "Acme"), ("restored", None)]
