"""The options of a build, of a check and of an update."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Self

from geolookup.signing.keys import PrivateKey, SigningKeys, read_signing_keys
from geolookup_builder.limits import Bound, limits_of_options
from geolookup_builder.memory import MemoryBudget


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a build: its output, rejected rows and remote sources."""

    force: bool = False
    rejects: Path | None = None
    max_rejects: int | str | None = None  # of a source table; None: as its recipe says
    cache: Path | None = None  # of downloaded files; None: the user's cache folder
    offline: bool = False  # use the cache only, without any request
    earlier: Path | None = None  # a dataset: ``max_drop`` and ``min_coverage`` compare with it
    signing_keys: tuple[PrivateKey, ...] = ()  # the keys that sign the dataset
    max_memory: str | int | None = None  # such as "2GB"; None: three quarters of free memory
    max_nulled: int | str | None = None  # of each field of it: a number or a share

    @property
    def limits(self) -> Mapping[str, Bound]:
        """The limits of all sources, whatever their recipe says."""
        return limits_of_options(self.max_rejects, self.max_nulled)

    @classmethod
    def of(
        cls,
        *,
        force: bool = False,
        rejects: str | PathLike[str] | None = None,
        max_rejects: int | str | None = None,
        max_nulled: int | str | None = None,
        max_memory: str | int | None = None,
        cache: str | PathLike[str] | None = None,
        offline: bool = False,
        signing_keys: SigningKeys = (),
    ) -> Self:
        """Return the options of a call; ValueError or KeyFileError for a malformed one."""
        limits_of_options(max_rejects, max_nulled)
        MemoryBudget.of(max_memory)  # a malformed size
        return cls(
            force,
            None if rejects is None else Path(rejects),
            max_rejects,
            None if cache is None else Path(cache),
            offline,
            signing_keys=read_signing_keys(signing_keys),
            max_memory=max_memory,
            max_nulled=max_nulled,
        )
