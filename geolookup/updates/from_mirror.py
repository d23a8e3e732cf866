"""Updates from a mirror, by one poll."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from geolookup.errors import DatasetError, MirrorError, UpdateError
from geolookup.progress import Progress
from geolookup.updates.in_store import State, Target, UpdateResult, current_of
from geolookup.updates.sources import Tell

if TYPE_CHECKING:
    from geolookup.mirrors.source import Source

#: The state of an update by the result of its poll.
_STATES: dict[str, State] = {"updated": "updated", "current": "current", "held": "withdrawn"}


@dataclass(frozen=True, slots=True)
class FromMirror:
    """An update by a mirror: ``plan`` reports it, ``perform`` does it."""

    url: str
    target: Target
    limit_rate: int | None = None

    @classmethod
    def of(cls, url: str, target: Target, limit_rate: int | None) -> FromMirror:
        """Return the update; ValueError for an address that no mirror can have."""
        request = cls(url, target, limit_rate)
        try:
            request._source().check()
        except MirrorError as error:
            raise ValueError(str(error)) from None
        return request

    @property
    def name(self) -> str:
        """The name of the dataset in messages."""
        return "the mirror's dataset"

    def plan(self, tell: Tell) -> UpdateResult:
        """Report the steps of an update; no request goes to the mirror."""
        self.target.check()
        store = self.target.store
        tell(f"would poll {self._source().safe_url}, and publish its generation into {store}")
        return UpdateResult("planned", str(store), current_of(store))

    def perform(self, progress: Progress, tell: Tell) -> UpdateResult:
        """Poll the mirror; UpdateError if it does not answer, or the store refuses its dataset."""
        from geolookup.mirrors.follow import poll

        self.target.trust()
        source = self._source()
        try:
            with progress.stage("polling the mirror"):
                polled = poll(source, tell=tell)
        except (MirrorError, DatasetError) as error:
            raise UpdateError([str(error)]) from error
        if polled.bytes:
            tell(f"{source.safe_url}: a {polled.kind} of {polled.bytes:,} bytes")
        return UpdateResult(_STATES[polled.state], str(self.target.store), polled.generation)

    def _source(self) -> Source:
        from geolookup.mirrors.source import Source

        target = self.target
        return Source(self.url, target.store, target.keep, target.keep_for, self.limit_rate)
