"""The options of a build, of a check and of an update."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geolookup.signing.keys import PrivateKey
from geolookup_builder.limits import Limits, bound_of
from geolookup_builder.memory import MemoryBudget


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a build; ValueError for a malformed limit or size."""

    force: bool = False
    rejects: Path | None = None
    max_rejects: int | str | None = None  # of a source table; None: the limit of the recipe
    max_nulled: int | str | None = None  # of each field of it
    max_memory: str | int | None = None  # such as "2GB"; None: three quarters of free memory
    cache: Path | None = None  # of downloaded files; None: the user's cache folder
    offline: bool = False  # use the cache only, without any request
    earlier: Path | None = None  # a dataset: ``max_drop`` and ``min_coverage`` compare with it
    signing_keys: tuple[PrivateKey, ...] = ()  # the keys that sign the dataset

    def __post_init__(self) -> None:
        MemoryBudget.of(self.max_memory)
        for name in ("max_rejects", "max_nulled"):
            value = getattr(self, name)
            if value is not None and bound_of(value) is None:
                raise ValueError(f'{name} is {value!r}; write a number such as 10, or "1%"')

    @property
    def limits(self) -> Limits:
        """The limits of all sources, whatever their recipe says."""
        limits = {"max_rejected": self.max_rejects, "max_nulled": self.max_nulled}
        bounds = {key: bound_of(value) for key, value in limits.items()}
        return {key: {"": bound} for key, bound in bounds.items() if bound is not None}
