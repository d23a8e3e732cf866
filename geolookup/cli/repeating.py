"""``update --every``: the same update again and again, whatever fails."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import NoReturn

import click

from geolookup.errors import GeoLookupError, line_text
from geolookup.history.result import StoreResult
from geolookup.remote import backoff_wait

#: The first wait after a failure is the interval over this; it doubles with each further one.
#: every 300 s: waits after failures of 30, 60, 120, 240, 300, 300 ... s.
_FIRST_PART = 10
#: Seconds: the longest wait that a server may ask for, unless the interval is longer.
_LONGEST_ASKED = 3600.0
#: Stores that started together, as after a power failure, ask their server apart: the first wait
#: is any part of the interval, and each later one is up to a tenth longer than it must be.
_FIRST, _LATER = (0.0, 1.0), (1.0, 1.1)


def repeat(
    update: Callable[[], StoreResult], report: Callable[[StoreResult], None], every: float
) -> NoReturn:
    """Update for ever; report the first result and those that are news, and each problem once.

    ``every`` is the interval in seconds. After a failure the wait is shorter, unless the server
    asks for more.
    """
    failures, warned, last = 0, "", StoreResult("")
    while True:
        wait, jitter = every, _LATER if last.state else _FIRST
        try:
            result = update()
        except (GeoLookupError, OSError, MemoryError) as error:
            failures, jitter = failures + 1, _LATER
            asked = min(getattr(error, "wait", None) or 0.0, max(every, _LONGEST_ASKED))
            wait = max(backoff_wait(failures, every / _FIRST_PART, every), asked)
            problem = str(error) or type(error).__name__
            if problem != warned:
                click.echo(f"geolookup: {line_text(problem)}; next try in {wait:.3g} s", err=True)
            warned = problem
        else:
            is_news = (result.state, result.generation) != (last.state, last.generation)
            if failures or not last.state or (is_news and result.state != "unchanged"):
                report(result)
            failures, warned, last = 0, "", result
        time.sleep(wait * random.uniform(*jitter))  # noqa: S311 (no secret)
