"""``geolookup follow``: polls a mirror again and again, whatever fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from geolookup.errors import GeoLookupError, MirrorError
from geolookup.mirrors.child import install_in_child
from geolookup.mirrors.poll import poll
from geolookup.mirrors.request import Polled, Request
from geolookup.mirrors.schedule import Schedule
from geolookup.mirrors.status import HELD, UPDATED

#: From what a generation was installed, by ``Polled.kind``.
_ORIGINS = {
    "stored": "which was in the store",
    "delta": "from a delta of {0.bytes:,} bytes",
    "pack": "from a pack of {0.bytes:,} bytes",
}
Tell = Callable[[str], None]


@dataclass(slots=True)
class Follower:
    """A store that follows a mirror; ``tell`` gets a line of news, ``warn`` one of what failed."""

    request: Request
    schedule: Schedule
    tell: Tell
    warn: Tell
    _succeeded: bool = field(default=False, init=False)
    _failures: int = field(default=0, init=False)  # in a row
    _warned: str = field(default="", init=False)

    def run(self) -> NoReturn:
        """Poll for ever."""
        while True:
            time.sleep(self.step())

    def step(self) -> float:
        """Poll once; return the seconds until the next poll."""
        try:
            polled = poll(self.request, install_in_child, self.tell)
        except (GeoLookupError, OSError, MemoryError) as error:
            return self._after_failure(error)
        return self._after_success(polled)

    def _after_failure(self, error: Exception) -> float:
        self._failures += 1
        asked = error.wait if isinstance(error, MirrorError) else None
        wait = self.schedule.retry(self._failures, asked)
        text = str(error) or type(error).__name__
        if text != self._warned:  # one line for each problem, not for each poll
            self._warned = text
            self.warn(f"{text}; the next poll is in {wait:.0f} s")
        return wait

    def _after_success(self, polled: Polled) -> float:
        if self._failures:
            self.tell("the mirror can be followed again")
        self._failures, self._warned = 0, ""
        if (line := line_of(polled)) is not None:
            self.tell(line)
        is_first, self._succeeded = not self._succeeded, True
        return self.schedule.first() if is_first else self.schedule.next()


def line_of(polled: Polled) -> str | None:
    """Return what a poll did, as a line; None where there is nothing new."""
    if polled.state == UPDATED:
        origin = _ORIGINS[polled.kind].format(polled)
        return f"generation {polled.generation} is current, {origin}"
    if polled.state == HELD:
        return f"generation {polled.generation} was chosen here; the mirror's is not installed"
    return None
