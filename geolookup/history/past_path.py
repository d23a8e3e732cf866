"""A store as of an instant: the generation that was in force then, opened as a dataset."""

from __future__ import annotations

from geolookup.dataset.files import Dataset
from geolookup.history.unpacked import open_unpacked, unpacked
from geolookup.store.in_force import generation_at
from geolookup.store.resolve import DatasetPath

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from geolookup.store.in_force import AsOf
    from geolookup.store.requirements import Requirements


class PastPath(DatasetPath):
    """A store, and the generation that was in force at the instant of the requirements.

    The generation is fixed: no change of the store needs a reload.
    """

    def __init__(self, path: str, generation: str, requirements: Requirements) -> None:
        super().__init__(path, requirements)
        self._generation = generation

    @property
    def identity(self) -> str:
        """A text that no other location has."""
        return f"{self.path}\0{self._generation}"

    def fingerprint(self) -> object:
        """Return a constant: the dataset does not change."""
        return self._generation

    def generation(self) -> str:
        """Return the generation that was in force at the instant."""
        return self._generation

    def open_checked(self, check: Callable[[Dataset], None], *, fallback: bool = False) -> Dataset:
        """Open the generation, unpacked if it is an archive; ``check`` is of its signature.

        ``fallback`` has no effect: no other generation answers for the instant.
        """
        del fallback
        is_signed = bool(self._requirements.keys)
        return open_unpacked(self.path, self._generation, check if is_signed else None)

    def open_dataset(self, *, fallback: bool = False) -> Dataset:
        """Open the generation if it meets the requirements."""
        dataset = self.open_generation(self._generation, 0)
        self._requirements.check(dataset)
        return dataset

    def open_successor(self, _old: Dataset) -> Dataset:
        """Open the same generation again: it has no successor."""
        return self.open_dataset()


def folder_at(store: str, as_of: AsOf) -> Path:
    """Return the folder of the generation of a store that was in force at an instant.

    Raises DatasetError for a path that is not a store, for an instant before its first generation,
    and as ``unpacked``; ValueError or TypeError for an invalid instant.
    """
    return unpacked(store, generation_at(store, as_of))
