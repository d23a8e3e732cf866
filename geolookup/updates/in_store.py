"""The store of an update, the files of updates in it, and the result of one.

::

    STORE/.update.lock     held by the process that updates the store
    STORE/.update/         its staging directory: on the file system of the generations
    STORE/update.json      dataset and begin of the last update that succeeded, for --if-older,
                           and the digests of ``unchanged``

The lock of the store itself (``store.changing``) is held only while the store changes:
``publish`` and ``rollback`` do not wait for downloads.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from geolookup.contract.gregorian import read_timestamp, timestamp
from geolookup.filesystem import atomic
from geolookup.filesystem.locks import hold_lock, hold_lock_if_free
from geolookup.filesystem.ownership import create
from geolookup.history.pruning import PruneResult, prune_after
from geolookup.signing.keys import PublicKey
from geolookup.signing.trust import TrustedKeys, read_trusted_keys
from geolookup.store import pointer
from geolookup.store.changing import changing, check_parent, check_store, store_path
from geolookup.store.retention import Retention
from geolookup.store.trusted import trust_first

_LOCK, _STAGING, _CHECKED = ".update.lock", ".update", "update.json"
State = Literal["updated", "current", "withdrawn", "recent", "planned"]


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """The outcome of an update, and the current generation of the store, if any.

    ``state``: "updated", "current" (nothing changed), "withdrawn" (a rollback withdrew the
    generation of the sources, the archive or the mirror), "recent" (``if_older``) or "planned"
    (``dry_run``).
    """

    state: State
    store: str
    generation: str | None
    removed: tuple[str, ...] = ()  # generations that were pruned
    kept_as_deltas: tuple[str, ...] = ()  # generations that became deltas
    warnings: tuple[str, ...] = ()  # failures after the publication, a line each


def result_of(
    state: State, store: Path, generation: str | None, pruned: PruneResult
) -> UpdateResult:
    """Return the outcome of an update, after the store was pruned."""
    removed, packed, warnings = map(tuple, (pruned.removed, pruned.packed, pruned.warnings))
    return UpdateResult(state, str(store), generation, removed, packed, warnings)


@dataclass(frozen=True, slots=True)
class Target:
    """The store that an update publishes into.

    ``trusted_keys`` are for a store that trusts no key yet. ``keep`` is the number of generations
    to keep, or ``keep_for`` a number of days; both None: the default of the request.
    """

    store: Path
    trusted_keys: tuple[PublicKey, ...] = ()
    keep: int | None = None
    keep_for: float | None = None

    def check(self) -> None:
        """Raise OutputError if the store cannot be written or created."""
        check_parent(self.store)
        with atomic.output_errors(self.store):
            atomic.check_place(self.store)
            check_store(self.store)

    def trust(self) -> None:
        """Let the store trust the keys; raises the errors of ``trust_first``."""
        trust_first(self.store, self.trusted_keys)

    def prune(self, default: Retention | None = None) -> PruneResult:
        """Prune the store. The update has succeeded already, so a failure is only a warning."""
        return prune_after(self.store, Retention.of(self.keep, self.keep_for, default))


def target_of(
    store: str | os.PathLike[str] | None,
    keep: int | None = None,
    trusted_keys: TrustedKeys | None = None,
    keep_for: timedelta | float | str | None = None,
) -> Target:
    """Return the target that the arguments of an update name; ``store`` None: the user's store.

    Raises OutputError if the home folder is unknown, KeyFileError for a bad key, ValueError or
    TypeError for an empty sequence of keys, and for a malformed ``keep`` or ``keep_for``.
    """
    span = Retention.of(keep, keep_for).keep_for
    days = None if span is None else span / timedelta(days=1)
    return Target(store_path(store), read_trusted_keys(trusted_keys), keep, days)


def current_of(store: Path) -> str | None:
    """Return the current generation of a store; None if it has none."""
    not_withdrawn = pointer.not_withdrawn(pointer.read(store))
    return not_withdrawn[-1].generation if not_withdrawn else None


@contextmanager
def updating(store: Path, tell: Callable[[str], None]) -> Iterator[Path]:
    """Yield an empty staging directory in a store, created if missing; other updates wait.

    Leftovers of an update that died are removed, and so is the directory afterwards.
    Raises OutputError for a folder that is not a store, DatasetError for a damaged store.
    """
    with changing(store, make=True):
        pass  # creates the store, or refuses the folder
    staging = store / _STAGING
    with ExitStack() as stack:
        _lock(store, stack, tell)
        try:  # from here on: a signal may end the process as soon as the folder exists
            with atomic.output_errors(staging):
                _remove(staging)
                staging.mkdir(0o700)
            yield staging  # outside output_errors: the store is not the cause of these errors
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def _lock(store: Path, stack: ExitStack, tell: Callable[[str], None]) -> None:
    with atomic.output_errors(store / _LOCK):
        is_free = stack.enter_context(hold_lock_if_free(store / _LOCK))
    if not is_free:
        tell("another update of this store is running; waiting until it has finished")
        with atomic.output_errors(store / _LOCK):
            stack.enter_context(hold_lock(store / _LOCK))


def _remove(path: Path) -> None:
    """Remove a folder, a file, or a link, but not the target of a link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def has_succeeded_within(store: Path, dataset: str, limit: timedelta) -> bool:
    """Return whether an update of this dataset that succeeded began less than ``limit`` ago.

    False for a time in the future: after a clock was wrong, updates must not stop. False also
    without a readable record: it costs an update.
    """
    record = success_of(store)
    try:
        passed = datetime.now(UTC) - read_timestamp(record["checked"])
    except (ValueError, KeyError, TypeError, OverflowError):
        return False
    return record.get("dataset") == dataset and timedelta(0) <= passed < limit


def success_of(store: Path) -> dict[str, Any]:
    """Return the record of the last update that succeeded; empty without a readable one."""
    with suppress(OSError, ValueError, RecursionError):
        record = json.loads((store / _CHECKED).read_bytes())
        return record if isinstance(record, dict) else {}
    return {}


def record_success(
    store: Path,
    staging: Path,
    dataset: str,
    began: datetime,
    digests: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Record that an update succeeded, and when it began; written in ``staging``, then renamed.

    ``digests`` has the digests of the published manifest and of its inputs (``unchanged``).
    """
    record = {"dataset": dataset, "checked": timestamp(began), **digests}
    fresh = staging / _CHECKED
    with atomic.output_errors(store / _CHECKED):
        with create(fresh) as file:
            file.write(json.dumps(record).encode() + b"\n")
            atomic.sync(file)
        fresh.replace(store / _CHECKED)
        atomic.fsync_folder(store)
