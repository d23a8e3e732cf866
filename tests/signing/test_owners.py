"""Who owns and may write what a store trusts: nobody else changes what was verified."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import DatasetError
from tests.cli.program import umask
from tests.internals.archives import pack
from tests.internals.dataset import layout as fmt
from tests.internals.history import prune, rollback
from tests.internals.integrity import integrity, verify
from tests.internals.signing import SIGNATURE, read_signature, read_statement
from tests.internals.signing import PrivateKey as Key
from tests.internals.store import copy_file, distrust, keys_of, manifest_text, sign, trust
from tests.signing.keys import Paths, public
from tests.signing.test_trusted_store import refused
from tests.skips import as_root, needs
from tests.store.numbered import answers_of, generation, id_of, number, shared

pytestmark = [
    needs("cryptography"),
    pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX"),
]
OTHER = 54321


def overwrite(source: Path, other: Path) -> None:
    """Replace the content of each file in its place, as whoever may write it can at any time."""
    for path in source.iterdir():
        content = (other / path.name).read_bytes()
        with path.open("r+b") as file:
            file.truncate(len(content))
            file.write(content)


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


@pytest.mark.parametrize("trusts", [True, False])
def test_a_source_that_changes_after_the_publication(
    store: Path, datasets: Paths, ours: Key, *, trusts: bool
) -> None:
    """Its owner writes it in its place: a hard link in the store would change too."""
    if not trusts:
        distrust(store, ours.public.id)
    sign(datasets[2], ours)
    geolookup.publish(datasets[2], store)
    shutil.copy(datasets[2] / SIGNATURE, datasets[1])  # as many files
    overwrite(datasets[2], datasets[1])
    verify(store, deep=True)
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


def parts(store: Path) -> list[Path]:
    """What decides about the answers of a store that trusts keys."""
    (key,) = (store / "trusted").iterdir()
    folder = next((store / "generations").iterdir())
    inside = [folder, folder / fmt.MANIFEST, folder / fmt.LOCATION, folder / SIGNATURE]
    return [store, store / "trusted", key, store / "current", folder.parent, *inside]


def changes(store: Path, datasets: Paths, ours: Key) -> list[Callable[[], object]]:
    return [
        lambda: geolookup.publish(datasets[1], store),
        lambda: rollback(store, signing_keys=ours),
        lambda: trust(store, [ours.public]),
        lambda: distrust(store, ours.public.id),
        lambda: sign(store, ours),
        lambda: keys_of(store),
    ]


def test_a_store_that_others_may_write_is_refused(
    store: Path, datasets: Paths, tmp_path: Path, ours: Key
) -> None:
    for path in [*parts(store), tmp_path]:
        mode = path.stat().st_mode
        for more, problem in ((0o002, "every user may write it"), (0o020, "its group may")):
            path.chmod(mode | more)
            for change in changes(store, datasets, ours)[0 if path == store else -1 :]:
                refused(store, change, f"^{path}: {problem}.*; run chmod")
        path.chmod(mode)
    geolookup.publish(datasets[1], store)


@as_root
def test_a_store_of_another_user_is_refused(store: Path, datasets: Paths, ours: Key) -> None:
    for path in parts(store):
        os.chown(path, OTHER, -1)
        for change in changes(store, datasets, ours)[0 if path == store else -1 :]:
            refused(store, change, f"^{path}: belongs to {OTHER}, who can change it; run this as")
        os.chown(path, 0, -1)
    geolookup.publish(datasets[1], store)


def test_a_store_that_others_may_write_trusts_no_first_key(tmp_path: Path, ours: Key) -> None:
    store = tmp_path / "store"
    geolookup.publish(shared(0), store)
    store.chmod(0o777)
    refused(store, lambda: trust(store, [ours.public]), "every user may write it; run chmod go-w")
    geolookup.publish(shared(1), store)  # without keys it is for its users to say
    store.chmod(0o755)
    trust(store, [ours.public])


def test_an_engine_refuses_files_that_others_may_write(
    store: Path, datasets: Paths, key_files: Paths
) -> None:
    key = public(key_files[0])
    with geolookup.open(store, trusted_keys=key) as engine:
        sign(datasets[2], key_files[0])
        geolookup.publish(datasets[2], store)
        folder = store / "generations" / generation(datasets[2])
        for path in (folder, folder / fmt.LOCATION):
            mode = path.stat().st_mode
            path.chmod(mode | 0o002)
            for call in (engine.reload, lambda: geolookup.open(store, trusted_keys=key)):
                with pytest.raises(DatasetError, match=f"^{path}: every user may write it"):
                    call()
            path.chmod(mode)
        assert number(engine) == 1
        engine.reload()
        assert number(engine) == 2


@as_root
def test_an_engine_refuses_a_file_of_another_user(store: Path, key_files: Paths) -> None:
    """It may have the store of another user, who publishes for it."""
    key, folder = public(key_files[0]), next((store / "generations").iterdir())
    for path in (store, *store.rglob("*")):
        os.chown(path, OTHER, -1)
    geolookup.open(folder, trusted_keys=key).close()
    os.chown(folder / fmt.LOCATION, OTHER + 1, -1)
    with pytest.raises(DatasetError, match=f"location.arrow: belongs to {OTHER + 1}"):
        geolookup.open(folder, trusted_keys=key)


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
    with pytest.raises(DatasetError, match=r"signs another manifest\.json"):
        read_statement(signature, manifest_text(datasets[2]), [ours.public], "x")
