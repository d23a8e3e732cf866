"""An update from a mirror: one poll of it, as ``geolookup follow`` does again and again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geolookup.errors import MirrorError, UpdateError
from geolookup.progress import Progress
from geolookup.updates.place import check_place, current_of, make_data_folder
from geolookup.updates.result import State, Updated
from geolookup.updates.sources import Tell

#: What a poll came to, as an update states it.
_STATES: dict[str, State] = {"updated": "updated", "current": "current", "held": "withdrawn"}


@dataclass(frozen=True, slots=True)
class FromMirror:
    """An update by the address of a mirror; ``planned`` and ``performed`` answer it."""

    url: str
    store: Path

    @property
    def name(self) -> str:
        """The name of the dataset, as an update speaks of it."""
        return "the mirror's dataset"

    def planned(self, tell: Tell) -> Updated:
        """Tell what an update would do; nothing is asked of the mirror."""
        check_place(self.store)
        tell(f"would ask {self.url} for its index, and install what it names into {self.store}")
        return Updated("planned", str(self.store), current_of(self.store))

    def performed(self, progress: Progress, tell: Tell) -> Updated:
        """Poll the mirror; UpdateError where it does not answer."""
        from geolookup.mirrors.follow import poll
        from geolookup.mirrors.polling import Request

        make_data_folder(self.store)
        try:
            with progress.stage("asking the mirror"):
                polled = poll(Request(self.url, self.store), tell=tell)
        except MirrorError as error:
            raise UpdateError([str(error)]) from error
        return Updated(_STATES[polled.state], str(self.store), polled.generation)
