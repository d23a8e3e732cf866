"""The dataset of a job on many processes: driver and workers open the same generation.

Strategy: the driver opens the dataset, and sends with each task how to open its generation by its
path. A worker process opens it once. An archive is unpacked into the cache of each host.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import geolookup
from geolookup.contract.localtime import instant
from geolookup.errors import DatasetError, PathError, short_id
from geolookup.kernel.lookups import state_of
from geolookup.signing.keys import PublicKey
from geolookup.signing.trust import TrustedKeys, read_trusted_keys
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
_REMEDY = "put the driver's dataset at this path on every worker"
#: Generations of the past that a process has open.
_OPEN = 64
_opening = Lock()


def open_dataset(
    dataset: str | os.PathLike[str] | None, trusted_keys: TrustedKeys | None = None
) -> tuple[Engine, Opening]:
    """Open the dataset that a caller names, and return how a worker opens its generation.

    Raises KeyFileError for a bad key, and the errors of ``geolookup.open``.
    """
    keys = read_trusted_keys(trusted_keys)
    engine = _open(dataset, keys)
    if dataset is None or dataset == BUNDLED_NAME:  # at another path on each host
        return engine, (_open, (dataset, keys))
    return engine, cast("Opening", engine.__reduce__())  # its generation at its path


def _open(dataset: str | os.PathLike[str] | None, keys: tuple[PublicKey, ...]) -> Engine:
    return geolookup.open(dataset, trusted_keys=keys or None)


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
    if engine.generation != generation:
        actual, expected = short_id(engine.generation), short_id(generation)
        problem = f"generation {actual} where the driver has {expected}"
        raise DatasetError(f"{host}:{engine.path}", problem, _REMEDY)
    return engine


@lru_cache(maxsize=_OPEN)
def open_past(pickled_open: bytes, generation: str) -> State:
    """Open a generation of the past, once per process."""
    return cast("State", pickle.loads(pickled_open)(generation))  # noqa: S301 - of the driver
