"""``geolookup update``: brings a store up to date with the sources of a recipe."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import click

from geolookup.cli import discard_output, exit_on_signals, fail, options
from geolookup.cli.command import command
from geolookup.dataset.metadata import age_limit
from geolookup.errors import UpdateError

_STATES = {
    "updated": "generation {0.generation} published into {0.store}",
    "current": "generation {0.generation} is current in {0.store}",
    "withdrawn": "a rollback withdrew the generation that there is;"
    " {0.generation} stays current in {0.store}",
    "recent": "the last update of {0.store} is recent; nothing done",
}


def _read_age(_context: object, _option: object, value: str | None) -> timedelta | None:
    if value is None:
        return None
    try:
        return age_limit(value, "--if-older")
    except ValueError as error:
        fail(str(error))


@command("update", "Bring a store up to date with its sources.")
@click.argument("recipe", type=options.PATH, required=False)
@click.option(
    "--store",
    metavar="DIR",
    type=options.AS_PATH,
    help="Store to publish into. [default: $GEOLOOKUP_STORE, else in the user's data folder]",
)
@click.option(
    "--if-older",
    metavar="AGE",
    callback=_read_age,
    help="Do nothing if an update succeeded that began less than AGE ago, such as 20h, 7d or 2w.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be done, and change nothing.")
@options.cache
@options.signing_keys()
def update(
    recipe: str | None,
    store: Path | None,
    if_older: timedelta | None,
    dry_run: bool,
    cache: Path | None,
    signing_keys: tuple[str, ...],
) -> None:
    """Download the sources of RECIPE that changed, compile them, and publish the result.

    RECIPE is a recipe file, the name of a packaged recipe (`geolookup recipes`) or
    a file or folder of data. Without RECIPE, the recipe world: country and AS of
    every address. The result is verified, compared with the current generation by
    the gates of the recipe, and published into the store. Old generations are pruned.

    RECIPE may also be a file of `geolookup pack`, which is published, or the address of
    a mirror (https://, s3://, gs://), which is polled once, as `geolookup follow` does.

    Exits with 0 if the store is current or was updated, 1 if a source failed or a
    gate refused the result, 2 for misuse or a store or cache that cannot be
    written. The store stays as it was unless an update succeeds. What fails after
    the publication, such as the removal of an old generation, is one line and no error.

    Example: geolookup update --if-older 7d
    """
    from geolookup.progress import Progress
    from geolookup.updates import request_of

    exit_on_signals()
    try:
        request = request_of(recipe, store, if_older, cache, signing_keys)
    except ValueError as error:  # such as an empty name of a recipe
        fail(str(error))
    tell = _Lines()
    try:
        done = request.plan(tell) if dry_run else request.perform(Progress(), tell)
    except UpdateError as error:
        for problem in error.problems:
            click.echo(f"geolookup: {problem}", err=True)
        sys.exit(1)
    if done.state in _STATES:
        tell(_STATES[done.state].format(done))
    if recipe is not None and store is None and done.state == "updated":
        tell(f"without --dataset, commands and geolookup.open() answer from {request.name}")
    for generation in done.removed:
        tell(f"removed {generation}")
    for problem in done.warnings:
        click.echo(f"geolookup: {problem}", err=True)


class _Lines:
    """Lines of standard output, each printed at once: a download may take minutes.

    An update goes on without them: if one cannot be written, the others are dropped.
    """

    def __call__(self, text: str) -> None:
        try:
            click.echo(text)
        except OSError as error:
            discard_output()
            if not isinstance(error, BrokenPipeError):
                problem = (
                    f"standard output cannot be written ({error.strerror}); the update goes on"
                )
                click.echo(f"geolookup: {problem}", err=True)
