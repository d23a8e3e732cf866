"""``update --every``: the same update again and again, whatever fails."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

import click

from geolookup.errors import GeoLookupError, line_text
from geolookup.history.result import StoreResult
from geolookup.remote import backoff_wait

#: The first wait after a failure is the interval over this; it doubles with each further one.
#: every 300 s: waits after failures of 30, 60, 120, 240, 300, 300 ... s, and a jitter.
_FIRST_PART = 10
#: The default jitter is the interval over this.
_JITTER_PART = 10
#: Seconds: the longest wait that a server may ask for, unless the interval is longer.
_LONGEST_ASKED = 3600.0


@dataclass(frozen=True, slots=True)
class Interval:
    """The waits between updates: ``every`` seconds, and up to ``jitter`` more at random."""

    every: float
    jitter: float | None = None  # None: a tenth of the interval

    def first(self) -> float:
        """Return the wait after the first success, anything up to the interval.

        Stores that start together, as after a power failure, ask their server apart from then on.
        """
        return random.uniform(0, self.every)  # noqa: S311 (no secret)

    def next(self) -> float:
        """Return the wait after another success."""
        return self._with_jitter(self.every)

    def retry(self, failures: int, retry_after: float | None) -> float:
        """Return the wait after ``failures`` in a row; ``retry_after`` is of the server.

        It is never longer than after a success, unless the server asks for more.
        """
        wait = backoff_wait(failures, self.every / _FIRST_PART, self.every)
        limited = min(retry_after or 0.0, max(self.every, _LONGEST_ASKED))
        return self._with_jitter(max(wait, limited))

    def _with_jitter(self, wait: float) -> float:
        """Return a wait with its jitter, in proportion to the wait.

        every 300 s, jitter 30 s: 300 s become 300 to 330 s, and 60 s after a failure 60 to 66 s.
        """
        jitter = self.every / _JITTER_PART if self.jitter is None else self.jitter
        return wait * random.uniform(1, 1 + jitter / self.every)  # noqa: S311 (no secret)


def repeat(
    update: Callable[[], StoreResult],
    report: Callable[[StoreResult], None],
    interval: Interval,
) -> NoReturn:
    """Update for ever; report the first result and those that are news, and each problem once."""
    failures, warned, last = 0, "", StoreResult("")
    while True:
        try:
            result = update()
        except (GeoLookupError, OSError, MemoryError) as error:
            failures += 1
            wait = interval.retry(failures, getattr(error, "wait", None))
            problem = str(error) or type(error).__name__
            if problem != warned:
                click.echo(f"geolookup: {line_text(problem)}; next try in {wait:.3g} s", err=True)
            warned = problem
        else:
            is_news = (result.state, result.generation) != (last.state, last.generation)
            if failures or not last.state or (is_news and result.state != "unchanged"):
                report(result)
            wait = interval.next() if last.state else interval.first()
            failures, warned, last = 0, "", result
        time.sleep(wait)
