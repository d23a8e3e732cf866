"""The dataset of a job on many processes: driver and workers open the same generation.

Strategy: the driver opens the dataset, and sends with each task how to open its generation: the
path, an archive, or the address of a mirror. A worker process opens it once. What is fetched or
unpacked is in the cache of each host, made by one process under a lock.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import geolookup
from geolookup.contract.localtime import instant
from geolookup.errors import DatasetError, PathError, UpdateError, short_id
from geolookup.filesystem import atomic
from geolookup.filesystem.cache import is_safe, open_cached
from geolookup.kernel.lookups import state_of
from geolookup.signing.keys import PublicKey
from geolookup.signing.trust import TrustedKeys, read_trusted_keys
from geolookup.store import pointer
from geolookup.store.paths import BUNDLED_NAME
from geolookup.tables import enrich
from geolookup.tables.generations import Generations
from geolookup.tables.inputs import input_names
from geolookup.tables.take import of_table

if TYPE_CHECKING:
    from geolookup.engine import Engine
    from geolookup.kernel import State

    #: A function that opens an engine, and its arguments.
    Opening = tuple[Callable[..., Engine], tuple[Any, ...]]
Keys = tuple[PublicKey, ...]
_REMEDY = "put the driver's dataset at this path on every worker; of a mirror, run the job again"
#: Generations of the past that a process has open.
_OPEN = 64
_opening = Lock()


def open_dataset(
    dataset: str | os.PathLike[str] | None, trusted_keys: TrustedKeys | None = None
) -> tuple[Engine, Opening]:
    """Open the dataset that a caller names, and return how a worker opens its generation.

    Raises KeyFileError for a bad key, and the errors of ``geolookup.open`` and ``update``.
    """
    from geolookup.mirrors.source import is_mirror

    keys = read_trusted_keys(trusted_keys)
    if dataset is None or dataset == BUNDLED_NAME:  # at another path on each host
        return _open_default(dataset, keys), (_open_default, (dataset, keys))
    name = os.fspath(dataset)
    if is_mirror(name):
        address = name if "://" in name else str(Path(name).absolute())
        engine = _open_mirror(address, keys)
        return engine, (_open_mirror, (address, keys, engine.generation))
    engine = geolookup.open(name, trusted_keys=keys or None)
    return engine, opening_of(engine)


def opening_of(engine: Engine) -> Opening:
    """Return how a worker opens the generation of an engine, by its path."""
    return cast("Opening", engine.__reduce__())


def _open_default(dataset: str | None, keys: Keys) -> Engine:
    return geolookup.open(dataset, trusted_keys=keys or None)


def _open_mirror(address: str, keys: Keys, generation: str | None = None) -> Engine:
    """Open a generation of a mirror, fetched if the cache of the host does not have it.

    None: its current one. The entry of the cache is a store with the last two generations.
    """
    wanted = generation
    identity = "\0".join([address, *sorted(key.id for key in keys)])
    digest = hashlib.sha256(os.fsencode(identity)).hexdigest()

    def find(store: Path) -> Engine | None:
        if wanted is None:
            return None
        folder = Path(pointer.folder_of(store, wanted))
        if keys and not is_safe(folder):
            return None
        with suppress(DatasetError):
            engine = geolookup.open(folder, trusted_keys=keys or None)
            state_of(engine).dataset.map_all()  # the cache may evict it
            return engine
        return None

    def fetch(store: Path) -> None:
        nonlocal wanted
        if wanted is not None and Path(pointer.folder_of(store, wanted)).exists():
            atomic.remove_folder(store)  # it is damaged, or others can change it
        wanted = geolookup.update(address, store=store, trusted_keys=keys or None).generation

    return open_cached(f"copy-{digest[:32]}", find, fetch)


@dataclass(frozen=True, slots=True)
class Job:
    """The work on each partition; pickled with its tasks. ``options`` are of ``Engine.enrich``.

    ``generations`` are the driver's, for rows with instants of the past.
    """

    opening: Opening
    generation: str
    paths: tuple[str, ...]
    options: Mapping[str, Any]
    generations: Generations | None = None

    @classmethod
    def of(
        cls, engine: Engine, opening: Opening, fields: tuple[Any, ...], options: Mapping[str, Any]
    ) -> Job:
        """Return the job of a driver, whose engine is open; ValueError for an unknown field."""
        schema = state_of(engine).dataset.schema
        paths = tuple(field.path for field in of_table(fields, schema=schema))
        at, generations = options.get("at"), None
        # A task has one core.
        options = {"threads": 1, **options}
        # Now is the time of this call: a plan runs later. ``enrich`` refuses a text.
        if not isinstance(at, str) and options.get("time_column") is None:
            options["at"] = instant(at)
        input_names("", None, options.get("as_of"))
        if options.get("as_of") is not None:
            of_store = engine.generations()
            once = partial(open_past, pickle.dumps(of_store.open))
            generations = replace(of_store, open=once)
        return cls(opening, engine.generation, paths, options, generations)

    def enrich(self, data: Any, engine: Engine | None = None) -> Any:
        """Enrich a partition with the engine of this process; the driver passes its own.

        Raises DatasetError if this process cannot open a generation of the driver.
        """
        if engine is None:
            with _opening:  # tasks of one process can be threads
                engine = open_once(*self.opening, self.generation)
        state = state_of(engine)
        return enrich(state, data, self.paths, generations=self.generations, **self.options)


@lru_cache(maxsize=8)
def open_once(opener: Callable[..., Engine], arguments: tuple[Any, ...], generation: str) -> Engine:
    """Open the driver's generation, once per process."""
    host = socket.gethostname()
    try:
        engine = opener(*arguments)
    except PathError as error:
        raise DatasetError(f"{host}:{error.path}", error.problem, _REMEDY) from None
    except UpdateError as error:  # has the address
        raise DatasetError(host, str(error), _REMEDY) from None
    if engine.generation != generation:
        actual, expected = short_id(engine.generation), short_id(generation)
        problem = f"generation {actual} where the driver has {expected}"
        raise DatasetError(f"{host}:{engine.path}", problem, _REMEDY)
    return engine


@lru_cache(maxsize=_OPEN)
def open_past(pickled_open: bytes, generation: str) -> State:
    """Open a generation of the past, once per process."""
    return cast("State", pickle.loads(pickled_open)(generation))  # noqa: S301 - of the driver
