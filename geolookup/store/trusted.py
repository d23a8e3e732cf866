"""The keys that a store trusts, and the datasets that it therefore accepts.

::

    STORE/trusted/*.pem    public keys (SubjectPublicKeyInfo); without the folder all is accepted

Strategy: every writer of the folder of a store is trusted, because the folder holds its pointer and
its generations. With keys that is only its owner, and root: a store that anybody else may change is
refused, and so is a folder without a key. Neither may silently accept everything.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError
from geolookup.filesystem import ReadErrors, atomic
from geolookup.filesystem.locks import sweep
from geolookup.filesystem.ownership import FILE_MODE, FOLDER_MODE, check_strictly
from geolookup.signing.keys import PublicKey, pem_of, read_public
from geolookup.signing.statement import serial_in, serial_of
from geolookup.signing.trust import Trust
from geolookup.store import pointer
from geolookup.store.changing import changing

_SUFFIX = ".pem"


def trust_of(store: str | os.PathLike[str]) -> Trust | None:
    """Return the requirements of a store: its keys, its dataset's name, and its greatest serial.

    None for a store that trusts no keys: it accepts every dataset. Raises DatasetError for a
    folder of keys that is empty, and if another user may change the store or its keys;
    KeyFileError for a bad key.
    """
    keys = keys_of(store)
    if not keys:
        return None
    return Trust(tuple(keys.values()), name_in(store), latest_serial(store))


def keys_of(store: str | os.PathLike[str]) -> dict[Path, PublicKey]:
    """Return the trusted keys of a store by their files; raises the errors of ``trust_of``."""
    folder = Path(store, pointer.TRUSTED)
    if not os.path.lexists(folder):
        return {}
    with ReadErrors(folder):
        paths = sorted(path for path in folder.iterdir() if path.suffix == _SUFFIX)
    check_strictly([*_files(Path(store)), folder, *paths])
    if not paths:
        remedy = f"add a key with 'geolookup signing-keys trust {store} KEY', or remove the folder"
        raise DatasetError(folder, f"no {_SUFFIX} file is in it", remedy)
    return {path: read_public(path) for path in paths}


def _files(store: Path) -> Iterator[Path]:
    """Yield the store, its pointer, and the files of its generations, as far as they exist."""
    folders = [store / name for name in (pointer.GENERATIONS, pointer.ARCHIVE, pointer.CHANGES)]
    yield store
    for path in (store / pointer.CURRENT, *folders):
        if os.path.lexists(path):
            yield path
    for folder in folders[1:]:
        with suppress(FileNotFoundError):
            yield from folder.iterdir()
    for entry in pointer.read(store):
        folder = Path(pointer.folder_of(store, entry.generation))
        with suppress(FileNotFoundError, NotADirectoryError):  # pruned meanwhile, or damaged
            yield from (folder, *folder.iterdir())


def trust(store: str | os.PathLike[str], keys: Iterable[PublicKey]) -> None:
    """Let a store trust keys, beside those that it trusts; a missing store is created.

    From the first key on it accepts nothing that no trusted key has signed. Raises DatasetError for
    a store that another user may change, OutputError for a folder that is not a store or cannot be
    written.
    """
    folder = Path(store, pointer.TRUSTED)
    with changing(Path(store), make=True):
        if not folder.exists():
            check_strictly(_files(Path(store)))
            with atomic.staged_folder(folder, FOLDER_MODE) as fresh:
                fresh.chmod(FOLDER_MODE)  # for everybody to read, whatever the umask
                _add(fresh, keys)
        else:
            check_strictly([*_files(Path(store)), folder])
            has_keys = any(folder.glob(f"*{_SUFFIX}"))  # else ``keys_of`` refuses it
            trusted = set(keys_of(store).values()) if has_keys else set()
            _add(folder, (key for key in keys if key not in trusted))


def trust_first(store: str | os.PathLike[str], keys: Collection[PublicKey]) -> None:
    """Let a store that trusts no key trust these.

    If it trusts keys already, these must be among them: a key that was removed from the store must
    not return with the next call. Raises DatasetError otherwise, and the errors of ``trust``.
    """
    if not keys:
        return
    if not os.path.lexists(Path(store, pointer.TRUSTED)):
        trust(store, keys)
    elif unknown := set(keys) - set(keys_of(store).values()):
        problem = f"trusts other keys than {', '.join(sorted(key.id for key in unknown))}"
        remedy = f"'geolookup signing-keys trust {store} KEY.pub' adds one"
        raise DatasetError(store, problem, remedy)


def _add(folder: Path, keys: Iterable[PublicKey]) -> None:
    for key in keys:
        with atomic.staged_file(folder / f"{key.id}{_SUFFIX}", FILE_MODE) as fresh:
            fresh.write_bytes(pem_of(key))


def distrust(store: str | os.PathLike[str], key_id: str) -> None:
    """Let a store no longer trust a key; without the last one it accepts every dataset.

    Raises DatasetError for a key that it does not trust.
    """
    with changing(Path(store), make=True):
        keys_by_path = keys_of(store)
        removed = [path for path, key in keys_by_path.items() if key.id == key_id]
        if not removed:
            remedy = f"run 'geolookup signing-keys trust {store}' for those that it trusts"
            raise DatasetError(store, f"does not trust the key {key_id}", remedy)
        for path in removed:
            path.unlink()
        # No folder: all is accepted. With an empty folder ``keys_of`` would refuse all.
        if len(removed) == len(keys_by_path):
            sweep(Path(store, pointer.TRUSTED))  # or leftovers of a killed process would keep it
            Path(store, pointer.TRUSTED).rmdir()


def name_in(store: str | os.PathLike[str]) -> str | None:
    """Return the name of the dataset in a store; None if no generation can be read."""
    for entry in reversed(pointer.read(store)):
        try:
            return read_manifest(pointer.folder_of(store, entry.generation)).metadata().name
        except DatasetError:
            continue
    return None


def latest_serial(store: str | os.PathLike[str]) -> int:
    """Return the greatest serial of a store's generations, also of withdrawn ones; 0 for none."""
    # Withdrawn ones too: after a rollback a mirror must not accept a withdrawn one again.
    return max((_serial(store, entry.generation) for entry in pointer.read(store)), default=0)


def _serial(store: str | os.PathLike[str], generation: str) -> int:
    """Return the serial of a generation, a folder or an archive; 0 without a signature."""
    if pointer.is_unpacked(store, generation):
        return serial_in(pointer.folder_of(store, generation))
    from geolookup.archives.head import open_archive  # imports Arrow: slow

    archive = Path(pointer.archive_of(store, generation))
    try:
        with open_archive(archive) as (head, _):
            return 0 if head.signature is None else serial_of(head.signature, archive)
    except DatasetError:
        return 0
