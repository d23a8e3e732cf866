"""``geolookup publish``, ``rollback``, ``generations`` and ``prune``: the commands of a store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

import geolookup
from geolookup.cli import exit_on_signals, fail, json_text, key_options, options
from geolookup.cli.command import command
from geolookup.errors import line_text

_ROW = "{:64}  {:20}  {:20}  {:10}  {:8}  {:>13}  {}"
_TITLES = ("generation", "published", "in force since", "data", "kept as", "bytes", "state")
_HEADER = _ROW.format(*_TITLES)


def _read_since(_context: object, _option: object, value: str | None) -> str | None:
    from geolookup.history.past import read_since

    try:
        return value if value is None else read_since(value)
    except ValueError as error:
        fail(f"--since: {error}")


@command("publish")
@options.dataset_object
@options.store
@click.option(
    "--full",
    metavar="FILE.tar.zst",
    type=options.AS_PATH,
    help="Archive of the whole dataset; published if the delta cannot be applied.",
)
@click.option("--expect", metavar="ID", help="Publish only the generation with this id.")
@click.option(
    "--since",
    metavar="DATE",
    callback=_read_since,
    help="Put DATASET into the past: it was in force from DATE until the next generation.",
)
@options.keep(default="all")
@options.lock_timeout
def publish(
    dataset: str | None,
    store: Path | None,
    full: Path | None,
    expect: str | None,
    since: str | None,
    keep: int | None,
    keep_for: str | None,
) -> None:
    """Verify DATASET, add it to the store as a generation, and make it the current one.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    DATASET may be a dataset, another store, or a file of `geolookup pack`. A delta is
    applied to its base, any generation of the store. A generation that the store already
    has becomes the current one again. Exits with 2 and leaves the store unchanged if the
    dataset is damaged, if its id differs from its content or from --expect, if the base
    is missing, or if the store trusts keys and none of them has signed the dataset.

    With --since, DATASET becomes the current one only if it is the newest. Unless it is
    one of the two newest, it is kept as a delta. --keep and --keep-for prune the store
    afterwards, as `geolookup prune` does.

    Example: geolookup publish mydata --store /srv/geo
    """
    exit_on_signals()
    generation = geolookup.publish(
        dataset, store, full=full, expect=expect, since=since, keep=keep, keep_for=keep_for
    )
    is_past = since is not None and _current(store) != generation
    click.echo(f"generation {generation}" + "  in the past, not current" * is_past)


def _current(store: Path | None) -> str:
    return next(entry.generation for entry in geolookup.generations(store) if entry.current)


@command("rollback")
@options.store_object
@key_options.signing_keys()
@options.lock_timeout
def rollback(store: Path | None, signing_keys: tuple[str, ...]) -> None:
    """Withdraw the current generation of STORE; the previous one becomes current.

    STORE is by default the user's store. A second rollback goes back one generation
    more. A store that trusts keys refuses older signatures: --signing-key signs the
    previous generation again. Exits with 2 and leaves STORE unchanged if the previous
    generation is missing, damaged or refused.

    Example: geolookup rollback /srv/geo
    """
    exit_on_signals()
    click.echo(f"generation {geolookup.rollback(store, signing_keys=signing_keys)}")


@command("generations")
@options.store_object
@options.as_json()
def generations(store: Path | None, as_json: bool) -> None:
    """List the generations of STORE, the last published first.

    STORE is by default the user's store. The columns are the id, when it was published,
    since when it is or was in force last, the oldest date of its data, whether it is
    unpacked or kept as a delta, its bytes, and whether it is current or withdrawn.

    Example: geolookup generations /srv/geo
    """
    entries = geolookup.generations(store)
    if as_json:
        click.echo(json_text([asdict(generation) for generation in entries]))
        return
    click.echo(_HEADER)
    for item in entries:
        state = "current" if item.current else "withdrawn" if item.withdrawn else ""
        size = "" if item.bytes is None else f"{item.bytes:,}"
        cells = item.generation, item.at, item.in_force_since, item.data_date, item.kept_as, size
        click.echo(line_text(_ROW.format(*(cell or "-" for cell in cells), state).rstrip()))


@command("prune")
@options.store_object
@options.keep()
@options.lock_timeout
def prune(store: Path | None, keep: int | None, keep_for: str | None) -> None:
    """Remove old generations of STORE, print their ids, and keep older ones as deltas.

    STORE is by default the user's store. The current generation is always kept, and
    the previous one unless N is 1. The last two stay unpacked. With an N above 2 or with
    --keep-for, older ones become deltas to their successor. An engine that uses a removed
    generation continues to answer from it.

    Example: geolookup prune /srv/geo --keep-for 1y
    """
    exit_on_signals()
    for generation in geolookup.prune(store, keep, keep_for=keep_for):
        click.echo(f"removed {generation}")
