"""``geolookup signing-keys``, ``sign`` and ``verify``: signatures, and checks of datasets."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import geolookup
from geolookup.cli import exit_on_signals, fail, key_options, options
from geolookup.cli.command import command, group
from geolookup.errors import line_text, short_id
from geolookup.store import resolve
from geolookup.store.paths import dataset_path

_DAMAGED = 1


@group("signing-keys")
def signing_keys() -> None:
    """Make keys for signatures, and choose the keys that a store trusts.

    Example: geolookup signing-keys create release.key
    """


@signing_keys.command(name="create", short_help="Make a pair of keys for signatures.")
@click.argument("file", type=options.AS_PATH)
def create(file: Path) -> None:
    """Write a new private key to FILE, and its public key to FILE.pub.

    The private key signs datasets and mirrors (--signing-key). Its mode is 0600: a
    private key that other users may read is refused. Copy the public key to every
    machine that checks signatures. Existing files are not replaced.

    Example: geolookup signing-keys create release.key
    """
    from geolookup.signing.keys import PUBLIC_ENDING, generate

    exit_on_signals()
    key = generate(file)
    click.echo(f"key {key.id}")
    click.echo(line_text(f"public key {file}{PUBLIC_ENDING}"))


@command("sign")
@options.dataset_object
@key_options.signing_keys(required=True)
def sign(dataset: str | None, signing_keys: tuple[str, ...]) -> None:
    """Verify DATASET, or the current generation of a store, and sign it.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    Writes signature.json into its folder; an existing one is replaced. The new signature
    has a greater serial: stores that trust the keys accept an older dataset again.

    Example: geolookup sign mydata --signing-key release.key
    """
    exit_on_signals()
    path = dataset_path(dataset)
    geolookup.sign(path, signing_keys)
    click.echo(line_text(f"signed {path}"))


@signing_keys.command(name="trust", short_help="Choose the keys that a store trusts.")
@click.argument("store", type=options.AS_PATH)
@click.argument("keys", metavar="[KEY.pub]...", nargs=-1, type=options.AS_PATH)
@click.option(
    "--remove", metavar="ID", multiple=True, help="Remove the key with this id; repeatable."
)
def trust(store: Path, keys: tuple[Path, ...], remove: tuple[str, ...]) -> None:
    """Add public keys to those that STORE trusts, and list all of them.

    From the first key on, STORE accepts only datasets that a trusted key has signed,
    with the name of the dataset in STORE and no older signature. STORE is created if it
    is missing. With keys, it is refused if another user can change it. Without keys, it
    accepts every dataset again.

    Example: geolookup signing-keys trust /srv/geo release.key.pub
    """
    from geolookup.signing.keys import read_public
    from geolookup.store.changing import check_store
    from geolookup.store.trusted import distrust, keys_of
    from geolookup.store.trusted import trust as add

    exit_on_signals()
    if keys:
        add(store, [read_public(key) for key in keys])
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


@command("verify")
@options.past_dataset_object
@key_options.trusted_keys
def verify(dataset: str | None, trusted_keys: tuple[str, ...] | None) -> None:
    """Read every byte of DATASET, or of the current generation of a store, and check it.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    Checks the manifest, sizes, digests, layout, the order of intervals, row numbers and
    the generation id. Exits with 1 and one line per damage on standard error if anything
    is damaged, or if no key of --trusted-key has signed the dataset.

    Example: geolookup verify mydata
    """
    from geolookup.integrity import examine

    path = Path(dataset_path(options.past_dataset(dataset)))
    if not path.is_dir():
        problem = "not a folder" if path.exists() else "no such folder"
        fail(f"{line_text(str(path))}: {problem}; name a dataset or a store")
    folder = Path(resolve.folder(path))
    report = examine(folder, trusted_keys=trusted_keys)
    for damage in report.damages:
        click.echo(f"geolookup: {damage}", err=True)
    if report.damages:
        sys.exit(_DAMAGED)
    click.echo(f"{folder}: undamaged, {report.files} files, {report.bytes:,} bytes")
    click.echo(f"generation {short_id(report.generation)}")
