"""Who owns and may write what a store trusts: nobody else changes what was verified."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import DatasetError
from tests.cli.program import umask
from tests.internals.archives import pack
from tests.internals.dataset import layout as fmt
from tests.internals.dataset import manifest_text
from tests.internals.filesystem import copy_file
from tests.internals.history import prune, rollback
from tests.internals.integrity import integrity, verify
from tests.internals.signing import SIGNATURE, read_signature, read_statement
from tests.internals.signing import PrivateKey as Key
from tests.internals.store import distrust, keys_of, sign, trust
from tests.signing.keys import Paths
from tests.signing.test_trusted_store import folder_of, refused
from tests.skips import needs
from tests.store.numbered import answers_of, id_of, number, shared

pytestmark = [
    needs("cryptography"),
    pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX"),
]


def test_a_source_with_more_bytes_than_it_states(store: Path, datasets: Paths, ours: Key) -> None:
    """A file of holes costs its owner nothing, and its copy would fill the disk of the store."""
    sign(datasets[2], ours)
    path = datasets[2] / fmt.LOCATION
    size = path.stat().st_size
    os.truncate(path, 1 << 42)
    problem = f"location.arrow: {1 << 42:,} bytes, but the manifest says {size:,}"
    refused(store, lambda: geolookup.publish(datasets[2], store), problem)


@pytest.mark.parametrize("refused_by_system", [False, True])
def test_a_copy_has_the_stated_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, refused_by_system: bool
) -> None:
    """Whether the system copies or not, and whatever the source grows to meanwhile."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"stated")

    def copy(reads: int, _writes: int, count: int) -> int:
        os.truncate(source, 1 << 42)  # after its size was read
        if refused_by_system:
            raise OSError
        return original(reads, _writes, count)

    original = os.copy_file_range
    monkeypatch.setattr(os, "copy_file_range", copy)
    copy_file(source, target, 6)
    assert target.read_bytes() == b"stated"


def test_a_source_that_changes_after_the_publication(
    store: Path, datasets: Paths, ours: Key
) -> None:
    """Its owner writes it in its place: a hard link in the store would change too."""
    sign(datasets[2], ours)
    geolookup.publish(datasets[2], store)
    for path in datasets[2].iterdir():
        with path.open("r+b") as file:
            file.write(b"changed")
    verify(store)
    assert answers_of(store) == answers_of(shared(2))


def others_may_write(path: Path) -> list[Path]:
    return [item for item in (path, *path.rglob("*")) if item.stat().st_mode & 0o022]


def test_the_modes_of_a_store_whatever_the_umask(
    datasets: Paths, tmp_path: Path, ours: Key
) -> None:
    store, archive = tmp_path / "store", tmp_path / "archive"
    with umask(0):
        geolookup.publish(datasets[0], store)
        trust(store, [ours.public])
        for dataset in datasets[1:]:
            sign(dataset, ours)
            pack(dataset, archive, force=True)
            geolookup.publish(archive, store)
        sign(store, ours)
        rollback(store, signing_keys=ours)
        prune(store)
        geolookup.unpack(archive, tmp_path / "unpacked")
    assert others_may_write(store) == []
    assert others_may_write(tmp_path / "unpacked") == []
    assert stat.S_IMODE(store.stat().st_mode) == 0o755
    with umask(0o077):
        trust(tmp_path / "private", [ours.public])
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o700


PROBLEM = "every user may write it; run chmod go-w"


@contextmanager
def spoiled(path: Path) -> Iterator[None]:
    """Let every user write a path in the block."""
    before = path.stat().st_mode
    path.chmod(before | 0o002)
    yield
    path.chmod(before)


def test_a_store_that_others_may_write_is_refused(store: Path, datasets: Paths, ours: Key) -> None:
    """By each change of it, whichever part decides about its answers."""
    (key,) = (store / "trusted").iterdir()
    folder = folder_of(store, datasets[0])
    inside = [folder, folder / fmt.MANIFEST, folder / fmt.LOCATION, folder / SIGNATURE]
    changes: list[Callable[[], object]] = [
        lambda: keys_of(store),
        lambda: geolookup.publish(datasets[1], store),
        lambda: rollback(store, signing_keys=ours),
        lambda: trust(store, [ours.public]),
        lambda: distrust(store, ours.public.id),
        lambda: sign(store, ours),
    ]
    parts = [store / "trusted", key, store / "current", folder.parent, *inside, store.parent]
    for path in (store, *parts):
        with spoiled(path):
            for change in changes if path == store else changes[:1]:
                refused(store, change, f"^{path}: {PROBLEM}")
    geolookup.publish(datasets[1], store)


def test_a_store_that_others_may_write_trusts_no_first_key(tmp_path: Path, ours: Key) -> None:
    store = tmp_path / "store"
    geolookup.publish(shared(0), store)
    with spoiled(store):
        refused(store, lambda: trust(store, [ours.public]), PROBLEM)
        geolookup.publish(shared(1), store)  # without keys it is for its users to say
    trust(store, [ours.public])


def test_an_engine_refuses_files_that_others_may_write(
    store: Path, datasets: Paths, ours: Key
) -> None:
    with geolookup.open(store, trusted_keys=ours.public) as engine:
        sign(datasets[2], ours)
        geolookup.publish(datasets[2], store)
        folder = folder_of(store, datasets[2])
        for path in (folder, folder / fmt.LOCATION):
            for call in (engine.reload, lambda: geolookup.open(store, trusted_keys=ours.public)):
                with spoiled(path), pytest.raises(DatasetError, match=f"^{path}: {PROBLEM}"):
                    call()
        assert number(engine) == 1
        engine.reload()
        assert number(engine) == 2


def test_the_verified_manifest_is_signed(
    datasets: Paths, ours: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner replaces it by another one after the verification."""
    original = integrity.verify

    def then_replaced(folder: Path) -> integrity.Report:
        report = original(folder)
        shutil.copyfile(datasets[1] / fmt.MANIFEST, folder / fmt.MANIFEST)
        return report

    text = manifest_text(datasets[2])
    monkeypatch.setattr(integrity, "verify", then_replaced)
    sign(datasets[2], ours)
    signature = read_signature(datasets[2])
    assert signature is not None
    assert read_statement(signature, text, [ours.public], "x").generation == id_of(2)
