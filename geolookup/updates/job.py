"""One update on its way: what was asked for, what is told of it, and its place in the store.

::

    STORE/.update/lock                held by the process that updates the store
    STORE/.update/dataset/            where a recipe is compiled: on the disk of the generations
    STORE/.update/index/, archives/   files of a mirror

The lock of the store itself (``store.changing``) is held only while the store changes:
``publish`` and ``rollback`` do not wait for downloads.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from geolookup.comparison.gates import Verdict
from geolookup.filesystem import atomic
from geolookup.filesystem.locks import hold_lock, hold_lock_if_free
from geolookup.mirrors.source import Mirror
from geolookup.progress import Progress
from geolookup.signing.keys import PrivateKey, PublicKey
from geolookup.store import pointer
from geolookup.store.changing import changing, check_parent, check_store
from geolookup.store.incoming import IncomingDataset
from geolookup.store.retention import Retention
from geolookup.store.trusted import trust_first

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import Recipe

_FOLDER = ".update"
Outcome = Literal["published", "unchanged", "held", "planned"]
Tell = Callable[[str], None]


class Offer(NamedTuple):
    """What a source offers to the store: a dataset, or ``outcome`` without one."""

    outcome: Outcome
    members: Mapping[str, Any] = {}  # of the state after success
    incoming: IncomingDataset | None = None
    gate: Callable[[Path], None] | None = None
    withdrawn: Collection[str] = ()
    signature: bytes | None = None


@dataclass(slots=True)
class Job:
    """The arguments of an update, checked; then its warnings, counts, verdicts and durations."""

    source: Recipe | Path | Mirror
    store: Path
    retention: Retention
    if_older: timedelta | None = None
    dry_run: bool = False
    max_memory: str | int | None = None
    cache: Path | None = None  # of downloaded files; None: the user's
    signers: tuple[PrivateKey, ...] = ()
    trusted_keys: tuple[PublicKey, ...] = ()
    tell: Tell = lambda _text: None
    progress: Progress = field(default_factory=lambda: Progress(silent=True))
    warnings: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)  # bytes, rows rejected, values nulled
    gates: list[Verdict] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)  # by step

    @property
    def title(self) -> str:
        """The source in one word: an address, a path, or the name in the recipe."""
        if isinstance(self.source, Mirror):
            return self.source.safe_url
        return str(self.source) if isinstance(self.source, Path) else self.source.name

    @property
    def current(self) -> Path | None:
        """The folder of the current generation; None if the store has none."""
        published = pointer.not_withdrawn(pointer.read(self.store))
        if not published:
            return None
        return Path(pointer.folder_of(self.store, published[-1].generation))

    @property
    def withdrawn(self) -> set[str]:
        """The generations that a rollback withdrew."""
        return {entry.generation for entry in pointer.read(self.store) if entry.withdrawn}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Show a step while the block runs, and note its duration."""
        began = time.monotonic()
        try:
            with self.progress.stage(name):
                yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0) + time.monotonic() - began

    @contextmanager
    def place(self) -> Iterator[Path]:
        """Yield a folder for the files of the update, in the store; other updates wait.

        The store is created if it is missing. A dry run has a temporary folder, and creates none.
        Raises OutputError for a folder that is not a store, DatasetError for a damaged store.
        """
        if self.dry_run:
            self._check_writable()
            with TemporaryDirectory() as folder:
                yield Path(folder)
            return
        trust_first(self.store, self.trusted_keys)
        with changing(self.store, make=True):
            pass  # creates the store, or refuses the folder
        folder = self.store / _FOLDER
        with ExitStack() as stack:
            self._lock(folder, stack)
            staging = folder / "dataset"
            shutil.rmtree(staging, ignore_errors=True)
            try:
                yield folder
            finally:
                shutil.rmtree(staging, ignore_errors=True)

    def _check_writable(self) -> None:
        check_parent(self.store)
        with atomic.output_errors(self.store):
            atomic.check_place(self.store)
            check_store(self.store)

    def _lock(self, folder: Path, stack: ExitStack) -> None:
        lock = folder / "lock"
        with atomic.output_errors(folder):
            folder.mkdir(0o700, exist_ok=True)
            is_free = stack.enter_context(hold_lock_if_free(lock))
        if not is_free:
            self.tell("another update of this store is running; waiting until it has finished")
            with atomic.output_errors(folder):
                stack.enter_context(hold_lock(lock))
