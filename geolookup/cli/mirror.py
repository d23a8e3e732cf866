"""``geolookup mirror write``: a store as a folder, datasets as files, and their signatures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import geolookup
from geolookup.cli import fail, options
from geolookup.cli.command import group
from geolookup.cli.options import option
from geolookup.errors import line_text, short_id
from geolookup.store.paths import dataset_path


@group("mirror")
def mirror() -> None:
    """Pack, unpack and sign datasets, and write a store as a folder for other stores."""


@mirror.command("write", short_help="Write a store as a folder that other stores follow.")
@options.store_object
@option("-o, --output DIR", "Folder to write.", options.AS_PATH, required=True)
@options.signing_keys()
@option(
    "--expires AGE",
    "Time until followers refuse the index, such as 36h, 7d or 2w. [default: no limit]",
)
def write(store: Path | None, output: Path, **values: Any) -> None:
    """Write the current generation of STORE into DIR, for any web server or bucket.

    STORE is by default the user's store. DIR gets an archive of the current generation
    and of the previous one, and last a small index. `geolookup update DIR` or the
    address of DIR brings another store to it. Exits with 2 and leaves the index unchanged
    if other stores would refuse the generation: unsigned, or signed before the one in DIR.

    Example: geolookup mirror write /srv/geo --output /srv/www/geo --signing-key /etc/geolookup/key
    """
    written = geolookup.mirror(store, output, **values)
    index, size = written.index, sum(file.bytes for file in written.index.files)
    about = f"{index.name}, generation {short_id(index.current)}, {size:,} bytes in {output}"
    click.echo(line_text(f"{written.state}: {about}"))


@mirror.command("pack", short_help="Pack a dataset into one file.")
@options.past_dataset_object
@option("-o, --output FILE.tar.zst", "File to write.", options.AS_PATH, required=True)
@options.signing_keys()
@option("--force", "Replace an existing file.")
def pack(dataset: str | None, output: Path, **values: Any) -> None:
    """Pack DATASET, or the current generation of a store, into one compressed file.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    --signing-key signs the dataset in the file, and does not change DATASET. Exits with 2
    and writes no file if DATASET is damaged.

    Example: geolookup mirror pack mydata --output mydata.tar.zst
    """
    size = geolookup.pack(options.past_dataset(dataset), output, **values)
    click.echo(line_text(f"{output}: {size:,} bytes"))


@mirror.command("unpack", short_help="Unpack a packed dataset.")
@click.argument("archive", metavar="FILE.tar.zst", type=options.AS_PATH)
@option("-o, --output DIR", "Folder to write.", options.AS_PATH, required=True)
@options.trusted_keys
@option("--force", "Replace an existing dataset.")
def unpack(archive: Path, output: Path, **values: Any) -> None:
    """Unpack a file of `geolookup mirror pack` into the new folder DIR.

    Exits with 2 and leaves DIR unchanged if anything is missing, damaged or unexpected, or
    if no key of --trusted-key has signed the dataset.

    Example: geolookup mirror unpack mydata.tar.zst --output mydata
    """
    geolookup.unpack(archive, output, **values)
    click.echo(line_text(f"dataset {output}"))


@mirror.command("sign", short_help="Sign a dataset.")
@options.dataset_object
@options.signing_keys(required=True)
def sign(dataset: str | None, signing_keys: tuple[str, ...]) -> None:
    """Verify DATASET, or the current generation of a store, and sign it.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    Writes signature.json into its folder, with a greater serial than the one before: stores
    that trust the keys accept an older dataset again.

    Example: geolookup mirror sign mydata --signing-key release.key
    """
    path = dataset_path(dataset)
    geolookup.sign(path, signing_keys)
    click.echo(line_text(f"signed {path}"))


@mirror.group("keys", short_help="Make keys for signatures, and trust them.")
def keys() -> None:
    """Make keys for signatures, and choose the keys that a store trusts."""


@keys.command("create", short_help="Make a pair of keys for signatures.")
@click.argument("file", type=options.AS_PATH)
def create(file: Path) -> None:
    """Write a new private key to FILE, and its public key to FILE.pub.

    The private key signs datasets and mirrors (--signing-key); only you may read it. Copy
    the public key to every machine that checks signatures. Existing files are not replaced.

    Example: geolookup mirror keys create release.key
    """
    from geolookup.signing.keys import PUBLIC_ENDING, generate

    key = generate(file)
    click.echo(f"key {key.id}")
    click.echo(line_text(f"public key {file}{PUBLIC_ENDING}"))


@keys.command("trust", short_help="Choose the keys that a store trusts.")
@click.argument("store", type=options.AS_PATH)
@click.argument("public_keys", metavar="[KEY.pub]...", nargs=-1, type=options.AS_PATH)
@option("--remove ID...", "Remove the key with this id; repeatable.")
def trust(store: Path, public_keys: tuple[Path, ...], remove: tuple[str, ...]) -> None:
    """Add public keys to those that STORE trusts, and list all of them.

    From the first key on, STORE accepts only datasets that a trusted key has signed,
    with the name of the dataset in STORE and no older signature. Without keys, it accepts
    every dataset again. STORE is created if it is missing.

    Example: geolookup mirror keys trust /srv/geo release.key.pub
    """
    from geolookup.signing.keys import read_public
    from geolookup.store.changing import check_store
    from geolookup.store.trusted import distrust, keys_of
    from geolookup.store.trusted import trust as add

    if public_keys:
        add(store, [read_public(key) for key in public_keys])
    for key_id in remove:
        distrust(store, key_id)
    if not store.is_dir():
        fail(f"{line_text(str(store))}: no such folder; name a store")
    check_store(store)
    trusted = keys_of(store)
    for path, key in trusted.items():
        # ``trust`` names a file by its key; other programs name theirs as they like.
        name = "" if path.stem == key.id else path.name
        click.echo(line_text(f"{key.id}  {name}".rstrip()))
    if not trusted:
        click.echo(line_text(f"{store} trusts no key: it accepts every dataset"))
