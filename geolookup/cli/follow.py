"""``geolookup follow``: keeps a store at the current generation of a mirror."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import click

from geolookup.cli import exit_on_signals, fail, follow_options
from geolookup.errors import GeoLookupError, line_text
from geolookup.mirrors.child import command, end_with_input, environment
from geolookup.mirrors.follow import Follower, line_of, poll, source_of
from geolookup.mirrors.polling import Polling, Request
from geolookup.store import pointer
from geolookup.store.changing import check_store


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
    polling: Polling,
    once: bool,
    until_eof: bool,
) -> None:
    """Poll the mirror at URL, and publish its current generation into a store.

    URL is the address of a folder that `geolookup mirror` wrote: https://, s3:// or
    gs://, http:// on this machine, or a path. A poll asks for the index, and
    downloads a delta or a pack if it has changed. Everything is verified before the
    generation becomes current. Whatever fails, the store keeps its generation, and
    the next poll tries again. STORE/follow.json has the state.

    Ends with 0 on SIGTERM. With --once, exits with 0 if the poll succeeded and 1 if
    it failed. Exits with 2 for what cannot be the address of a mirror, and for a
    folder that is no store.

    Example: geolookup follow https://geo.example.com/city --store /srv/geo --every 5m
    """
    exit_on_signals()
    if until_eof:
        end_with_input()
    request = Request(url, store, polling.keep, polling.budget)
    _check(request)
    _trust(store, polling.trust)
    if once:
        _poll_once(request)
        return
    try:
        Follower(request, polling, _tell, _warn).run()
    except SystemExit:  # a signal: there is no other end
        sys.exit(0)


def _check(request: Request) -> None:
    """End the command for an address or a folder that no later poll could use either."""
    try:
        source_of(request).check()
        with suppress(OSError):  # the poll says what cannot be read, and tries again
            check_store(request.store)
    except GeoLookupError as error:
        fail(str(error))


def _trust(store: Path, files: tuple[Path, ...]) -> None:
    """Let a store trust keys, unless it trusts some already.

    Then they have to be among those: a key that was removed from the store must not come back
    with the next start of this command.
    """
    if not files or _is_trusted(store, files):
        return
    if (store / pointer.TRUSTED).exists():
        named = ", ".join(map(str, files))
        fail(f"{store} trusts other keys than {named}; 'geolookup trust {store} KEY.pub' adds one")
    # In another process: the package that reads keys takes a third of the memory of this one.
    given = map(str, (store, *files))
    done = subprocess.run(command("geolookup", "trust", *given), env=environment(), check=False)  # noqa: S603 (our own interpreter)
    if done.returncode:
        sys.exit(done.returncode)


def _is_trusted(store: Path, files: tuple[Path, ...]) -> bool:
    """Return whether these files of keys, byte by byte, are among those that a store trusts."""
    try:
        trusted = {path.read_bytes() for path in (store / pointer.TRUSTED).glob("*.pem")}
        return trusted.issuperset(path.read_bytes() for path in files)
    except OSError as error:
        fail(f"{error.filename}: cannot be read ({error.strerror}); check its permissions")


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
