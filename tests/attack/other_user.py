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
from pathlib import Path

import geolookup
from tests.cli.program import refusal, run, umask
from tests.damage import copied
from tests.http.serving import serving, sqlite_store
from tests.internals.store import trust
from tests.signing.keys import key_files, private_keys, public
from tests.store.numbered import answers_of, id_of, shared

OTHER = 54321


def attack() -> None:
    if os.name != "posix" or os.geteuid() != 0:
        print("not run: only root gives files to another user")
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        source, store = folder / "source", folder / "store"
        with umask(0):
            published(source, store)
        serve_meanwhile(folder, source, store)
        refuses_what_others_may_write(source, store)


def published(source: Path, store: Path) -> None:
    geolookup.sign(copied(shared(1), source), key_files()[0])
    for path in (source, *source.iterdir()):
        os.chown(path, OTHER, OTHER)
    trust(store, [private_keys()[0].public])
    geolookup.publish(source, store)


def serve_meanwhile(folder: Path, source: Path, store: Path) -> None:
    accounts = sqlite_store(folder)
    headers = [("X-API-Key", accounts.key())]
    options = (
        "--dataset",
        str(store),
        "--trusted-key",
        str(public(key_files()[0])),
        "--watch",
        "0.05",
    )
    with serving(accounts, folder, *options) as server:
        changes = list(overwriting(source))  # that user cannot read the other dataset
        overwritten = as_other(lambda: sum(map(is_done, changes)))
        assert overwritten == len(list(source.iterdir())), "the attack does not reach the source"
        done = as_other(lambda: sum(map(is_done, tampering(store))))
        answer = server.ask("?ip=8.8.8.8", headers)
        actual = run("lookup", "8.8.8.8", "--dataset", str(store)).stdout
    print(f"{overwritten} files of the source overwritten, {done} changes of the store")
    assert done == 0
    assert answers_of(store) == answers_of(shared(1)) != answers_of(source)
    assert b"Town 1" in answer.body
    assert answer.headers["x-dataset-generation"] == id_of(1)
    assert "Town 1" in actual
    geolookup.verify(store, trusted_keys=public(key_files()[0]))


def overwriting(source: Path) -> Iterator[Callable[[], object]]:
    for path in source.iterdir():
        other = shared(2) / path.name
        content = (other if other.exists() else path).read_bytes()  # its unchanged signature
        yield lambda path=path, content=content: path.write_bytes(content)  # type: ignore[misc]


def tampering(store: Path) -> Iterator[Callable[[], object]]:
    """Yield all ways to change a store that the modes of its files could allow."""
    for path in (store, *store.rglob("*")):
        yield lambda path=path: path.rename(path.with_name("aside"))  # type: ignore[misc]
        yield lambda path=path: path.chmod(0o777)  # type: ignore[misc]
        if path.is_dir():
            yield lambda path=path: (path / "new.pem").touch()  # type: ignore[misc]
            yield lambda path=path: shutil.rmtree(path)  # type: ignore[misc]
        else:
            yield lambda path=path: path.write_bytes(b"")  # type: ignore[misc]
            yield lambda path=path: path.unlink()  # type: ignore[misc]
        if path.name == ".lock":  # whoever can open it can lock it for ever
            yield lambda path=path: path.read_bytes()  # type: ignore[misc]


def is_done(change: Callable[[], object]) -> bool:
    try:
        change()
    except OSError:
        return False
    return True


def as_other(count: Callable[[], int]) -> int:
    """Return a small number that the other user counts, in a process of that user."""
    child = os.fork()
    if child == 0:
        status = 255
        try:
            os.setgroups([])
            os.setgid(OTHER)
            os.setuid(OTHER)
            status = count()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def refuses_what_others_may_write(source: Path, store: Path) -> None:
    """Refuse to publish into a store whose keys another user can move aside."""
    store.chmod(0o777)
    assert as_other(lambda: is_done(lambda: (store / "trusted").rename(store / "aside"))) == 1
    (store / "aside").rename(store / "trusted")
    line = refusal("store", "publish", str(source), "--store", str(store))
    print(line)
    assert line == f"{store}: every user may write it; run chmod go-w {store}"
