"""The engine: what one can ask of a dataset, and how one is opened.

Single lookups are inherited from the kernel, the calls for many addresses from ``many``, those
for networks and whole datasets from ``networks``.
"""

from __future__ import annotations

import os
from types import FunctionType

from geolookup.contract.localtime import check_database
from geolookup.dataset.files import Dataset
from geolookup.engine.networks import NetworkAnswers
from geolookup.errors import DatasetError
from geolookup.kernel import State, check_kernel

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from geolookup.contract.types import FieldNames
    from geolookup.dataset.metadata import Metadata
    from geolookup.engine.compiled import CompiledPath
    from geolookup.history.timeline import History
    from geolookup.signing.keys import PublicKey
    from geolookup.signing.trust import TrustedKeys
    from geolookup.store.in_force import AsOf
    from geolookup.store.requirements import MaxAge, OnStale, Requirements
    from geolookup.store.resolve import DatasetPath
    from geolookup.store.watch import Watch
    from geolookup.tables.generations import Generations

    Location = DatasetPath | CompiledPath


class Engine(NetworkAnswers):
    """Offline lookups on one dataset; ``geolookup.open`` creates it.

    Safe to use from many threads and after a fork. Pickled as path and
    generation: the unpickled engine answers from that generation. It must still exist. Of the
    options only the trusted keys are restored. A context manager:
    leaving it closes the engine.
    """

    def __init__(
        self,
        location: Location,
        dataset: Dataset,
        requirements: Requirements,
        *,
        preload: bool = False,
    ) -> None:
        super().__init__(dataset)
        check_kernel()
        check_database()
        self._location, self._requirements, self._preload = location, requirements, preload
        if preload:
            dataset.preload()
        self._closed = False
        self._watch: Watch | None = None

    @property
    def path(self) -> Path:
        """The absolute path of the dataset in use; in a store, its generation's."""
        from pathlib import Path

        return Path(self._open_state().dataset.path)

    @property
    def generation(self) -> str:
        """The id of the generation in use: ``metadata.generation`` in constant time."""
        generation: str = self._open_state().dataset.generation
        return generation

    @property
    def stale(self) -> bool:
        """Whether the data are older than ``max_age``; False without ``max_age``."""
        return self._requirements.stale(self._open_state().dataset) is not None

    @property
    def metadata(self) -> Metadata:
        """Name, generation, sources, credits, fields, counts and coverage of the dataset."""
        return self._open_state().dataset.manifest.metadata()

    def history(self, ip: object, *fields: FieldNames, clean: bool = False) -> History:
        """Return when the answer for ``ip``, an address or a prefix, changed in the store.

        The result has ``ip``, ``changes`` and ``first``. Changes are the newest first. Each has
        ``since``, the time when its ``generation`` came into force, and ``before_generation``,
        in force until ``before_until``. That is earlier than ``since`` if the generations between
        are pruned. ``layers`` has each layer that changed: ``fields``, the values before and after
        by path, and ``sources``, the sources that decided before and after. None is unknown.
        ``change.fields`` has the fields of all layers. ``change.first`` and ``change.last`` are the
        addresses: a prefix has a change for each range that changed alike.

        ``first`` is the answer in the first known generation: ``since``, ``generation``, and
        ``fields`` with the known values by path, None for a prefix.

        ``fields`` of the call are names or groups of stored fields; changes of other fields are
        left out. Rollbacks are changes, too. Each call reads the store anew; as of an instant,
        the history ends with the generation that was in force then. A private address has the
        history of its private own columns. ``clean`` is described in ``lookup``.

        Raises DatasetError if the engine is not of a store, or has an overlay, and for a damaged
        generation; InvalidAddressError, PrivateAddressError; ValueError for an unknown field.
        """
        from geolookup.history.timeline import history

        self._open_state()
        if self._location.overlay is not None:
            problem = "an overlay has no history"
            raise DatasetError(self._location.path, problem, "open the store without it")
        return history(
            self._location.path, ip, fields, clean=clean, requirements=self._requirements
        )

    def generations(self) -> Generations:  # noqa: D102 - inherited
        from geolookup.tables.generations import generations_of

        if self._requirements.instant is not None:
            problem = "enrich: as_of needs an engine of the whole store"
            raise ValueError(f"{problem}; this one was opened as of an instant")
        location = self._location
        return generations_of(location.path, location.overlay, self._requirements.keys)

    def reload(self) -> bool:
        """Install the current dataset of the path; return whether the dataset changed.

        For a store this is its current generation, for any other path the dataset at
        that path. The new dataset is verified first, while lookups continue. Running
        lookups and iterations finish on the dataset on which they started. Raises
        DatasetError, and keeps the old dataset, if the new one is damaged, of another
        format version, too old, or lacks fields that the old one has.
        """
        changed = False
        # Re-check after the swap: another thread may have installed an older dataset.
        while self.generation != self._location.generation():
            self._swap(self._successor(self._open_state().dataset))
            if self._closed:  # another thread closed the engine during the swap
                self._swap(None)
            changed = True
        return changed

    def as_of(self, instant: AsOf) -> Engine:
        """Open the generation of the store that was in force at an instant, as ``open`` does.

        With the overlay and the options of this engine, but for ``watch``: that generation does
        not change. Raises as ``open`` with ``as_of``, and ClosedError.
        """
        from geolookup.store.in_force import read_instant

        self._open_state()
        requirements = self._requirements.as_of(read_instant(instant))
        location = _location(self._location.path, self._location.overlay, requirements)
        return Engine(location, location.open_dataset(), requirements, preload=self._preload)

    def _successor(self, old: Dataset) -> State:
        dataset = self._location.open_successor(old)
        if self._preload:
            dataset.preload()
        return State(dataset)

    def check_age(self) -> None:
        """Check the age of the data, as ``open`` does; ``watch`` calls this at each poll.

        If the data are older than ``max_age``: log a warning if ``on_stale`` is "warn",
        raise DatasetError if it is "refuse".
        """
        self._requirements.check(self._open_state().dataset)

    def close(self) -> None:
        """Close the dataset. Later calls raise ClosedError; running calls finish."""
        self._closed = True
        self._swap(None)
        if self._watch is not None:
            self._watch.end()

    def __enter__(self) -> Self:
        self._open_state()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        dataset, location = self._open_state().dataset, self._location
        keys, instant = self._requirements.keys, self._requirements.instant
        options = keys, dataset.serial, location.overlay, instant
        return reopen, (location.path, dataset.generation, *options)

    def __repr__(self) -> str:
        return f"<geolookup.Engine {self._location.path!r}>"


