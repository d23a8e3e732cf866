"""The generations that rows with instants are answered from, and the rows that none answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from geolookup.contract.gregorian import timestamp
from geolookup.errors import count_text

if TYPE_CHECKING:
    from geolookup.kernel.protocol import State


@dataclass(frozen=True, slots=True)
class Generations:
    """The periods of a store, the oldest first, without gaps; the last one has no end."""

    store: str  # for messages
    begins: Sequence[int]  # the first Unix second of each period
    by_period: Sequence[str | None]  # the generation; None if it is pruned. The last one exists.
    #: Returns the open dataset of a generation; DatasetError if it cannot be opened.
    open: Callable[[str], State]


@dataclass(slots=True)
class RowsWithoutGeneration:
    """Counts of rows that no generation answers, by reason; they are null in all new columns."""

    before: int = 0  # the first period
    pruned: int = 0  # in a period whose generation is pruned
    no_instant: int = 0

    def add(self, other: RowsWithoutGeneration) -> None:
        """Add the counts of other rows."""
        self.before += other.before
        self.pruned += other.pruned
        self.no_instant += other.no_instant

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
