"""From the index of a mirror to the current generation of a store.

Strategy: the smallest archive is tried first: none, if the store has the generation; a delta, if
it has the base; else the pack. If a delta is refused, the pack is fetched in the same
poll. Only a publication changes the store, in one rename.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from geolookup.archives.head import open_archive
from geolookup.errors import DatasetError, MirrorError
from geolookup.filesystem import open_regular
from geolookup.history.generations import make_current
from geolookup.history.pruning import log_warnings, prune_after
from geolookup.history.publishing import publish
from geolookup.mirrors.index import INDEX, File, Index, read_index
from geolookup.mirrors.polling import CURRENT, HELD, UPDATED, PollResult, Status, current_in
from geolookup.mirrors.source import Source
from geolookup.signing.statement import read_statement
from geolookup.store import pointer
from geolookup.store.retention import Retention
from geolookup.store.trusted import name_in, trust_of

_log = logging.getLogger("geolookup")


def install(source: Source, index_file: Path, before: Status) -> PollResult:
    """Make the current generation of an index current in the store; return the outcome.

    ``before`` is the state after the last poll. Raises MirrorError, DatasetError for an index or
    an archive that is refused, OutputError for a store that cannot be written. The store keeps
    its generation then.
    """
    index = _acceptable_index(index_file, f"{source.safe_url}/{INDEX}", source.store, before)
    current = current_in(source.store)
    # Another generation was made current in the store, and the mirror has not published since.
    if current not in ("", index.current) and publication_of(index) == before.followed:
        return _outcome(HELD, current, index)
    kind, size = _Installation(source, index).run()
    source.forget_archives()
    if current == index.current:
        return _outcome(CURRENT, current, index, size)
    _prune(source)
    return _outcome(UPDATED, index.current, index, size, kind)


def publication_of(index: Index) -> str:
    """Return a text that differs after the next publication of the mirror."""
    return f"{index.current} {index.now.published_at}"


def _prune(source: Source) -> None:
    """Remove old generations. The store is up to date already, so a failure is only logged."""
    log_warnings(prune_after(source.store, Retention.of(source.keep, source.keep_for)))


def _outcome(
    result: str, generation: str, index: Index, size: int = 0, kind: str = ""
) -> PollResult:
    expires_at = index.expires_at or ""
    return PollResult(
        result, generation, size, kind, index.serial, expires_at, publication_of(index)
    )


def _acceptable_index(path: Path, address: str, store: Path, before: Status) -> Index:
    """Return the index in a file, if a store may follow it; else DatasetError."""
    trust = trust_of(store)
    with open_regular(path) as file:
        index = read_index(file.read(), trust.keys if trust else None, address)
    if index.is_expired(datetime.now(UTC)):
        raise DatasetError(address, f"expired at {index.expires_at}", _WRITE)
    # The last index, and the signatures in the store in case follow.json is lost.
    accepted = max(before.serial, trust.serial if trust else 0)
    if index.serial < accepted:
        problem = f"older than an accepted index (serial {index.serial}, accepted {accepted})"
        raise DatasetError(address, problem, _WRITE)
    name = name_in(store)
    if name not in (None, index.name):
        problem = f"the dataset is {index.name!r}, but the store has {name!r}"
        raise DatasetError(address, problem, "keep each dataset in a store of its own")
    return index


_WRITE = "write it again with 'geolookup mirror'"


class _Installation:
    """The current generation of an index, on its way into a store."""

    def __init__(self, source: Source, index: Index) -> None:
        self._source, self._store, self._index = source, source.store, index

    def run(self) -> tuple[str, int]:
        """Install the generation; return its origin (``PollResult.kind``) and the bytes of that."""
        if self._is_taken():
            return "stored", 0
        kind, size = self._fetch()
        # ``publish`` has made it current; this marks the withdrawn ones and adopts the signature.
        self._take()
        return kind, size

    def _is_taken(self) -> bool:
        """Return whether the store had the generation, undamaged: then it is current now."""
        try:
            self._take()
        except DatasetError:
            return False
        return True

    def _take(self) -> None:
        """Make the generation current; neither rollback nor fallback returns to a withdrawn one."""
        withdrawn = {item.generation for item in self._index.generations if item.withdrawn}
        signature = self._index.now.signature
        text = None if signature is None else signature.encode()
        make_current(self._store, self._index.current, withdrawn, text)

    def _fetch(self) -> tuple[str, int]:
        """Publish the generation from a delta if one can be applied, else from the pack."""
        pack = cast("File", self._index.now.pack)  # read_index demands one of the current one
        delta = self._delta()
        if delta is not None and delta.bytes < pack.bytes and self._is_published(delta):
            return "delta", delta.bytes
        self._publish(pack)
        return "pack", pack.bytes

    def _delta(self) -> File | None:
        """Return the smallest delta from a generation that the store has."""
        usable = (
            delta.file
            for delta in self._index.now.deltas
            if pointer.is_unpacked(self._store, delta.base)
        )
        return min(usable, key=lambda file: file.bytes, default=None)

    def _is_published(self, delta: File) -> bool:
        """Return whether a delta could be published: base or delta may be damaged, or gone."""
        try:
            self._publish(delta)
        except (DatasetError, MirrorError) as error:
            _log.warning("%s; fetching the pack instead", error)
            return False
        return True

    def _publish(self, file: File) -> None:
        archive = self._source.archive(file)
        self._check(archive)
        publish(archive, self._store, expect=self._index.current)

    def _check(self, archive: Path) -> None:
        """Raise DatasetError for an archive of another name, or other bytes, than in the index.

        A published archive with the wrong name would make the store refuse every later index.
        """
        with open_archive(archive) as (head, _):
            name, text = head.manifest.metadata().name, head.manifest_text
        if name != self._index.name:
            problem = f"is the dataset {name!r}, but the index says {self._index.name!r}"
            raise DatasetError(archive, problem, _WRITE)
        signature = self._index.now.signature
        if signature is not None:
            read_statement(signature.encode(), text, None, f"{self._source.safe_url}/{INDEX}")