def _name_public_class() -> None:
    """Name the inherited calls after ``Engine``: Python's errors of arguments show this name."""
    for base in Engine.__mro__[1:]:
        for call in vars(base).values():
            if isinstance(call, FunctionType):
                call.__qualname__ = f"{Engine.__name__}.{call.__name__}"


_name_public_class()


def open(  # noqa: A001 - the public name
    path: str | os.PathLike[str] | None = None,
    *,
    overlay: str | os.PathLike[str] | None = None,
    as_of: AsOf | None = None,
    watch: float | None = None,
    max_age: MaxAge | None = None,
    on_stale: OnStale = "warn",
    allow_lost_fields: bool = False,
    fallback: bool = False,
    preload: bool = False,
    trusted_keys: TrustedKeys | None = None,
) -> Engine:
    """Open a dataset directory, a store, or a file.

    >>> with geolookup.open() as engine:
    ...     engine.get("8.8.8.8", "country")
    'US'

    None: ``$GEOLOOKUP_DATASET``, else the user's store if it has a generation, else the
    bundled dataset. The user's store is ``$GEOLOOKUP_STORE``, else ``geolookup/store`` in
    the data folder of the platform; ``geolookup update`` publishes there. The text "bundled"
    is the bundled dataset; a folder of that name is "./bundled".

    A dataset opens in constant time, because files are mapped and not read. Of a store the current
    generation is opened. ``watch`` polls the path at this interval in seconds, and installs a new
    generation as ``reload`` does; a refused one is reported once in the log ``geolookup``.

    A file is data, such as ``GeoLite2-City.mmdb`` or ``mine.csv``, a recipe (``.toml``), or an
    archive of ``pack``. The first opening compiles or unpacks it into the cache
    (``$GEOLOOKUP_CACHE``, else the user's cache folder; at most ``$GEOLOOKUP_CACHE_SIZE``, 4 GB).
    It is made again after a change of the file, or of a local file of its recipe; ``reload`` and
    ``watch`` notice changes. Data have no signature, so they are refused with ``trusted_keys``.
    Data and overlays need the package ``geolookup_builder``.

    ``overlay`` is a file of data, such as a CSV of your sites, or a recipe, whose sources come
    before the dataset. The result is cached and made again as that of a file. With
    ``trusted_keys`` the dataset must be signed; the overlay is trusted as a local file.

    ``as_of`` opens the generation of a store that was in force at an instant: a date
    (``"2026-03-01"``, its first instant in UTC), a time with offset as text or as an aware
    datetime, or Unix seconds. It does not change the local time of answers, ``at`` of each call.
    The generation is fixed: ``reload`` and ``watch`` notice a change of the overlay only.
    ``max_age`` limits the age at that instant, and ``fallback`` has no effect.

    ``max_age`` is the maximum age of the data: a timedelta, a number of days, or "30d",
    "4w". The oldest dated source that decides any layer sets the age. ``on_stale``
    is the action for older data: "warn" logs a warning, "refuse" raises DatasetError,
    "tag" does neither. ``engine.stale`` is True in each case. ``allow_lost_fields`` lets a
    reload install a dataset that lacks fields of the old one.

    ``fallback`` is for services that have to start: if the current generation of a store does not
    open, it opens the last one published before it that does and was not withdrawn, with a warning
    in the log ``geolookup``.

    ``preload`` reads the files that lookups need into memory, at the call and at each reload: no
    answer waits for a disk. The memory is the page cache of the system, which processes share.

    ``trusted_keys`` is the file of a public key, or several; it needs the extra ``sign``. Only a
    dataset that the holder of one of them signed is opened, and a reload installs only one of the
    same name whose signature is not older. The digest of every file is checked, so opening takes
    time in proportion to the size of the dataset.

    Raises DatasetError for a path without a dataset, and for a dataset that is damaged, of another
    format version, too old or not signed by a trusted key. With ``as_of`` it is raised for a path
    that is not a store, and for an instant before the first generation or of a pruned one. Raises
    KeyFileError for a file that is not a public key; ValueError or TypeError for a malformed
    option; SettingsError for a malformed ``$GEOLOOKUP_KERNEL`` or ``$GEOLOOKUP_TZ``; BuildError
    for a file or an overlay that does not compile; OutputError for a cache that cannot be written.
    """
    from geolookup.store.paths import dataset_path
    from geolookup.store.requirements import Requirements

    absolute = os.path.abspath(dataset_path(path))
    requirements = Requirements(
        max_age, on_stale, allow_lost_fields=allow_lost_fields, trusted_keys=trusted_keys
    )
    if as_of is not None:
        from geolookup.store.in_force import read_instant

        requirements = requirements.as_of(read_instant(as_of))
    location = _location(absolute, overlay, requirements)
    dataset = location.open_dataset(fallback=fallback)
    engine = Engine(location, dataset, requirements, preload=preload)
    if watch is not None:
        from geolookup.store.watch import Watch

        engine._watch = Watch(engine, location.fingerprint, watch)  # noqa: SLF001 - of this module
    return engine


def _location(
    path: str, overlay: str | os.PathLike[str] | None, requirements: Requirements
) -> Location:
    """Return what an engine opens, and reloads from."""
    from geolookup.store.resolve import DatasetPath

    base: Location
    if requirements.instant is not None:
        from geolookup.store.in_force import generation_at

        base = DatasetPath(path, requirements, generation_at(path, requirements.instant))
    elif os.path.isfile(path):
        from geolookup.history.archived import of_file

        base = of_file(path, requirements)
    else:
        base = DatasetPath(path, requirements)
    if overlay is None:
        return base
    from geolookup.engine.compiled import CompiledPath

    return CompiledPath(os.path.abspath(overlay), requirements, base)


def reopen(
    path: str,
    generation: str,
    trusted_keys: tuple[PublicKey, ...] = (),
    serial: int = 0,
    overlay: str | None = None,
    as_of: int | None = None,
) -> Engine:
    """Open one generation of a path, as an unpickled engine does; DatasetError without it."""
    from geolookup.store.requirements import Requirements

    requirements = Requirements(trusted_keys=trusted_keys or None, instant=as_of)
    location = _location(path, overlay, requirements)
    return Engine(location, location.open_generation(generation, serial), requirements)
