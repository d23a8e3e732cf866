"""One update of a store at a time, and its staging directory.

::

    STORE/.update.lock     held by the process that updates the store
    STORE/.update/         its staging directory: on the file system of the generations

The lock of the store itself (``store.changing``) is held only while the store changes, so that
``publish`` and ``rollback`` do not wait for downloads.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from geolookup.filesystem import atomic
from geolookup.filesystem.lock import locked, locked_if_free
from geolookup.store.changing import changing

_LOCK, _STAGING = ".update.lock", ".update"


@contextmanager
def updating(store: Path, tell: Callable[[str], None]) -> Iterator[Path]:
    """Yield an empty staging directory in a store, created if missing; other updates wait.

    What an earlier update left that died is removed, and so is the directory afterwards.
    Raises OutputError for a folder that is not a store, DatasetError for a damaged store.
    """
    with changing(store, make=True):
        pass  # creates the store, or refuses the folder
    staging = store / _STAGING
    with atomic.output_errors(store), ExitStack() as stack:
        if not stack.enter_context(locked_if_free(store / _LOCK)):
            tell("another update of this store is running; waiting until it has finished")
            stack.enter_context(locked(store / _LOCK))
        if staging.exists():
            shutil.rmtree(staging)
        try:  # from here on: a signal may end the process as soon as the folder exists
            staging.mkdir()
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)
