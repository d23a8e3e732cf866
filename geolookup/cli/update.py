"""``geolookup update``: brings a store up to date, once or again and again."""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, NoReturn

import click

from geolookup.cli import discard_output, fail, options, say
from geolookup.cli.command import command
from geolookup.cli.options import option
from geolookup.cli.store import print_result
from geolookup.errors import GeoLookupError, UpdateError, line_text
from geolookup.history.result import StoreResult
from geolookup.progress import current, shown
from geolookup.remote import backoff_wait

#: The first wait after a failure is the interval over this; it doubles with each further one.
#: every 300 s: waits after failures of 30, 60, 120, 240, 300, 300 ... s.
_FIRST_PART = 10
#: Seconds: the longest wait that a server may ask for, unless the interval is longer.
_LONGEST_ASKED = 3600.0
#: Stores that started together, as after a power failure, ask their server apart: the first wait
#: is any part of the interval, and each later one is up to a tenth longer than it must be.
_FIRST, _LATER = (0.0, 1.0), (1.0, 1.1)
#: A number with its unit: of times and of rates.
_QUANTITY = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([smhdkM]?)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_BYTES = {"": 1, "k": 1000, "M": 1_000_000}


def _quantity(units: Mapping[str, int], least: float, example: str) -> options.Parsed:
    """Return the type of a time or a rate of at least ``least``."""

    def read(text: str) -> float:
        match = _QUANTITY.fullmatch(text)
        size = float(match[1]) * units.get(match[2], 0) if match else 0.0
        if size < least:
            raise ValueError(f"{text!r} is not {example}")
        return int(size) if size.is_integer() else size

    return options.Parsed(read)


@command("update")
@click.argument("source", type=options.PATH, required=False)
@options.store
@option(
    "--every TIME",
    "Update again and again, at this interval, such as 60s or 1d, until Ctrl-C or SIGTERM.",
    _quantity(_SECONDS, 0.1, "a time such as 30s, 5m or 1h, at least 0.1s"),
)
@option(
    "--if-older AGE",
    "Do nothing if an update succeeded that began less than AGE ago, such as 20h, 7d or 2w.",
)
@options.dry_run
@option(
    "--download-only",
    "Download the sources of the recipe that have changed into the cache, and stop.",
)
@options.keep
@options.max_memory
@options.cache
@options.signing_keys()
@options.trusted_keys
@option(
    "--limit-rate RATE",
    "Maximum rate of a download in bytes a second, such as 500k or 2M. [default: no limit]",
    _quantity(_BYTES, 16_000, "a rate such as 500k or 2M, at least 16k"),
)
@option(
    "--json",
    "Print the result as JSON, with --every in a line; all else on standard error.",
    name="as_json",
)
def update(source: str | None, every: float | None, as_json: bool, **values: Any) -> None:
    """Bring a store up to date: with the sources of a recipe, an archive or a mirror.

    SOURCE is a recipe file, the name of a packaged recipe (`geolookup recipes`), a file or
    folder of data, a file of `geolookup mirror pack`, or a mirror: the address (https://,
    s3://, gs://) or path of a folder of `geolookup mirror write`. By default the recipe world:
    country and AS of every address. A store that trusts no key trusts the keys of
    --trusted-key from now on. Exits with 0 if the store is current or was updated, 1 if a
    source or a mirror failed, or a gate or a demand of [quality] refused the result, 2 for
    misuse, a refused archive or index, or a store or cache that cannot be written; then the
    store does not change. With --every, failures are printed and tried again; Ctrl-C and
    SIGTERM exit with 0.

    Example: geolookup update --if-older 7d
    """
    from geolookup.updates.job import job_of
    from geolookup.updates.run import run

    if values["download_only"] and every is not None:
        fail("--download-only is for one run; drop --every")
    # A text is announced once, though a loop may try again.
    tell = partial(_tell, err=as_json)
    new_job = partial(job_of, source, announce=cache(tell), **values)
    job = replace(new_job(), tell=tell)
    report = partial(_report, as_json=as_json, indent=every is None)
    if every is not None:
        try:
            with shown(silent=True):
                repeat(lambda: run(new_job()), report, every)
        except SystemExit:  # only a signal ends the loop
            sys.exit(0)
    try:
        result = run(job)
    except UpdateError as error:
        for problem in error.problems:
            say(f"geolookup: {problem}")
        if as_json:
            print_result(job.result.ended("failed"), as_json=True)
        sys.exit(1)
    report(result)
    if source is not None and values["store"] is None and result.state == "published":
        tell(f"without --dataset, commands and geolookup.open() answer from {result.name}")


def _report(result: StoreResult, *, as_json: bool, indent: bool) -> None:
    for problem in result.warnings:
        say(f"geolookup: {problem}")
    if as_json or result.state != "downloaded":  # its lines are told already
        _unless_closed(partial(print_result, result, as_json=as_json, indent=indent))


def _tell(text: str, *, err: bool) -> None:
    """Print a line at once: a download may take minutes."""
    current().clear()
    _unless_closed(partial(click.echo, line_text(text), err=err))


def _unless_closed(write: Callable[[], None]) -> None:
    """Write to standard output; if it cannot be written, the update goes on without it."""
    try:
        write()
    except OSError as error:
        discard_output()
        if not isinstance(error, BrokenPipeError):
            problem = f"standard output cannot be written ({error.strerror}); the update goes on"
            say(f"geolookup: {problem}")


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
                say(f"geolookup: {line_text(problem)}; next try in {wait:.3g} s")
            warned = problem
        else:
            is_news = (result.state, result.generation) != (last.state, last.generation)
            if failures or not last.state or (is_news and result.state != "unchanged"):
                report(result)
            failures, warned, last = 0, "", result
        time.sleep(wait * random.uniform(*jitter))  # noqa: S311 (no secret)
