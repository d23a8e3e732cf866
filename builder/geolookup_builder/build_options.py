"""The options of a build, of a check and of an update."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Self

from geolookup.dataset.metadata import Metadata
from geolookup.signing.keys import PrivateKey, SigningKeys, read_signing_keys
from geolookup_builder.memory import MemoryBudget


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a build: its output, rejected rows and remote sources."""

    force: bool = False
    rejects: Path | None = None
    max_rejects: int | None = None  # per source table; None: 1 % of its rows
    cache: Path | None = None  # of downloaded files; None: the user's cache folder
    offline: bool = False  # use the cache only, without any request
    rows_before: Metadata | None = None  # of an earlier dataset: ``max_drop`` compares with it
    signing_keys: tuple[PrivateKey, ...] = ()  # the keys that sign the dataset
    max_memory: str | int | None = None  # such as "2GB"; None: three quarters of free memory

    @classmethod
    def of(
        cls,
        *,
        force: bool = False,
        rejects: str | PathLike[str] | None = None,
        max_rejects: int | None = None,
        max_memory: str | int | None = None,
        cache: str | PathLike[str] | None = None,
        offline: bool = False,
        signing_keys: SigningKeys = (),
    ) -> Self:
        """Return the options of a call; ValueError or KeyFileError for a malformed one."""
        if max_rejects is not None and max_rejects < 0:
            raise ValueError(f"max_rejects is {max_rejects}; it is a number of rows, 0 or more")
        MemoryBudget.of(max_memory)  # a malformed size
        return cls(
            force,
            None if rejects is None else Path(rejects),
            max_rejects,
            None if cache is None else Path(cache),
            offline,
            signing_keys=read_signing_keys(signing_keys),
            max_memory=max_memory,
        )
