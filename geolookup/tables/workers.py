"""The dataset of a job on many processes: driver and workers open the same generation.

Strategy: the driver opens the dataset, and sends its generation with each task. A worker process
opens that generation once. An archive or a mirror is fetched once per host, by one process under a
lock; the others wait, then map the same files::

    CACHE/datasets/copy-IDENTITY/   a store with the last two generations

IDENTITY is a digest of the address and the keys.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import socket
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Protocol, cast

import geolookup
from geolookup.archives.head import is_archive
from geolookup.archives.members import SUFFIX
from geolookup.archives.pack import pack
from geolookup.contract.localtime import instant
from geolookup.engine import Engine, reopen
from geolookup.errors import DatasetError, PathError, UpdateError, count_text, short_id
from geolookup.filesystem import atomic
from geolookup.filesystem.cache import is_safe, open_cached
from geolookup.kernel.lookups import state_of
from geolookup.signing.keys import PublicKey
from geolookup.signing.trust import TrustedKeys, read_trusted_keys
from geolookup.store import pointer
from geolookup.store.paths import BUNDLED_NAME
from geolookup.tables import enrich
from geolookup.tables.generations import Generations
from geolookup.tables.inputs import check_as_of
from geolookup.tables.take import of_table

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
        if self.path and generation and pointer.is_kept(self.path, generation):
            return reopen(self.path, generation, self.keys)
        return geolookup.open(self.path, trusted_keys=self.keys or None)


@dataclass(frozen=True, slots=True)
class PickledEngine:
    """An engine whose files are at the same paths on driver and workers."""

    pickled: bytes
    keys: tuple[PublicKey, ...] = ()  # the engine has its own
    remedy: ClassVar[str] = _AT_PATH

    def open(self, _generation: str | None) -> Engine:
        """Open the engine's generation."""
        return cast("Engine", pickle.loads(self.pickled))  # noqa: S301 - of the driver


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
        wanted = generation

        def find(store: Path) -> Engine | None:
            return None if wanted is None else self._open_cached(_folder(store, wanted))

        def fetch(store: Path) -> None:
            nonlocal wanted
            if wanted is not None and _folder(store, wanted).exists():
                atomic.remove_folder(store)  # it is damaged, or others can change it
            keys = self.keys or None
            wanted = geolookup.update(self.address, store=store, trusted_keys=keys).generation

        return open_cached(self.entry, find, fetch)

    def _open_cached(self, folder: Path) -> Engine | None:
        """Open a generation in the cache; None if it is missing or damaged, or not trusted."""
        if self.keys and not is_safe(folder):
            return None
        with suppress(DatasetError):
            engine = geolookup.open(folder, trusted_keys=self.keys or None)
            state_of(engine).dataset.map_all()  # the cache may evict it
            return engine
        return None

    @property
    def entry(self) -> str:
        """The name of the entry of the cache."""
        identity = hashlib.sha256(os.fsencode(self.name or self.address))
        for key in sorted(key.id for key in self.keys):
            identity.update(key.encode())
        return f"copy-{identity.hexdigest()[:32]}"


def _folder(store: Path, generation: str) -> Path:
    return Path(pointer.folder_of(store, generation))


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
    """The work on each partition; pickled with its tasks. ``options`` are of ``Engine.enrich``.

    ``periods`` are the periods of the driver's store, for rows with instants of the past.
    """

    source: Source
    generation: str
    paths: tuple[str, ...]
    options: Mapping[str, Any]
    periods: DriverPeriods | None = None

    @classmethod
    def of(cls, source: Source, engine: Engine, fields: tuple[Any, ...], **options: Any) -> Job:
        """Return the job of a driver, whose engine is open; ValueError for an unknown field."""
        paths = [field.path for field in of_table(fields, schema=state_of(engine).dataset.schema)]
        at = options["at"]
        # Now is the time of this call: a plan runs later. ``Engine.enrich`` refuses a text.
        if not isinstance(at, str) and options["time_column"] is None:
            options["at"] = instant(at)
        check_as_of(options["as_of"])
        periods = None if options["as_of"] is None else DriverPeriods.of(engine.generations())
        # A task has one core.
        options["threads"] = 1
        return cls(source, engine.generation, tuple(paths), options, periods)

    def sent(self, send: Callable[[Engine, Source], Source], engine: Engine) -> Job:
        """Return the job with a source that a function has sent; ValueError with ``as_of``."""
        if self.periods is not None:
            problem = "enrich: ship sends one generation, as_of needs the store"
            raise ValueError(f"{problem}; put it at a path that all workers see, without ship")
        return replace(self, source=send(engine, self.source))

    def enrich(self, data: Any, engine: Engine | None = None) -> Any:
        """Enrich a partition with the engine of this process; the driver passes its own.

        Raises DatasetError if this process cannot open a generation of the driver.
        """
        engine = engine or _engine_of(self.source, self.generation)
        generations = None if self.periods is None else generations_of(engine, self.periods)
        return enrich(state_of(engine), data, self.paths, generations=generations, **self.options)


@dataclass(frozen=True, slots=True)
class DriverPeriods:
    """The periods of the driver's store: all workers answer by them, whatever is published."""

    store: str
    begins: tuple[int, ...]
    by_period: tuple[str | None, ...]

    @classmethod
    def of(cls, generations: Generations) -> DriverPeriods:
        """Return the periods of an engine's generations."""
        return cls(generations.store, tuple(generations.begins), tuple(generations.by_period))


@lru_cache(maxsize=8)
def generations_of(engine: Engine, periods: DriverPeriods) -> Generations:
    """Return the generations of a store in the driver's periods, once per process."""
    own = engine.generations()
    if lacking := {*periods.by_period} - {*own.by_period, None}:
        problem = f"lacks {count_text(len(lacking), 'generation')} that the driver has"
        raise DatasetError(f"{socket.gethostname()}:{own.store}", problem, _AT_PATH)
    opened = lru_cache(maxsize=None)(own.open)
    return Generations(periods.store, periods.begins, periods.by_period, opened)


def _engine_of(source: Source, generation: str) -> Engine:
    with _opening:  # tasks of one process can be threads
        return open_once(source, generation)


@lru_cache(maxsize=8)
def open_once(source: Source, generation: str) -> Engine:
    """Open the driver's generation, once per process."""
    try:
        engine = source.open(generation)
    except PathError as error:
        raise _error(source, error.path, error.problem) from None
    except UpdateError as error:  # has the address
        raise DatasetError(socket.gethostname(), str(error), source.remedy) from None
    if engine.generation != generation:
        problem = (
            f"generation {short_id(engine.generation)} where the driver has {short_id(generation)}"
        )
        raise _error(source, engine.path, problem)
    return engine


def _error(source: Source, path: str | Path, problem: str) -> DatasetError:
    return DatasetError(f"{socket.gethostname()}:{path}", problem, source.remedy)
