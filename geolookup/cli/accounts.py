"""``geolookup accounts``: backups of account stores, while the service runs."""

from __future__ import annotations

from pathlib import Path

import click

_file = click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
_accounts = click.option("--accounts", metavar="URL", required=True, help="sqlite:///PATH.")


@click.group(name="accounts", short_help="Back up and restore an accounts file.")
def accounts() -> None:
    """Back up and restore an accounts file while the service runs.

    Redis has its own backups (BGSAVE, or the files of appendonly).

    Example: geolookup accounts backup accounts.bak --accounts sqlite:///accounts.db
    """


@accounts.command(name="backup", short_help="Write the accounts to one file.")
@_file
@_accounts
@click.option("--force", is_flag=True, help="Replace an existing FILE.")
def backup(file: Path, accounts: str, *, force: bool) -> None:
    """Write all accounts and keys to FILE, as they are at one moment.

    The keys themselves are not in it: the store keeps only their digests.

    Example: geolookup accounts backup accounts.bak --accounts sqlite:///accounts.db
    """
    from geolookup.gate.backup import back_up

    click.echo(f"{file}: {back_up(accounts, file, force=force)}")


@accounts.command(name="restore", short_help="Replace the accounts by those of a backup.")
@_file
@_accounts
def restore(file: Path, accounts: str) -> None:
    """Replace all accounts, keys and usage by those of FILE, a backup.

    Workers of a running service use them within a second. Keys that were created after the
    backup are refused; keys that were revoked after it are valid again.

    Example: geolookup accounts restore accounts.bak --accounts sqlite:///accounts.db
    """
    from geolookup.gate.backup import restore

    click.echo(f"{accounts}: {restore(accounts, file)}, restored from {file}")
