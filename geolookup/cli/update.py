"""``geolookup update``: brings a store up to date, once or again and again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import click

from geolookup.cli import discard_output, fail, key_options, options
from geolookup.cli.command import command
from geolookup.cli.quantities import limit_rate, max_memory, time
from geolookup.cli.store import print_result
from geolookup.errors import UpdateError, line_text
from geolookup.progress import current, shown
from geolookup.store.pointer import KEEP

if TYPE_CHECKING:
    from geolookup.history.result import StoreResult

#: Seconds: a shorter interval would be a load for the server.
_SHORTEST = 0.1


@command("update")
@click.argument("source", type=options.PATH, required=False)
@options.store
@click.option(
    "--every",
    metavar="TIME",
    type=time(least=_SHORTEST),
    help="Update again and again, at this interval, such as 60s or 1d, until Ctrl-C or SIGTERM.",
)
@click.option(
    "--if-older",
    metavar="AGE",
    help="Do nothing if an update succeeded that began less than AGE ago, such as 20h, 7d or 2w.",
)
@options.dry_run
@click.option(
    "--download-only",
    is_flag=True,
    help="Download the sources of the recipe that have changed into the cache, and stop.",
)
@options.keep(default=f"the recipe's, else {KEEP}")
@max_memory
@options.cache
@key_options.signing_keys()
@key_options.trusted_keys
@limit_rate
@options.as_json("Print the result as JSON, with --every in a line; all else on standard error.")
def update(source: str | None, every: float | None, as_json: bool, **values: Any) -> None:
    """Bring a store up to date: with the sources of a recipe, an archive or a mirror.

    SOURCE is a recipe file, the name of a packaged recipe (`geolookup recipes`) or
    a file or folder of data. Without SOURCE, the recipe world: country and AS of
    every address; the recipe cities has cities too. Before the first download, the
    licences are printed, and what the recipe needs. The sources that changed are downloaded
    and compiled. The result is verified, compared with the current generation by the gates
    of the recipe, and published into the store. Old generations are pruned.

    SOURCE may also be a file of `geolookup mirror pack` or a mirror: the address (https://,
    s3://, gs://) or the path of a folder of `geolookup mirror write`. --max-memory, --cache,
    --download-only and --signing-key are for recipes, --limit-rate is for mirrors. A store that
    trusts no key trusts the keys of --trusted-key from now on. STORE/update.json has the
    state of the updates.

    With --every, a line is printed if a generation is published, and once for each
    problem. After a failure the store keeps its generation, and the next try comes
    sooner. Exits with 0 on Ctrl-C and SIGTERM.

    Without it, exits with 0 if the store is current or was updated, 1 if a source or a
    mirror failed, or a gate or a demand of [quality] refused the result, 2 for misuse,
    a refused archive or index, or a store or cache that cannot be written. Unless an
    update succeeds, the store does not change.

    Example: geolookup update --if-older 7d
    """
    from geolookup.cli.repeating import repeat
    from geolookup.updates.job import job_of
    from geolookup.updates.run import run

    if values["download_only"] and every is not None:
        fail("--download-only is for one run; drop --every")
    # A text is announced once, though a loop may try again.
    tell = partial(_tell, err=as_json)
    new_job = partial(job_of, source, announce=cache(tell), **values)
    try:
        job = replace(new_job(), tell=tell)
    except ValueError as error:  # such as an empty name of a recipe
        fail(_as_typed(str(error)))
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
            click.echo(f"geolookup: {problem}", err=True)
        if as_json:
            print_result(job.result.ended("failed"), as_json=True)
        sys.exit(1)
    report(result)
    if source is not None and values["store"] is None and result.state == "published":
        tell(f"without --dataset, commands and geolookup.open() answer from {result.name}")


def _as_typed(problem: str) -> str:
    """Return a problem that begins with the name of an argument, with the option in its place."""
    name, space, text = problem.partition(" ")
    opts = {parameter.name: parameter.opts for parameter in update.params}
    return f"{max(opts.get(name, [name]), key=len)}{space}{text}"


def _report(result: StoreResult, *, as_json: bool, indent: bool) -> None:
    for problem in result.warnings:
        click.echo(f"geolookup: {problem}", err=True)
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
            click.echo(f"geolookup: {problem}", err=True)
