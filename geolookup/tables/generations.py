"""The generations that rows with instants are answered from, and the rows that none answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from geolookup.contract.gregorian import timestamp
from geolookup.errors import count_text

if TYPE_CHECKING:
    from geolookup.kernel import State
    from geolookup.signing.keys import PublicKey


@dataclass(frozen=True, slots=True)
class Generations:
    """The periods of a store, the oldest first, without gaps; the last one has no end.

    Other processes receive it pickled: they answer by these periods, whatever is published.
    """

    store: str  # for messages
    begins: Sequence[int]  # the first Unix second of each period
    by_period: Sequence[str | None]  # the generation; None if it is pruned. The last one exists.
    #: Returns the open dataset of a generation; DatasetError if it cannot be opened.
    open: Callable[[str], State]


def generations_of(store: str, overlay: str | None, keys: tuple[PublicKey, ...]) -> Generations:
    """Return the generations of a store; the periods are read now.

    ``overlay`` stands above each generation. Raises DatasetError for a path that is not a store.
    """
    from geolookup.store import pointer
    from geolookup.store.in_force import periods

    of_store = periods(store)
    # Of each generation the last time: an overlay is compiled once.
    begin_of = {period.generation: period.begin for period in of_store}
    kept = {name: name if pointer.is_kept(store, name) else None for name in begin_of}
    return Generations(
        store,
        [period.begin for period in of_store],
        [kept[period.generation] for period in of_store],
        partial(_open_generation, store, overlay, keys, begin_of),
    )


def _open_generation(
    store: str,
    overlay: str | None,
    keys: tuple[PublicKey, ...],
    begin_of: Mapping[str, int],
    generation: str,
) -> State:
    from geolookup import kernel
    from geolookup.engine.compiled import CompiledPath
    from geolookup.store.requirements import Requirements
    from geolookup.store.resolve import DatasetPath

    as_of = Requirements(trusted_keys=keys or None, instant=begin_of[generation])
    past = DatasetPath(store, as_of, generation)
    return kernel.State((CompiledPath(overlay, as_of, past) if overlay else past).open_dataset())


@dataclass(slots=True)
class RowsWithoutGeneration:
    """Counts of rows that no generation answers, by reason; they are null in all new columns."""

    before: int = 0  # the first period
    pruned: int = 0  # in a period whose generation is pruned
    no_instant: int = 0

    def add(self, before: int, pruned: int, no_instant: int) -> None:
        """Add the counts of other rows."""
        self.before += before
        self.pruned += pruned
        self.no_instant += no_instant

    @property
    def total(self) -> int:
        """The rows of all reasons."""
        return self.before + self.pruned + self.no_instant

    def lines(self, generations: Generations) -> list[str]:
        """Return a line for each reason that occurs."""
        first = timestamp(generations.begins[0])
        store = generations.store
        reasons = (
            (self.before, f"before {first}, the first generation of {store}"),
            (self.pruned, f"in times whose generation {store} no longer has"),
            (self.no_instant, "without an instant"),
        )
        return [
            f"{count_text(count, 'row')} {'is' if count == 1 else 'are'} {reason}"
            for count, reason in reasons
            if count
        ]
