"""``geolookup publish``, ``rollback``, ``generations`` and ``prune``: the commands of a store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

import geolookup
from geolookup.cli import exit_on_signals, json_text, key_options, options
from geolookup.cli.command import command
from geolookup.errors import line_text
from geolookup.store.pointer import KEEP


@command("publish", "Make a dataset the current one of a store.")
@options.dataset_object
@options.store
@click.option(
    "--full",
    metavar="FILE.tar.zst",
    type=options.AS_PATH,
    help="Archive of the whole dataset; published if the delta cannot be applied.",
)
@click.option("--expect", metavar="ID", help="Publish only the generation with this id.")
def publish(dataset: str | None, store: Path | None, full: Path | None, expect: str | None) -> None:
    """Verify DATASET, add it to the store as a generation, and make it the current one.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    DATASET may be a dataset, another store, or a file of `geolookup pack`. A delta is
    applied to its base, any generation of the store. A generation that the store already
    has becomes the current one again. Exits with 2 and leaves the store unchanged if the
    dataset is damaged, if its id differs from its content or from --expect, if the base
    is missing, or if the store trusts keys and none of them has signed the dataset.

    Example: geolookup publish mydata --store /srv/geo
    """
    exit_on_signals()
    generation = geolookup.publish(dataset, store, full=full, expect=expect)
    click.echo(f"generation {generation}")


@command("rollback", "Return to the previous generation.")
@options.store_object
@key_options.signing_keys()
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


@command("generations", "List the generations of a store.")
@options.store_object
@options.as_json()
def generations(store: Path | None, as_json: bool) -> None:
    """List the generations of STORE, the newest first, and mark the current one.

    STORE is by default the user's store.

    Example: geolookup generations /srv/geo
    """
    entries = geolookup.generations(store)
    if as_json:
        click.echo(json_text([asdict(generation) for generation in entries]))
        return
    for generation in entries:
        state = "current" if generation.current else "withdrawn" if generation.withdrawn else ""
        click.echo(line_text(f"{generation.generation}  {generation.at}  {state}".rstrip()))


@command("prune", "Remove old generations from a store.")
@options.store_object
@options.keep(least=1, usual=KEEP)
def prune(store: Path | None, keep: int) -> None:
    """Remove all but the N last published generations of STORE, and print their ids.

    STORE is by default the user's store. The current generation is always kept, and
    the previous one unless N is 1. An engine that uses a removed generation continues
    to answer from it.

    Example: geolookup prune /srv/geo --keep 3
    """
    exit_on_signals()
    for generation in geolookup.prune(store, keep):
        click.echo(f"removed {generation}")
