"""An update on its way: the checked arguments, its place in the store, and what its source offers.

::

    STORE/.update/lock                held by the process that updates the store
    STORE/.update/dataset/            where a recipe is compiled: on the disk of the generations
    STORE/.update/index/, archives/   files of a mirror

The lock of the store itself (``store.changing``) is held only while the store changes:
``publish`` and ``rollback`` do not wait for downloads.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from geolookup.archives.head import is_archive
from geolookup.dataset.metadata import age_limit
from geolookup.errors import MirrorError
from geolookup.filesystem import atomic
from geolookup.filesystem.locks import hold_lock
from geolookup.history.incoming import Incoming
from geolookup.history.publishing import Gate
from geolookup.history.result import StoreResult
from geolookup.mirrors.source import Mirror, is_mirror
from geolookup.signing.keys import PrivateKey, PublicKey, read_signing_keys
from geolookup.signing.trust import TrustedKeys, read_trusted_keys
from geolookup.store import pointer
from geolookup.store.changing import changing, store_path
from geolookup.store.in_force import Retention
from geolookup.store.trusted import trust_first

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import Recipe

DEFAULT_RECIPE = "world"
_FOLDER = ".update"
#: Seconds to wait for another update of the store: it may download and compile.
_PATIENCE = 3600.0
Tell = Callable[[str], None]


class Offer(NamedTuple):
    """The offer of a source to a store: a dataset, or only a state of the result."""

    state: str
    incoming: Incoming | None = None
    members: Mapping[str, Any] = {}  # of STORE/update.json after success
    gate: Gate | None = None
    withdrawn: Collection[str] = ()


@dataclass(slots=True)
class Job:
    """The arguments of an update, checked, and what it has done so far."""

    source: Recipe | Path | Mirror
    store: Path
    retention: Retention
    if_older: timedelta | None = None
    dry_run: bool = False
    download_only: bool = False
    max_memory: str | int | None = None
    cache: Path | None = None  # of downloaded files; None: the user's
    signers: tuple[PrivateKey, ...] = ()
    trusted_keys: tuple[PublicKey, ...] = ()
    tell: Tell = lambda _text: None
    #: Prints the licences before a first download, and what it needs; None: nothing is printed.
    announce: Tell | None = None
    result: StoreResult = field(init=False)

    def __post_init__(self) -> None:
        self.result = StoreResult(str(self.store))

    @property
    def title(self) -> str:
        """The source in a word: the address of a mirror, a path, or the name in a recipe."""
        if isinstance(self.source, Mirror):
            return self.source.safe_url
        return str(self.source) if isinstance(self.source, Path) else self.source.name

    def count(self, **numbers: int) -> None:
        """Add to the counts of the result."""
        for name, number in numbers.items():
            self.result.counts[name] = self.result.counts.get(name, 0) + number

    @contextmanager
    def place(self) -> Iterator[Path]:
        """Yield a folder for the files of the update, in the store; other updates wait.

        The store is created if it is missing. A dry run has a temporary folder. Raises OutputError
        for a folder that is not a store, DatasetError for a damaged store.
        """
        if self.dry_run:
            with TemporaryDirectory() as temporary:
                yield Path(temporary)
            return
        trust_first(self.store, self.trusted_keys)
        if not (self.store / pointer.GENERATIONS).is_dir():
            with changing(self.store, make=True):
                pass  # creates the store, or refuses the folder
        folder = self.store / _FOLDER
        with ExitStack() as stack:
            with atomic.output_errors(folder):
                folder.mkdir(0o700, exist_ok=True)
                stack.enter_context(hold_lock(folder / "lock", _PATIENCE))
            # What an update that died has left.
            shutil.rmtree(folder / "dataset", ignore_errors=True)
            try:
                yield folder
            finally:
                shutil.rmtree(folder / "dataset", ignore_errors=True)


def job_of(
    source: str | os.PathLike[str] | None,
    store: str | os.PathLike[str] | None,
    if_older: timedelta | float | str | None,
    dry_run: bool,
    keep: int | None,
    keep_for: timedelta | float | str | None,
    keep_unpacked: int | None,
    trusted_keys: TrustedKeys | None,
    announce: Tell | None = None,
    **of_source: Any,
) -> Job:
    """Check the arguments of ``update``; raises its errors for malformed ones."""
    given = {option: value for option, value in of_source.items() if value}
    opened, default = _opened(source, given.pop("limit_rate", None)), None
    if isinstance(opened, Path | Mirror):
        for option in given:
            raise ValueError(f"{option} is only for recipes")
    else:
        from geolookup_builder.downloads import with_strict_cache
        from geolookup_builder.memory import MemoryBudget

        MemoryBudget.of(given.get("max_memory"))  # a malformed size
        given["cache"] = Path(given["cache"]) if "cache" in given else None
        given["signers"] = read_signing_keys(given.pop("signing_keys", ()))
        if given["signers"]:  # they vouch for the content
            opened = with_strict_cache(opened)
        default = opened.retention
    place, retention = store_path(store), Retention.of(keep, keep_for, keep_unpacked, default)
    given["if_older"] = None if if_older is None else age_limit(if_older, "if_older")
    given["trusted_keys"] = read_trusted_keys(trusted_keys)
    return Job(opened, place, retention, dry_run=dry_run, announce=announce, **given)


def _opened(
    source: str | os.PathLike[str] | None, limit_rate: int | None
) -> Recipe | Path | Mirror:
    """Return what a source means; ValueError for the address of no mirror."""
    name = os.fspath(source or "")
    if is_mirror(name):
        mirror = Mirror(name, limit_rate)
        try:
            mirror.location()
        except MirrorError as error:
            raise ValueError(str(error)) from None
        return mirror
    if limit_rate is not None:
        raise ValueError("limit_rate is only for mirrors")
    if name and is_archive(name):
        return Path(name)
    from geolookup_builder.recipe import loading

    return loading.load_packaged(DEFAULT_RECIPE) if source is None else loading.load(source)
