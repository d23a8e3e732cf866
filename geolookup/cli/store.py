"""``geolookup store``: publish, roll back, list, prune and verify the generations of a store."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import geolookup
from geolookup.cli import fail, json_text, options, say
from geolookup.cli.command import group
from geolookup.cli.options import option
from geolookup.cli.terminal_text import print_table
from geolookup.contract.envelope import to_json
from geolookup.errors import count_text, line_text, short_id
from geolookup.store import resolve
from geolookup.store.changing import store_path
from geolookup.store.in_force import read_since
from geolookup.store.paths import dataset_path
from geolookup.store.pointer import CHANGES

if TYPE_CHECKING:
    from geolookup.history.generations import Generation
    from geolookup.history.result import StoreResult

_TITLES = ("generation", "published", "in force since", "data", "kept as", "bytes", "state")


@group("store")
def store() -> None:
    """Publish, roll back, list, prune and verify datasets in a store."""


def print_result(result: StoreResult, *, as_json: bool, indent: bool = True) -> None:
    """Print what a command did to a store: in one line, or all of it as JSON."""
    if as_json:
        click.echo(json_text(result) if indent else to_json(asdict(result)))
        return
    click.echo(line_text(result.line()))
    if result.state == "planned":
        for word, names in (("remove", result.removed), ("archive", result.archived)):
            for name in names:
                click.echo(f"would {word} generation {short_id(name)}")


@store.command("publish", short_help="Make a dataset the current one of a store.")
@options.dataset_object
@options.store
@option("--expect ID", "Publish only the generation with this id.")
@option(
    "--since DATE",
    "Put DATASET into the past: it was in force from DATE until the next generation.",
    options.Parsed(read_since),
)
@options.keep
@options.dry_run
@options.as_json
def publish(as_json: bool, **values: Any) -> None:
    """Verify DATASET, add it to the store as a generation, and make it the current one.

    DATASET is a dataset, another store, or a file of `geolookup mirror pack`; by default
    $GEOLOOKUP_DATASET, else the user's store, else bundled. With --since, it becomes the
    current one only if it is the newest. --keep, --keep-for and --keep-unpacked prune the
    store afterwards. Exits with 2 and leaves the store unchanged if the dataset is damaged,
    if its id differs from its content or from --expect, or if the store trusts keys and
    none of them has signed the dataset.

    Example: geolookup store publish mydata --store /srv/geo
    """
    print_result(geolookup.publish(**values), as_json=as_json)


@store.command("rollback", short_help="Return to the previous generation.")
@options.store_object
@options.signing_keys()
@options.as_json
def rollback(as_json: bool, **values: Any) -> None:
    """Withdraw the current generation of STORE; the previous one becomes current.

    STORE is by default the user's store. A store that trusts keys refuses older signatures:
    --signing-key signs the previous generation again. Exits with 2 and leaves STORE
    unchanged if the previous generation is missing, damaged or refused.

    Example: geolookup store rollback /srv/geo
    """
    print_result(geolookup.rollback(**values), as_json=as_json)


@store.command("generations", short_help="List the generations of a store.")
@options.store_object
@options.as_json
def generations(store: Path | None, as_json: bool) -> None:
    """List the generations of STORE, the newest first.

    STORE is by default the user's store. `data` is the oldest date of the data, `bytes` is
    on the disk. The last line has the sums. --json has the whole ids.

    Example: geolookup store generations /srv/geo
    """
    entries = geolookup.generations(store)
    if as_json:
        click.echo(json_text(entries))
        return
    print_table(map(_row, entries), _TITLES)
    total = sum(item.bytes or 0 for item in entries)
    changed = sum(path.stat().st_size for path in (store_path(store) / CHANGES).glob("*.parquet"))
    kept = f"{count_text(len(entries), 'generation')}, {total:,} bytes"
    click.echo(f"{kept}; what changed between them, {changed:,} bytes")


def _row(item: Generation) -> list[str]:
    state = "current" if item.current else "withdrawn" if item.withdrawn else ""
    size = "" if item.bytes is None else f"{item.bytes:,}"
    times = item.at, item.in_force_since, item.data_date
    cells = short_id(item.generation), *times, item.kept_as, size
    return [*(cell or "-" for cell in cells), state]


@store.command("prune", short_help="Remove old generations from a store.")
@options.store_object
@options.keep
@options.dry_run
@options.as_json
def prune(as_json: bool, **values: Any) -> None:
    """Remove old generations of STORE, and turn older ones that stay into archives.

    STORE is by default the user's store. The current generation is always kept, and
    the previous one unless N is 1. With --keep above 2 or --keep-for, those older than the
    last two (--keep-unpacked) become archives, each of the whole dataset. An engine that
    uses a removed generation continues to answer from it.

    Example: geolookup store prune /srv/geo --keep-for 1y
    """
    print_result(geolookup.prune(**values), as_json=as_json)


@store.command("verify", short_help="Check a dataset for damage.")
@options.past_dataset_object
@options.trusted_keys
def verify(dataset: str | None, trusted_keys: tuple[str, ...] | None) -> None:
    """Read every byte of DATASET, or of the current generation of a store, and check it.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    Exits with 1 and one line per damage on standard error if anything is damaged, or if no
    key of --trusted-key has signed the dataset.

    Example: geolookup store verify mydata
    """
    from geolookup.integrity import examine

    path = Path(dataset_path(options.past_dataset(dataset)))
    if not path.is_dir():
        problem = "not a folder" if path.exists() else "no such folder"
        fail(f"{line_text(str(path))}: {problem}; name a dataset or a store")
    folder = Path(resolve.folder(path))
    report = examine(folder, trusted_keys=trusted_keys)
    for damage in report.damages:
        say(f"geolookup: {damage}")
    if report.damages:
        sys.exit(1)
    files = count_text(report.files, "file")
    click.echo(f"{folder}: undamaged, {files}, {report.bytes:,} bytes")
    click.echo(f"generation {short_id(report.generation)}")
