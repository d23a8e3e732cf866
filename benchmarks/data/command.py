"""``python -m benchmarks generate``: a source for the compiler."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.data import generate, geolite, shape


@click.command("generate", help="Write a source of realistic shape: CSV files and their recipe.")
@click.argument("layout", type=click.Choice(["csv", "geolite"]))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--rows", type=click.IntRange(2000), default=100_000, show_default=True)
@click.option("--seed", type=int, default=generate.SEED, show_default=True)
def command(layout: str, folder: Path, rows: int, seed: int) -> None:
    """Write a generic CSV, or City and ASN in the layout of GeoLite2's CSV; print the size."""
    folder.mkdir(parents=True, exist_ok=True)
    if layout == "csv":
        generate.write(folder, shape.of_rows(rows), seed)
    else:
        geolite.write(folder, geolite.of_rows(rows), seed)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{rows:,} rows, {size:,} bytes")
