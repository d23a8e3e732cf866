"""Another user of the machine against a store that trusts keys; needs root.

Root publishes a signed folder that belongs to the other user, under an open umask. That user then
overwrites the folder in its place, by a dataset whose checksums are right, and tries to write,
replace, rename and remove everything in the store. ``lookup`` and ``serve`` must answer as before.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import geolookup
from tests.cli.program import refusal, run, umask
from tests.damage import copied
from tests.http.serving import serving, sqlite_store
from tests.internals.store import trust
from tests.signing.keys import key_files, private_keys, public
from tests.store.numbered import answers_of, id_of, shared

OTHER = 54321
Changes = Iterator[Callable[[], object]]


def attack() -> None:
    if os.name != "posix" or os.geteuid() != 0:
        print("not run: only root gives files to another user")
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        source, store = folder / "source", folder / "store"
        with umask(0):
            _publish(source, store)
        _serve_meanwhile(folder, source, store)
        _refuse_what_others_may_write(source, store)


def _publish(source: Path, store: Path) -> None:
    geolookup.sign(copied(shared(1), source), key_files()[0])
    for path in (source, *source.iterdir()):
        os.chown(path, OTHER, OTHER)
    trust(store, [private_keys()[0].public])
    geolookup.publish(source, store)


def _serve_meanwhile(folder: Path, source: Path, store: Path) -> None:
    accounts, trusted = sqlite_store(folder), str(public(key_files()[0]))
    headers = [("X-API-Key", accounts.key())]
    options = ("--dataset", str(store), "--trusted-key", trusted, "--watch", "0.05")
    with serving(accounts, folder, *options) as server:
        overwritten = _as_other(_overwriting(source))
        assert overwritten == len(list(source.iterdir())), "the attack does not reach the source"
        done = _as_other(_tampering(store))
        answer = server.ask("?ip=8.8.8.8", headers)
        actual = run("lookup", "8.8.8.8", "--dataset", str(store)).stdout
    print(f"{overwritten} files of the source overwritten, {done} changes of the store")
    assert done == 0
    assert answers_of(store) == answers_of(shared(1)) != answers_of(source)
    assert b"Town 1" in answer.body
    assert answer.headers["x-dataset-generation"] == id_of(1)
    assert "Town 1" in actual
    geolookup.verify(store, trusted_keys=trusted)


def _overwriting(source: Path) -> Changes:
    for path in source.iterdir():
        other = shared(2) / path.name
        content = (other if other.exists() else path).read_bytes()  # its unchanged signature
        yield lambda path=path, content=content: path.write_bytes(content)  # type: ignore[misc]


def _tampering(store: Path) -> Changes:
    """Yield all ways to change a store that the modes of its files could allow."""
    for path in (store, *store.rglob("*")):
        change: list[Callable[[Path], object]] = [
            lambda path: path.rename(path.with_name("aside")),
            lambda path: path.chmod(0o777),
        ]
        if path.is_dir():
            change += [lambda path: (path / "new.pem").touch(), shutil.rmtree]
        else:
            change += [lambda path: path.write_bytes(b""), Path.unlink]
        if path.name == ".lock":  # whoever can open it can lock it for ever
            change.append(Path.read_bytes)
        yield from (partial(act, path) for act in change)


def _as_other(changes: Changes) -> int:
    """Return how many changes the other user can make, in a process of that user."""
    listed = list(changes)  # that user cannot read the other dataset
    child = os.fork()
    if child == 0:
        done = 0
        try:
            os.setgroups([])
            os.setgid(OTHER)
            os.setuid(OTHER)
            done = sum(map(_is_done, listed))
        except BaseException:  # noqa: BLE001 - a forked process must not run on
            done = 255
        os._exit(done)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _is_done(change: Callable[[], object]) -> bool:
    try:
        change()
    except OSError:
        return False
    return True


def _refuse_what_others_may_write(source: Path, store: Path) -> None:
    """Refuse to publish into a store whose keys another user can move aside."""
    store.chmod(0o777)
    assert _as_other(iter([lambda: (store / "trusted").rename(store / "aside")])) == 1
    (store / "aside").rename(store / "trusted")
    line = refusal("store", "publish", str(source), "--store", str(store))
    print(line)
    assert line == f"{store}: every user may write it; run chmod go-w {store}"
