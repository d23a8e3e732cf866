"""``geolookup pack``, ``unpack`` and ``mirror``: datasets as files, a store as a folder."""

from __future__ import annotations

from pathlib import Path

import click

import geolookup
from geolookup.cli import exit_on_signals, fail, key_options, options
from geolookup.cli.command import command
from geolookup.errors import line_text, short_id

_ARCHIVE = "FILE.tar.zst"


@command("pack")
@options.past_dataset_object
@options.output("File to write.", _ARCHIVE)
@key_options.signing_keys()
@options.force("an existing file")
def pack(
    dataset: str | None,
    output: Path,
    signing_keys: tuple[str, ...],
    force: bool,
) -> None:
    """Pack DATASET, or the current generation of a store, into one compressed file.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    The same dataset gives the same bytes. --signing-key signs the dataset in the file,
    and does not change DATASET. Exits with 2 and writes no file if DATASET is damaged.

    Example: geolookup pack mydata --output mydata.tar.zst
    """
    exit_on_signals()
    size = geolookup.pack(
        options.past_dataset(dataset), output, signing_keys=signing_keys, force=force
    )
    click.echo(f"{output}: {size:,} bytes")


@command("unpack")
@click.argument("archive", metavar=_ARCHIVE, type=options.AS_PATH)
@options.output("Folder to write.", "DIR")
@key_options.trusted_keys
@options.force("an existing dataset")
def unpack(
    archive: Path,
    output: Path,
    trusted_keys: tuple[str, ...] | None,
    force: bool,
) -> None:
    """Unpack a file of `geolookup pack` into the new folder DIR.

    The dataset is verified as by `geolookup verify`. Exits with 2 and leaves DIR
    unchanged if anything is missing, damaged or unexpected, or if no key of
    --trusted-key has signed the dataset.

    Example: geolookup unpack mydata.tar.zst --output mydata
    """
    exit_on_signals()
    geolookup.unpack(archive, output, trusted_keys=trusted_keys, force=force)
    click.echo(f"dataset {output}")


@command("mirror")
@options.store_object
@options.output("Folder to write.", "DIR")
@key_options.signing_keys()
@click.option(
    "--expires",
    metavar="AGE",
    help="Time until followers refuse the index, such as 36h, 7d or 2w. [default: no limit]",
)
def mirror(
    store: Path | None,
    output: Path,
    signing_keys: tuple[str, ...],
    expires: str | None,
) -> None:
    """Write the current generation of STORE into DIR, for any web server or bucket.

    STORE is by default the user's store. DIR gets an archive of the current generation
    and of the previous one, and last a small index. `geolookup update DIR` or the
    address of DIR brings another store to it. Readers can fetch all files of the index
    at any moment. Undamaged archives are kept. The index lists the withdrawn
    generations. Exits with 2 and leaves the index unchanged if other stores would refuse
    the generation: unsigned, or signed before the one in DIR.

    Example: geolookup mirror /srv/geo --output /srv/www/geo --signing-key /etc/geolookup/key
    """
    exit_on_signals()
    try:
        written = geolookup.mirror(store, output, signing_keys=signing_keys, expires=expires)
    except ValueError as error:
        fail(str(error))
    index, size = written.index, sum(file.bytes for file in written.index.files)
    name = line_text(index.name)
    about = f"{name}, generation {short_id(index.current)}, {size:,} bytes in {output}"
    click.echo(f"{written.state}: {about}")
