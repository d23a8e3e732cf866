"""``geolookup keygen``, ``sign`` and ``trust``: keys, signatures, and which keys a store trusts."""

from __future__ import annotations

from pathlib import Path

import click

import geolookup
from geolookup.cli import exit_on_signals, fail
from geolookup.errors import line_text, name_text


@click.command(name="keygen", short_help="Make a pair of keys for signatures.")
@click.argument("file", type=click.Path(path_type=Path))
def keygen(file: Path) -> None:
    """Write a new private key to FILE, and its public key to FILE.pub.

    The private key signs datasets and mirrors (--sign). Only its owner may read it:
    its mode is 0600, and other modes are refused. Copy the public key to whoever
    shall check signatures. Existing files are not replaced.

    Example: geolookup keygen release.key
    """
    from geolookup.signing.keys import PUBLIC_ENDING, generate

    exit_on_signals()
    key = generate(file)
    click.echo(f"key {key.id}")
    click.echo(line_text(f"public key {file}{PUBLIC_ENDING}"))


@click.command(name="sign", short_help="Sign a dataset.")
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option(
    "--sign",
    "keys",
    metavar="KEY",
    multiple=True,
    required=True,
    type=click.Path(),
    help="Private key to sign with (`geolookup keygen`); repeatable: each signs.",
)
def sign(dataset: Path, keys: tuple[str, ...]) -> None:
    """Verify DATASET, or the current generation of a store, and sign it.

    Writes signature.json, and replaces the one that is there. The new signature
    counts as newer, so that whoever trusts the keys accepts an older dataset again.

    Example: geolookup sign mydata --sign release.key
    """
    exit_on_signals()
    geolookup.sign(dataset, keys)
    click.echo(line_text(f"signed {dataset}"))


@click.command(name="trust", short_help="Choose the keys that a store trusts.")
@click.argument("store", type=click.Path(path_type=Path))
@click.argument("keys", metavar="[KEY.pub]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--remove", metavar="ID", multiple=True, help="Trust the key with this id no longer.")
def trust(store: Path, keys: tuple[Path, ...], remove: tuple[str, ...]) -> None:
    """Let STORE trust public keys, beside those that it trusts, and list all of them.

    From the first key on, STORE takes only datasets that a trusted key has signed,
    that have the name of the dataset in it, and that were not signed before it.
    STORE is created if it is missing. Without a key it accepts every dataset again.

    Example: geolookup trust /srv/geo release.key.pub
    """
    from geolookup.signing.keys import read_public
    from geolookup.store.trusted import distrust, keys_of
    from geolookup.store.trusted import trust as add

    exit_on_signals()
    if keys:
        add(store, [read_public(each) for each in keys])
    for each in remove:
        distrust(store, each)
    if not store.is_dir():
        fail(f"{name_text(str(store))}: no such folder; name a store")
    trusted = keys_of(store)
    for path, key in trusted.items():
        click.echo(line_text(f"{key.id}  {path.name}"))
    if not trusted:
        click.echo(line_text(f"{store} trusts no key: it accepts every dataset"))
