"""An accounts file is replaced, removed and restored under a loaded service of two workers."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from geolookup.gate import open_accounts
from geolookup.gate.keys import digest, identifier
from tests.http.load import Load
from tests.http.serving import Server, serving, sqlite_store

#: Seconds until every worker must have met a change, with time for a loaded machine.
_MET = 2.0
_ASKED = 40


def attack() -> None:
    """Print how each key is answered after each change; a change must count after a second."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        store = sqlite_store(folder)
        key, load = store.key(), store.key()
        file, backup = folder / "accounts.db", folder / "backup"
        _copy(file, backup)
        late = store.key()
        wrong = []
        with serving(store, folder, workers=2) as server, Load(server, load, threads=2):
            for name, change, expected in (
                ("before", lambda: None, (200, 200)),
                ("renamed over", lambda: _copy(backup, folder / "new").replace(file), (200, 401)),
                ("revoked then", lambda: _revoke(store.url, key), (401, 401)),
                ("removed", file.unlink, (503, 503)),
                ("put back", lambda: _copy(backup, file), (200, 401)),
                ("all removed", lambda: _remove_all(folder), (503, 503)),
                ("renamed in", lambda: _copy(backup, folder / "new").replace(file), (200, 401)),
            ):
                change()
                time.sleep(_MET)
                found = _answers(server, key), _answers(server, late)
                print(f"{name:<14} key {dict(found[0])}  late key {dict(found[1])}")
                if tuple(found) != tuple(Counter({each: _ASKED}) for each in expected):
                    wrong.append(name)
        with closing(sqlite3.connect(file)) as db:
            print("integrity     ", db.execute("PRAGMA integrity_check").fetchone()[0])
        assert not wrong, f"a change did not count: {', '.join(wrong)}"


def _answers(server: Server, key: str) -> Counter[int]:
    header = [("X-API-Key", key)]
    return Counter(server.ask("?ip=8.8.8.8", header).status for _ in range(_ASKED))


def _revoke(url: str, key: str) -> None:
    with open_accounts(url) as accounts:
        accounts.revoke(identifier(digest(key) or b""))


def _copy(file: Path, to: Path) -> Path:
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(to)) as target:
        source.backup(target)
    return to


def _remove_all(folder: Path) -> None:
    for path in folder.glob("accounts.db*"):
        path.unlink()
