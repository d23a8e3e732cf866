"""``geolookup follow``: keeps a store at the current generation of a mirror."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any

import click

from geolookup.cli import exit_on_signals, fail, key_options, options
from geolookup.cli.command import command
from geolookup.cli.quantities import Time, limit_rate
from geolookup.errors import GeoLookupError, line_text
from geolookup.mirrors.child import command as child_command
from geolookup.mirrors.child import end_with_input, environment
from geolookup.mirrors.follow import Follower
from geolookup.mirrors.polling import Polling
from geolookup.mirrors.source import Source
from geolookup.store import pointer
from geolookup.store.changing import check_store, store_path

_DEFAULT = Polling()
#: Seconds: a shorter interval would be a load for the mirror.
_SHORTEST = 0.1
_POLLS = options.group(
    click.option(
        "--every",
        metavar="TIME",
        type=Time(least=_SHORTEST),
        default=f"{_DEFAULT.every / 60:g}m",
        show_default=True,
        help="Time between two polls of the mirror, such as 30s, 5m or 1h.",
    ),
    click.option(
        "--jitter",
        metavar="TIME",
        type=Time(),
        help="Random delay of up to TIME after each interval. [default: a tenth of --every]",
    ),
    limit_rate,
    options.keep(least=2),
)


def polls(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of polls; the command gets them as ``polling``."""

    @wraps(function)
    def wrapper(**values: Any) -> None:
        function(**with_polling(values))

    return _POLLS(wrapper)


def with_polling(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a command; one ``polling`` replaces the options of polls."""
    names = {option.name for option in fields(Polling)}
    polling = Polling(**{name: values[name] for name in names})
    return {**{name: values[name] for name in values if name not in names}, "polling": polling}


@command("follow")
@click.argument("url")
@options.store
@polls
@key_options.trusted_keys
@click.option("--until-eof", is_flag=True, hidden=True)  # for serve: it ends with that process
def follow(
    url: str,
    store: Path | None,
    polling: Polling,
    trusted_keys: tuple[str, ...] | None,
    until_eof: bool,
) -> None:
    """Keep polling the mirror at URL, and publish its current generation into a store.

    `geolookup update URL` polls once.

    URL is the address of a folder that `geolookup mirror` wrote: https://, s3:// or
    gs://, http:// on this machine, or a path. If the index has changed, a poll downloads
    a delta or the whole archive. The generation is verified before it becomes current. If
    a poll fails, the store keeps its generation, and the next poll tries again. A line is
    printed if a generation is installed, and if polls begin to fail or to succeed again.
    A store that trusts no key trusts the keys of --trusted-key from now on.
    STORE/follow.json has the state.

    Exits with 0 on SIGTERM, and with 2 if URL is not the address of a mirror or the
    folder is not a store.

    Example: geolookup follow https://geo.example.com/city --store /srv/geo --every 5m
    """
    exit_on_signals()
    if until_eof:
        end_with_input()
    kept = polling.keep, polling.keep_for
    source = Source(url, store_path(store), *kept, polling.limit_rate)
    _check(source)
    _trust(source.store, trusted_keys or ())
    try:
        Follower(source, polling, _tell, _warn).run()
    except SystemExit:  # only a signal ends the loop
        sys.exit(0)


def _check(source: Source) -> None:
    """Exit with status 2 for an address or a folder that no poll can use."""
    try:
        source.check()
        with suppress(OSError):  # the poll reports an unreadable store, and tries again
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


def _tell(text: str) -> None:
    click.echo(line_text(text))


def _warn(text: str) -> None:
    click.echo(f"geolookup: {line_text(text)}", err=True)
