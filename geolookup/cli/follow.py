"""``geolookup follow``: keeps a store at the current generation of a mirror."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from geolookup.cli import exit_on_signals, fail
from geolookup.errors import GeoLookupError, line_text
from geolookup.mirrors.follow import Follower, line_of
from geolookup.mirrors.poll import poll
from geolookup.mirrors.request import Request
from geolookup.mirrors.schedule import Schedule

_DURATION = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_RATE = re.compile(r"([0-9]{1,9})([kM]?)")
_BYTES = {"": 1, "k": 1000, "M": 1_000_000}
#: Bytes a second: below it, servers end connections for their slowness.
_LOWEST_RATE = 16_000


def _read_duration(_context: object, _option: object, text: str) -> float:
    found = _DURATION.fullmatch(text)
    if found is None or not (seconds := float(found[1]) * _SECONDS[found[2]]):
        fail(f"--every is {text!r}; write seconds, minutes or hours, as 30s, 5m or 1h")
    return seconds


def _read_rate(_context: object, _option: object, text: str | None) -> int | None:
    if text is None:
        return None
    found = _RATE.fullmatch(text)
    if found is None or (rate := int(found[1]) * _BYTES[found[2]]) < _LOWEST_RATE:
        fail(f"--budget is {text!r}; write bytes a second, at least {_LOWEST_RATE}, as 500k or 2M")
    return rate


@click.command(name="follow", short_help="Keep a store at the generation of a mirror.")
@click.argument("url")
@click.option(
    "--store",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path),
    help="Store to publish into; it is created if it is missing.",
)
@click.option(
    "--every",
    metavar="TIME",
    default="5m",
    show_default=True,
    callback=_read_duration,
    help="Time between two polls, such as 30s, 5m or 1h.",
)
@click.option(
    "--jitter",
    metavar="PART",
    type=click.FloatRange(0, 1),
    default=0.1,
    show_default=True,
    help="Part of that time by which it differs at random, longer or shorter.",
)
@click.option(
    "--budget",
    metavar="BYTES",
    callback=_read_rate,
    help="Highest rate of a download in bytes a second, such as 500k or 2M. [default: any]",
)
@click.option(
    "--trust",
    metavar="KEY",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File of a public key that a store without trusted keys trusts from now on; repeatable.",
)
@click.option(
    "--keep",
    metavar="N",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    help="Keep the N generations that were published last.",
)
@click.option("--once", is_flag=True, help="Poll once, and exit with 1 if that fails.")
def follow(
    url: str,
    store: Path,
    every: float,
    jitter: float,
    budget: int | None,
    trust: tuple[Path, ...],
    keep: int,
    once: bool,
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
    request = Request(url, store, keep, budget)
    _trust(store, trust)
    if once:
        _poll_once(request)
        return
    try:
        Follower(request, Schedule(every, jitter), _tell, _warn).run()
    except SystemExit:  # a signal: the only end that there is
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
    for file, key in keys.items():
        if trusted and key not in trusted:
            fail(
                f"{file}: {store} trusts other keys; run 'geolookup trust {store} {file}' to add it"
            )
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
