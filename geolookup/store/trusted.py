"""Signatures in a store: the keys that it trusts, and the datasets that it therefore accepts.

::

    STORE/trusted/*.pem    public keys (SubjectPublicKeyInfo); without the folder all is accepted

Strategy: every writer of the folder of a store is trusted, because the folder holds its pointer and
its generations. With keys that is only its owner, and root: a store that anybody else may change is
refused, and so is a folder without a key. Neither may silently accept everything.

``sign`` writes signatures. Of a generation only ``signature.json`` changes, by one rename. It is
not a file of the dataset: no engine maps it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

from geolookup.dataset.manifest import manifest_text, read_manifest
from geolookup.errors import DatasetError
from geolookup.filesystem import ReadErrors, atomic
from geolookup.filesystem.locks import sweep
from geolookup.filesystem.ownership import FILE_MODE, FOLDER_MODE, check_strictly
from geolookup.signing.keys import (
    PrivateKey,
    PublicKey,
    SigningKeys,
    pem_of,
    read_public,
    read_signing_keys,
)
from geolookup.signing.statement import (
    SIGNATURE,
    Statement,
    read_signature,
    read_statement,
    serial_in,
    serial_of,
    signed_statement,
)
from geolookup.signing.trust import Trust
from geolookup.store import pointer, resolve
from geolookup.store.changing import changing
from geolookup.store.paths import dataset_path

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
    check_strictly([*_files(Path(store)), *paths])
    if not paths:
        remedy = f"add a key with 'geolookup mirror keys trust {store} KEY', or remove the folder"
        raise DatasetError(folder, f"no {_SUFFIX} file is in it", remedy)
    return {path: read_public(path) for path in paths}


def _files(store: Path) -> Iterator[Path]:
    """Yield the store, its pointer, and the files of its generations, as far as they exist."""
    folders = [store / name for name in (pointer.ARCHIVE, pointer.CHANGES)]
    others = (store / name for name in (pointer.CURRENT, pointer.GENERATIONS, pointer.TRUSTED))
    yield from (path for path in (store, *folders, *others) if os.path.lexists(path))
    folders += (
        Path(pointer.folder_of(store, item.generation)) for item in pointer.read(store).published
    )
    for folder in folders:
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
        check_strictly(_files(Path(store)))
        if not folder.exists():
            with atomic.staged_folder(folder, FOLDER_MODE) as fresh:
                fresh.chmod(FOLDER_MODE)  # for everybody to read, whatever the umask
                _add(fresh, keys)
        else:
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
        remedy = f"'geolookup mirror keys trust {store} KEY.pub' adds one"
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
            remedy = f"run 'geolookup mirror keys trust {store}' for those that it trusts"
            raise DatasetError(store, f"does not trust the key {key_id}", remedy)
        for path in removed:
            path.unlink()
        # No folder: all is accepted. With an empty folder ``keys_of`` would refuse all.
        if len(removed) == len(keys_by_path):
            sweep(Path(store, pointer.TRUSTED))  # or leftovers of a killed process would keep it
            Path(store, pointer.TRUSTED).rmdir()


def name_in(store: str | os.PathLike[str]) -> str | None:
    """Return the name of the dataset in a store; None if no generation can be read."""
    for entry in reversed(pointer.read(store).published):
        try:
            return read_manifest(pointer.folder_of(store, entry.generation)).metadata().name
        except DatasetError:
            continue
    return None


def latest_serial(path: str | os.PathLike[str]) -> int:
    """Return the serial of a dataset, or the greatest one in a store; 0 without a signature.

    Withdrawn generations count: after a rollback a mirror must not accept a withdrawn one again.
    """
    from geolookup.archives.head import open_archive  # imports Arrow: slow

    latest = serial_in(path)
    for generation in (entry.generation for entry in pointer.read(path).published):
        latest = max(latest, serial_in(pointer.folder_of(path, generation)))  # 0 for an archive
        archive = Path(pointer.archive_of(path, generation))
        with suppress(DatasetError), open_archive(archive) as (head, _):
            if head.signature is not None:
                latest = max(latest, serial_of(head.signature, archive))
    return latest


def check_trusted(dataset: str | os.PathLike[str], trust: Trust) -> Statement:
    """Return the statement of a dataset that is accepted; DatasetError for any other.

    Reads manifest and signature only: ``verify`` checks the digests in the manifest.
    """
    return trust.check(manifest_text(dataset), read_signature(dataset), dataset)


def is_signed_by(dataset: Path, keys: Sequence[PrivateKey]) -> bool:
    """Return whether each of the keys has signed the present manifest of a dataset."""
    try:
        for key in keys:
            check_trusted(dataset, Trust((key.public,)))
    except DatasetError:
        return False
    return True


def check_signers(store: str | os.PathLike[str], keys: Sequence[PrivateKey]) -> None:
    """Raise DatasetError if a store trusts none of the keys that will sign.

    For commands that work for minutes before they publish.
    """
    trust = trust_of(store)
    if trust is not None and not trust.has_one_of(keys):
        problem = "accepts only datasets that a trusted key signs, and no such key is named"
        raise DatasetError(store, problem, "name one with --signing-key KEY")


def sign(dataset: str | os.PathLike[str] | None, signing_keys: SigningKeys) -> None:
    """Verify a dataset, or the current generation of a store, and write its ``signature.json``.

    ``signing_keys`` is the file of a private key, or several: then each signs. An existing
    signature is replaced; the serial of the new one is greater, in a store greater than the serials
    of all its generations. Needs the extra ``sign``. Raises DatasetError for a dataset that is
    missing or damaged, and in a store that trusts none of the keys, KeyFileError for a file that is
    not a private key or that others may read, OutputError if the signature cannot be written,
    ValueError for no key.
    """
    from geolookup.integrity import verify  # imports Arrow: slow

    path, signers = Path(dataset_path(dataset)), read_signing_keys(signing_keys)
    if not signers:
        raise ValueError("no key to sign with; name the file of a private key")
    with changing(path) if pointer.read(path).published else nullcontext():
        folder = Path(resolve.folder(path))
        # The text that was verified: a writer of the folder could have replaced the file.
        sign_verified(path, folder, verify(folder).manifest_text, signers)


def sign_verified(path: Path, folder: Path, text: bytes, keys: Sequence[PrivateKey]) -> None:
    """Sign the manifest ``text`` of a verified dataset; its serial becomes the greatest.

    ``path`` is the store that has the folder, or the folder. Raises DatasetError in a store that
    trusts none of the keys.
    """
    signature = signed_statement(text, keys, latest_serial(path))
    if (trust := trust_of(path)) is not None:
        trust.check(text, signature, folder)
    _write_signature(folder, signature)


def adopt_signature(dataset: Path, text: bytes | None) -> None:
    """Give a dataset the signature ``text``, if there is one, if it is newer than its own.

    Raises DatasetError unless the text is a statement of this manifest. The caller checks whether
    its keys are trusted.
    """
    if text is None:
        return
    statement = read_statement(text, manifest_text(dataset), None, dataset / SIGNATURE)
    if statement.serial > serial_in(dataset):
        _write_signature(dataset, text)


def _write_signature(dataset: Path, text: bytes) -> None:
    with atomic.staged_file(dataset / SIGNATURE, FILE_MODE) as fresh:
        fresh.write_bytes(text)
