"""``geolookup follow``: keeps a store at the current generation of a mirror."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import click

from geolookup.cli import exit_on_signals, fail, follow_options
from geolookup.errors import GeoLookupError, line_text
from geolookup.mirrors.follow import Follower, line_of
from geolookup.mirrors.poll import poll
from geolookup.mirrors.processes import at_end_of_input
from geolookup.mirrors.request import Request
from geolookup.mirrors.schedule import Schedule


@click.command(name="follow", short_help="Keep a store at the generation of a mirror.")
@click.argument("url")
@click.option(
    "--store",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path),
    help="Store to publish into; it is created if it is missing.",
)
@follow_options.polls
@click.option("--once", is_flag=True, help="Poll once, and exit with 1 if that fails.")
@click.option("--until-eof", is_flag=True, hidden=True)  # for serve: it ends with that process
def follow(
    url: str,
    store: Path,
    every: float,
    jitter: float,
    budget: int | None,
    trust: tuple[Path, ...],
    keep: int,
    once: bool,
    until_eof: bool,
) -> None:
    """Poll the mirror at URL, and publish its current generation into a store.

    URL is the address of a folder that `geolookup mirror` wrote: https://, s3:// or
    gs://, http:// on this machine, or a path. A poll asks for the index, and
    downloads a delta or a pack if it has changed. Everything is verified before the
    generation becomes current. Whatever fails, the store keeps its generation, and
    the next poll tries again. STORE/follow.json has the state.

    Ends with 0 on SIGTERM. With --once, exits with 0 if the store is up to date.

    Example: geolookup follow https://geo.example.com/city --store /srv/geo --every 5m
    """
    exit_on_signals()
    if until_eof:
        at_end_of_input(lambda: os.kill(os.getpid(), signal.SIGTERM))
    request = Request(url, store, keep, budget)
    _trust(store, trust)
    if once:
        _poll_once(request)
        return
    try:
        Follower(request, Schedule(every, jitter), _tell, _warn).run()
    except SystemExit:  # a signal: there is no other end
        sys.exit(0)


def _trust(store: Path, files: tuple[Path, ...]) -> None:
    """Let a store trust keys, unless it trusts some already.

    Then they have to be among those: a key that was removed from the store must not come back
    with the next start of this command.
    """
    if not files:
        return
    from geolookup.signing.keys import read_public
    from geolookup.store.trusted import keys_of, trust

    keys = {file: read_public(file) for file in files}
    trusted = set(keys_of(store).values())
    for file in [file for file, key in keys.items() if trusted and key not in trusted]:
        fail(f"{file}: {store} trusts other keys; add it with 'geolookup trust {store} {file}'")
    if not trusted:
        trust(store, keys.values())


def _poll_once(request: Request) -> None:
    try:
        polled = poll(request, tell=_tell)
    except GeoLookupError as error:
        _warn(str(error))
        sys.exit(1)
    _tell(line_of(polled) or f"generation {polled.generation} is current")


def _tell(text: str) -> None:
    click.echo(line_text(text))


def _warn(text: str) -> None:
    click.echo(f"geolookup: {line_text(text)}", err=True)
