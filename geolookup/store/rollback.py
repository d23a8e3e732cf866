"""Rolling back: the generation before the current one answers again."""

from __future__ import annotations

import os
from pathlib import Path

from geolookup.errors import DatasetError
from geolookup.integrity import verify
from geolookup.store import pointer
from geolookup.store.changing import changing
from geolookup.store.pointer import Published


def rollback(store: str | os.PathLike[str]) -> str:
    """Withdraw the current generation of a store; return the id of the new current one.

    That is the generation before it, which is verified first. A withdrawn generation stays
    in the store until it is pruned; ``publish`` makes it current again, a rollback never
    does. Raises DatasetError if there is no store, no generation before the current one, or
    a damaged one, OutputError if the store cannot be written; it stays as it was then.
    """
    store = Path(store)
    with changing(store) as published:
        standing = pointer.standing(published)
        if len(standing) < 2:
            raise DatasetError(store, "no generation before the current one", "publish another")
        before, current = standing[-2:]
        verify(pointer.folder_of(store, before.generation))
        withdrawn = Published(current.generation, current.at, withdrawn=True)
        pointer.write(store, [withdrawn if each is current else each for each in published])
    return before.generation
