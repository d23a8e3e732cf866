"""The generations of a store that its mirror lists: what followers fetch, and must not keep."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from geolookup.errors import DatasetError
from geolookup.history.incoming import from_store
from geolookup.signing.statement import read_statement
from geolookup.store import pointer
from geolookup.store.pointer import Publication

#: Withdrawn generations that are listed.
_MOST_WITHDRAWN = 100


@dataclass(frozen=True, slots=True)
class MirrorGeneration:
    """A generation for the index; ``signature`` is the text of its statement."""

    generation: str
    published_at: str
    withdrawn: bool
    signature: str | None = None


def listed_generations(store: Path) -> list[MirrorGeneration]:
    """Return the current generation, the one before it and those withdrawn, the last first.

    Raises DatasetError without a store, and for a current generation that cannot be read.
    """
    published = pointer.read_existing(store)
    *others, current = pointer.not_withdrawn(published)
    listed = {current: _fetched_generation(store, current)}
    with suppress(DatasetError):  # pruned, or of another format version
        listed |= {entry: _fetched_generation(store, entry) for entry in others[-1:]}
    withdrawn = [entry for entry in published if entry.withdrawn][-_MOST_WITHDRAWN:]
    for entry in withdrawn:
        listed[entry] = MirrorGeneration(entry.generation, entry.at, withdrawn=True)
    return [listed[entry] for entry in reversed(published) if entry in listed]


def _fetched_generation(store: Path, entry: Publication) -> MirrorGeneration:
    """Return a generation that followers fetch; DatasetError for a signature of another one."""
    with from_store(store, entry.generation) as incoming:
        signature = incoming.signature
    if signature is not None:
        read_statement(signature, incoming.manifest_text, None, incoming.path)
    text = None if signature is None else signature.decode()
    return MirrorGeneration(entry.generation, entry.at, withdrawn=False, signature=text)
