"""The dataset of a job on many processes: driver and workers open the same generation.

Strategy: the driver opens the dataset, and sends its generation with each task. A worker process
opens that generation once. An archive or a mirror is fetched once per host, into a store in the
cache, by one process under a lock; the others wait, then map the same files::

    CACHE/workers/IDENTITY/lock     held by the process that fetches
    CACHE/workers/IDENTITY/store/   the last two generations

IDENTITY is a digest of the address and the keys. The entries that were opened last are kept.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Protocol

import geolookup
from geolookup.archives.head import is_archive
from geolookup.archives.members import SUFFIX
from geolookup.archives.pack import pack
from geolookup.contract.localtime import instant
from geolookup.engine import Engine
from geolookup.errors import DatasetError, PathError, UpdateError
from geolookup.filesystem import atomic
from geolookup.filesystem.cache_folder import default_folder, latest_first
from geolookup.filesystem.locks import hold_lock, hold_lock_if_free
from geolookup.signing.keys import PublicKey
from geolookup.signing.trust import TrustedKeys, read_trusted_keys
from geolookup.store import pointer
from geolookup.store.paths import BUNDLED_NAME
from geolookup.tables.take import of_table

#: Entries of the cache that are kept.
_KEPT = 4
_AT_PATH = "put the driver's dataset at this path on every worker, or send it with ship=True"
_OF_MIRROR = "run the job again, or send the dataset with ship=True"
_opening = Lock()


class Source(Hashable, Protocol):
    """A dataset that driver and workers open; pickled, and equal to itself after that."""

    @property
    def remedy(self) -> str:
        """The remedy if a worker cannot open the driver's generation."""

    @property
    def keys(self) -> tuple[PublicKey, ...]:
        """The trusted keys; none: signatures are not checked."""

    def open(self, generation: str | None) -> Engine:
        """Open a generation, on the driver None: the current one. Raises GeoLookupError."""


@dataclass(frozen=True, slots=True)
class SharedFolder:
    """A dataset or store at the same path on driver and workers; None: the default of each."""

    path: str | None
    keys: tuple[PublicKey, ...] = ()
    remedy: ClassVar[str] = _AT_PATH

    def open(self, generation: str | None) -> Engine:
        """Open the generation in a store, also if another one is current; else the dataset."""
        path = self.path
        if path is not None and generation is not None:
            folder = pointer.folder_of(path, generation)
            path = folder if Path(folder).is_dir() else path
        return geolookup.open(path, trusted_keys=self.keys or None)


@dataclass(frozen=True, slots=True)
class HostCopy:
    """An archive or a mirror, fetched into the cache of each host.

    ``name`` identifies the content, for an archive that is at another path on each host.
    """

    address: str
    keys: tuple[PublicKey, ...] = ()
    name: str = ""

    @property
    def remedy(self) -> str:
        """The remedy for an archive, or for a mirror: it may have published since."""
        return _AT_PATH if self.address.endswith(SUFFIX) else _OF_MIRROR

    def open(self, generation: str | None) -> Engine:
        """Open the generation, fetched if the cache does not have it."""
        store = self.entry() / "store"
        if generation is not None and (engine := _cached(store, generation)):
            return engine
        with atomic.output_errors(store):
            store.parent.mkdir(parents=True, exist_ok=True)
            with hold_lock(store.parent / "lock"):
                # Another process may have fetched it meanwhile.
                if generation is not None and (engine := _cached(store, generation)):
                    return engine
                fetched = geolookup.update(
                    self.address, store=store, trusted_keys=self.keys or None
                ).generation
                _prune(store.parent)
        return geolookup.open(pointer.folder_of(store, fetched or ""))

    def entry(self) -> Path:
        """Return the folder in the cache."""
        identity = hashlib.sha256(os.fsencode(self.name or self.address))
        for key in sorted(key.id for key in self.keys):
            identity.update(key.encode())
        return default_folder() / "workers" / identity.hexdigest()[:32]


def _cached(store: Path, generation: str) -> Engine | None:
    """Open a generation of a store in the cache; None if it is missing or damaged."""
    with suppress(DatasetError):
        engine = geolookup.open(pointer.folder_of(store, generation))
        with suppress(OSError):
            os.utime(store.parent)  # the order in which entries are pruned
        return engine
    return None


def _prune(entry: Path) -> None:
    """Remove the entries that were opened before others; open files stay readable."""
    others = [path for path in latest_first(entry.parent) if path != entry]
    for path in others[_KEPT - 1 :]:
        with suppress(OSError), hold_lock_if_free(path / "lock") as is_free:
            if is_free:
                shutil.rmtree(path, ignore_errors=True)


def source_of(
    dataset: str | os.PathLike[str] | None, trusted_keys: TrustedKeys | None = None
) -> Source:
    """Return the source that a caller names; raises KeyFileError for a bad key."""
    from geolookup.mirrors.source import is_mirror

    keys = read_trusted_keys(trusted_keys)
    if dataset is None or dataset == BUNDLED_NAME:
        return SharedFolder(dataset, keys)
    name = os.fspath(dataset)
    path = name if "://" in name else str(Path(name).absolute())
    return HostCopy(path, keys) if is_mirror(path) or is_archive(path) else SharedFolder(path, keys)


def archive_for_workers(source: Source, engine: Engine, archive: Path) -> None:
    """Write the driver's dataset as one file, or copy it if it is an archive."""
    if isinstance(source, HostCopy) and Path(source.address).is_file():
        shutil.copyfile(source.address, archive)
    else:
        pack(engine.path, archive, force=True)


@dataclass(frozen=True, slots=True)
class Job:
    """The work on each partition; pickled with its tasks. ``options`` are of ``Engine.enrich``."""

    source: Source
    generation: str
    paths: tuple[str, ...]
    options: Mapping[str, Any]

    @classmethod
    def of(cls, source: Source, engine: Engine, fields: tuple[Any, ...], **options: Any) -> Job:
        """Return the job of a driver, whose engine is open; ValueError for an unknown field."""
        paths = [field.path for field in of_table(fields, schema=engine.snapshot().dataset.schema)]
        at = options["at"]
        # Now is the time of this call: a plan runs later. ``Engine.enrich`` refuses a text.
        if not isinstance(at, str) and options["time_column"] is None:
            options["at"] = instant(at)
        # A task has one core.
        return cls(source, engine.generation, tuple(paths), {**options, "threads": 1})

    def enrich(self, data: Any, engine: Engine | None = None) -> Any:
        """Enrich a partition with the engine of this process; the driver passes its own.

        Raises DatasetError if this process cannot open the generation of the driver.
        """
        engine = engine or _engine_of(self.source, self.generation)
        return engine.enrich(data, self.paths, **self.options)


def _engine_of(source: Source, generation: str) -> Engine:
    with _opening:  # tasks of one process can be threads
        return _open(source, generation)


@lru_cache(maxsize=8)
def _open(source: Source, generation: str) -> Engine:
    try:
        engine = source.open(generation)
    except PathError as error:
        raise _error(source, error.path, error.problem) from None
    except UpdateError as error:  # has the address
        raise DatasetError(socket.gethostname(), str(error), source.remedy) from None
    if engine.generation != generation:
        problem = f"generation {engine.generation} where the driver has {generation}"
        raise _error(source, engine.path, problem)
    return engine


def _error(source: Source, path: str | Path, problem: str) -> DatasetError:
    return DatasetError(f"{socket.gethostname()}:{path}", problem, source.remedy)
