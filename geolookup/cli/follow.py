"""``geolookup follow``: keeps a store at the current generation of a mirror."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any

import click

from geolookup.cli import exit_on_signals, fail, options
from geolookup.cli.command import command
from geolookup.errors import GeoLookupError, line_text
from geolookup.mirrors.child import command as child_command
from geolookup.mirrors.child import end_with_input, environment
from geolookup.mirrors.follow import Follower, line_of, poll
from geolookup.mirrors.polling import Polling
from geolookup.mirrors.source import Source
from geolookup.store import pointer
from geolookup.store.changing import check_store

_DEFAULT = Polling()
_DURATION = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_RATE = re.compile(r"([0-9]{1,9})([kM]?)")
_BYTES = {"": 1, "k": 1000, "M": 1_000_000}
#: Bytes a second. Below that, servers end a connection because it is slow.
_LOWEST_RATE = 16_000


def _read_interval(_context: object, option: click.Parameter, text: str) -> float:
    if not (seconds := _read_duration(None, option, text)):
        fail("--every is no time; write seconds, minutes or hours, as 30s, 5m or 1h")
    return seconds


def _read_duration(_context: object, option: click.Parameter, text: str | None) -> float | None:
    if text is None:
        return None
    match = _DURATION.fullmatch(text)
    if match is None:
        name = option.opts[0]
        fail(f"{name} is {text!r}; write seconds, minutes or hours, as 30s, 5m or 1h")
    return float(match[1]) * _SECONDS[match[2]]


def _read_rate(_context: object, _option: object, text: str | None) -> int | None:
    if text is None:
        return None
    match = _RATE.fullmatch(text)
    if match is None or (rate := int(match[1]) * _BYTES[match[2]]) < _LOWEST_RATE:
        fail(f"--limit-rate is {text!r}; write bytes a second, at least 16k, as 500k or 2M")
    return rate


_POLLS = options.group(
    click.option(
        "--every",
        metavar="TIME",
        default=f"{_DEFAULT.every / 60:g}m",
        show_default=True,
        callback=_read_interval,
        help="Time between two polls of the mirror, such as 30s, 5m or 1h.",
    ),
    click.option(
        "--jitter",
        metavar="TIME",
        callback=_read_duration,
        help="Random delay of up to TIME after each interval. [default: a tenth of --every]",
    ),
    click.option(
        "--limit-rate",
        "max_rate",
        metavar="RATE",
        callback=_read_rate,
        help="Maximum rate of a download in bytes a second, such as 500k or 2M. [default: any]",
    ),
    options.keep(least=2, usual=_DEFAULT.keep),
)


def polls(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of polls; the command gets them as ``polling``."""

    @wraps(function)
    def wrapper(**values: Any) -> None:
        function(**with_polling(values))

    return _POLLS(wrapper)


def with_polling(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a command, with those of polls replaced by one ``polling``."""
    names = {option.name for option in fields(Polling)}
    polling = Polling(**{name: values[name] for name in names})
    return {**{name: values[name] for name in values if name not in names}, "polling": polling}


@command("follow", "Keep a store at the generation of a mirror.")
@click.argument("url")
@click.option(
    "--store",
    metavar="DIR",
    required=True,
    type=options.AS_PATH,
    help="Store to publish into; it is created if it is missing.",
)
@polls
@options.store_trusts
@click.option("--once", is_flag=True, help="Poll once, and exit with 1 if that fails.")
@click.option("--until-eof", is_flag=True, hidden=True)  # for serve: it ends with that process
def follow(
    url: str,
    store: Path,
    polling: Polling,
    trusted_keys: tuple[str, ...] | None,
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
    it failed. Exits with 2 if URL is not the address of a mirror,
    or the folder is not a store.

    Example: geolookup follow https://geo.example.com/city --store /srv/geo --every 5m
    """
    exit_on_signals()
    if until_eof:
        end_with_input()
    source = Source(url, store, polling.keep, polling.max_rate)
    _check(source)
    _trust(store, trusted_keys or ())
    if once:
        _poll_once(source)
        return
    try:
        Follower(source, polling, _tell, _warn).run()
    except SystemExit:  # only a signal ends the loop
        sys.exit(0)


def _check(source: Source) -> None:
    """Exit with status 2 for an address or a folder that no poll can use."""
    try:
        source.check()
        with suppress(OSError):  # the poll says what cannot be read, and tries again
            check_store(source.store)
    except GeoLookupError as error:
        fail(str(error))


def _trust(store: Path, files: tuple[str, ...]) -> None:
    """Let a store trust keys, unless it trusts some already.

    If it does, the given keys must be among them: a key that was removed from the store must not
    return with the next start of this command.
    """
    if not files or _is_trusted(store, files):
        return
    if (store / pointer.TRUSTED).exists():
        names = ", ".join(files)
        remedy = f"'geolookup signing-keys trust {store} KEY.pub' adds one"
        fail(f"{store} trusts other keys than {names}; {remedy}")
    # In another process: the package that reads keys takes a third of the memory of this one.
    line = child_command("geolookup", "signing-keys", "trust", str(store), *files)
    done = subprocess.run(line, env=environment(), check=False)  # noqa: S603 (our own interpreter)
    if done.returncode:
        sys.exit(done.returncode)


def _is_trusted(store: Path, files: tuple[str, ...]) -> bool:
    """Return whether these files of keys, byte by byte, are among those that a store trusts."""
    try:
        trusted = {path.read_bytes() for path in (store / pointer.TRUSTED).glob("*.pem")}
        return trusted.issuperset(Path(path).read_bytes() for path in files)
    except OSError as error:
        fail(f"{error.filename}: cannot be read ({error.strerror}); check its permissions")


def _poll_once(source: Source) -> None:
    try:
        polled = poll(source, tell=_tell)
    except GeoLookupError as error:
        _warn(str(error))
        sys.exit(1)
    _tell(line_of(polled) or f"generation {polled.generation} is current")


def _tell(text: str) -> None:
    click.echo(line_text(text))


def _warn(text: str) -> None:
    click.echo(f"geolookup: {line_text(text)}", err=True)
