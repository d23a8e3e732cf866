"""The generations that rows with instants are answered from, and the rows that none answers."""

from __future__ import annotations

from collections import Counter
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

    def reasons(self) -> tuple[str, str, str]:
        """Return why a row has no generation: none yet, none any more, or no instant."""
        first = timestamp(self.begins[0])
        return (
            f"before {first}, the first generation of {self.store}",
            f"in times whose generation {self.store} no longer has",
            "without an instant",
        )


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


def lines_of(without: Counter[str]) -> list[str]:
    """Return a line for each reason for which rows have no generation."""
    return [
        f"{count_text(count, 'row')} {'is' if count == 1 else 'are'} {reason}"
        for reason, count in without.items()
        if count
    ]
