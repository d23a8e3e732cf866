"""``geolookup verify``: checks a dataset for damage."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from geolookup.cli import fail, options
from geolookup.errors import name_text
from geolookup.store import resolve

_DAMAGED = 1


@click.command(name="verify", short_help="Check a dataset for damage.")
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option("--deep", is_flag=True, help="Also check coverage, time zones and lookups.")
@options.trusted
def verify(dataset: Path, deep: bool, trusted: tuple[str, ...] | None) -> None:
    """Read every byte of DATASET, or of the current generation of a store, and check it.

    Checks the manifest, sizes, digests, layout, the order of intervals, row numbers,
    values and their JSON texts, and the generation id. --deep also checks coverage,
    the names of time zones, and a sample of lookups. With --trusted, the holder of
    that key must have signed it. Exits with 1 and one line per
    damage on standard error if anything is damaged.

    Example: geolookup verify mydata --deep
    """
    from geolookup.integrity import examine

    if not dataset.is_dir():
        problem = "no folder" if dataset.exists() else "no such folder"
        fail(f"{name_text(str(dataset))}: {problem}; name a dataset or a store")
    dataset = Path(resolve.folder(str(dataset)))
    report = examine(dataset, deep=deep, trusted=trusted)
    for damage in report.damages:
        click.echo(f"geolookup: {damage}", err=True)
    if report.damages:
        sys.exit(_DAMAGED)
    click.echo(f"{dataset}: undamaged, {report.files} files, {report.bytes:,} bytes")
    click.echo(f"generation {report.generation}")
