"""``geolookup update``: makes a store current, from a recipe, an archive or a mirror."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from geolookup.cli import discard_output, exit_on_signals, fail, key_options, options
from geolookup.cli.command import command
from geolookup.cli.quantities import limit_rate, max_memory
from geolookup.dataset.metadata import age_limit
from geolookup.errors import UpdateError
from geolookup.store.pointer import KEEP

if TYPE_CHECKING:
    from geolookup.updates.in_store import UpdateResult

_STATES = {
    "updated": "generation {0.generation} published into {0.store}",
    "current": "generation {0.generation} is current in {0.store}",
    "withdrawn": "generation {0.generation} stays current in {0.store}, after a rollback"
    " or a publication in that store",
    "recent": "the last update of {0.store} is recent; nothing done",
}


def _read_age(_context: object, _option: object, value: str | None) -> timedelta | None:
    if value is None:
        return None
    try:
        return age_limit(value, "--if-older")
    except ValueError as error:
        fail(str(error))


@command("update")
@click.argument("recipe", type=options.PATH, required=False)
@options.store
@click.option(
    "--if-older",
    metavar="AGE",
    callback=_read_age,
    help="Do nothing if an update succeeded that began less than AGE ago, such as 20h, 7d or 2w.",
)
@click.option("--dry-run", is_flag=True, help="Print the steps of the update, and change nothing.")
@options.keep(default=f"the recipe's, else {KEEP}")
@max_memory
@options.cache
@key_options.signing_keys()
@key_options.trusted_keys
@limit_rate
@options.lock_timeout
def update(
    recipe: str | None,
    store: Path | None,
    dry_run: bool,
    keep: int | None,
    keep_for: str | None,
    trusted_keys: tuple[str, ...] | None,
    **source: Any,
) -> None:
    """Make a store current now: from the sources of RECIPE, from an archive, or from a mirror.

    RECIPE is a recipe file, the name of a packaged recipe (`geolookup recipes`) or
    a file or folder of data. Without RECIPE, the recipe world: country and AS of
    every address. The sources that changed are downloaded and compiled. The result is
    verified, compared with the current generation by the gates of the recipe, and
    published into the store. Old generations are pruned.

    RECIPE may also be a file of `geolookup pack` or a mirror: the address (https://,
    s3://, gs://) or the path of a folder that `geolookup mirror` wrote. A mirror is
    polled once; `geolookup follow` keeps polling. --if-older, --max-memory, --cache
    and --signing-key are for recipes, --limit-rate is for mirrors. A store that trusts
    no key trusts the keys of --trusted-key from now on.

    Exits with 0 if the store is current or was updated, 1 if a source or a mirror
    failed, or a gate, a demand of [quality] or the store refused the result, 2 for misuse
    or a store or cache that cannot be written. Unless an update succeeds, the store does
    not change. If a step after the publication fails, such as the removal of an old
    generation, a line names it, and the exit status is 0.

    Example: geolookup update --if-older 7d
    """
    from geolookup.progress import Progress
    from geolookup.updates import request_of
    from geolookup.updates.in_store import target_of

    exit_on_signals()
    try:
        request = request_of(recipe, target_of(store, keep, trusted_keys, keep_for), **source)
    except ValueError as error:  # such as an empty name of a recipe
        fail(_as_typed(str(error)))
    tell = _Lines()
    try:
        done = request.plan(tell) if dry_run else request.perform(Progress(), tell)
    except UpdateError as error:
        for problem in error.problems:
            click.echo(f"geolookup: {problem}", err=True)
        sys.exit(1)
    _report(done, tell)
    if recipe is not None and store is None and done.state == "updated":
        tell(f"without --dataset, commands and geolookup.open() answer from {request.name}")


def _as_typed(problem: str) -> str:
    """Return a problem that begins with the name of an argument, with the option in its place."""
    name, space, text = problem.partition(" ")
    opts = {parameter.name: parameter.opts for parameter in update.params}
    return f"{max(opts.get(name, [name]), key=len)}{space}{text}"


def _report(done: UpdateResult, tell: _Lines) -> None:
    if done.state in _STATES:
        tell(_STATES[done.state].format(done))
    for generation in done.removed:
        tell(f"removed {generation}")
    for generation in done.kept_as_deltas:
        tell(f"kept as a delta {generation}")
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
