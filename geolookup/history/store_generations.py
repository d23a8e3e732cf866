"""The generations of a store, as tables with instants of the past ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geolookup.history.past_path import PastPath
from geolookup.kernel import State
from geolookup.overlays import CompiledPath
from geolookup.store import pointer
from geolookup.store.in_force import periods
from geolookup.store.requirements import Requirements

if TYPE_CHECKING:
    from geolookup.signing.keys import PublicKey


class StoreGenerations:
    """Implements ``tables.generations.Generations``; the periods are read at the call.

    ``state`` is an open generation: it is not opened again. ``overlay`` stands above each
    generation. Raises DatasetError for a path that is not a store.
    """

    def __init__(
        self, store: str, state: State, overlay: str | None, keys: tuple[PublicKey, ...]
    ) -> None:
        self.store, self._state, self._overlay = store, state, overlay
        self._requirements = Requirements(trusted_keys=keys or None)
        of_store = periods(store)
        self.begins = [period.begin for period in of_store]
        # Of each generation the last time: an overlay is compiled once.
        self._begin_of = {period.generation: period.begin for period in of_store}
        kept = {name for name in self._begin_of if pointer.is_kept(store, name)}
        self.by_period = [
            period.generation if period.generation in kept else None for period in of_store
        ]

    def open(self, generation: str) -> State:
        """Return the open dataset of a generation, unpacked into the cache if it is an archive."""
        if generation == self._state.dataset.generation:
            return self._state
        requirements = self._requirements.as_of(self._begin_of[generation])
        past = PastPath(self.store, generation, requirements)
        if self._overlay is None:
            return State(past.open_dataset())
        return State(CompiledPath(self._overlay, requirements, past).open_dataset())
