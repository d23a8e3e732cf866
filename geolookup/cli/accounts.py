"""``geolookup accounts``: API keys, usage, audit log, plans, backups."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from geolookup.cli import fail, key_options, options
from geolookup.cli.command import group
from geolookup.contract.gregorian import timestamp
from geolookup.errors import count_text

if TYPE_CHECKING:
    from geolookup.gate import Accounts
    from geolookup.gate.account_store import Entry, Key

_accounts = key_options.accounts(key_options.ACCOUNTS_URL)
_file_accounts = key_options.accounts(key_options.ACCOUNTS_FILE)
_backup = click.argument("file", metavar="FILE", type=options.AS_PATH)


@group("accounts")
def accounts() -> None:
    """Manage API keys, the usage of accounts, the audit log, plans and backups."""


@accounts.group("keys", short_help="Create, list and revoke API keys.")
def keys() -> None:
    """Create, list and revoke API keys of the HTTP service."""


@keys.command(name="create", short_help="Create a key and print it once.")
@_accounts
@click.option("--plan", metavar="NAME", required=True, help="Plan of the account.")
@click.option("--name", metavar="TEXT", required=True, help="Name of the account.")
@key_options.plans
@click.option(
    "--env",
    "environment",
    type=click.Choice(["live", "test"]),
    default="live",
    help="Prefix of the key. [default: live]",
)
@click.option(
    "--expires",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"]),
    help="Expiry of the key, UTC. [default: never]",
)
def create(
    accounts: str,
    plan: str,
    name: str,
    plans: Path | None,
    environment: str,
    expires: datetime | None,
) -> None:
    """Create a key and print it. Only its digest is stored: it cannot be printed again.

    The account is created if its name is new. The keys of an account share its rate
    and quota.

    Example: geolookup accounts keys create --accounts sqlite:///accounts.db --plan free --name Acme
    """
    ends = None if expires is None else int(expires.replace(tzinfo=UTC).timestamp())
    with _open(accounts, plans) as store:
        try:
            key = store.create_key(name, plan, environment=environment, expires=ends)
        except ValueError as error:
            fail(str(error))
        click.echo(key)


@keys.command(name="list", short_help="List all keys.")
@_accounts
def list_keys(accounts: str) -> None:
    """List all keys, the oldest first.

    The columns are identifier, state, environment, plan, creation and account.

    Example: geolookup accounts keys list --accounts sqlite:///accounts.db
    """
    with _open(accounts) as store:
        entries = store.keys()
    for key in entries:
        click.echo(_line(key))


@keys.command(name="revoke", short_help="Revoke a key permanently.")
@click.argument("identifier", metavar="KEY")
@_accounts
def revoke(identifier: str, accounts: str) -> None:
    """Revoke KEY, an identifier of `geolookup accounts keys list`, for good.

    Workers refuse it within a second.

    Example: geolookup accounts keys revoke 3f9a2c61b0d4 --accounts sqlite:///accounts.db
    """
    with _open(accounts) as store:
        try:
            key = store.revoke(identifier)
        except KeyError:
            # Not the text itself: it may be a whole key.
            fail(
                "no key has this identifier; 'geolookup accounts keys list' prints all identifiers"
            )
        else:
            state = "was revoked already" if key.revoked else "is revoked"
            click.echo(f"{identifier} of {key.name} {state}")
            warning = store.check_durability()
            if warning:
                click.echo(f"geolookup: {warning}", err=True)


@accounts.command(name="usage", short_help="Print the usage of accounts.")
@_accounts
@key_options.plans
def usage(accounts: str, plans: Path | None) -> None:
    """Print the used quota of each account.

    Example: geolookup accounts usage --accounts sqlite:///accounts.db
    """
    with _open(accounts, plans) as store:
        for account in store.usage():
            plan = store.plans.get(account.plan)
            of = f" of {plan.quota:,}" if plan is not None and plan.quota is not None else ""
            cells = (
                f"{account.used:,}{of} used",
                account.plan,
                count_text(account.keys, "key"),
                account.name,
            )
            click.echo("  ".join(cells))


@accounts.command(name="log", short_help="Print the audit log.")
@_accounts
@options.as_json("Print a line of JSON for each entry.")
def log(accounts: str, *, as_json: bool) -> None:
    """Print the audit log, the oldest entry first.

    An entry has the time, the action (created, revoked, restored), the key, the system user
    and the account.

    Example: geolookup accounts log --accounts sqlite:///accounts.db
    """
    with _open(accounts) as store:
        entries = store.log()
    for entry in entries:
        click.echo(_json_line(entry) if as_json else _log_line(entry))


@accounts.command(name="plans", short_help="List the plans.")
@key_options.plans
def plans(plans: Path | None) -> None:
    """List the built-in plans and the plans of a file.

    Example: geolookup accounts plans --plans plans.toml
    """
    from geolookup.gate import read_plans

    for plan in read_plans(plans).values():
        quota = "no quota" if plan.quota is None else f"{plan.quota:,} requests"
        click.echo(f"{plan.name:<16} {plan.rate:,}/s, {quota}")


@accounts.command(name="backup", short_help="Write the accounts to one file.")
@_backup
@_file_accounts
@options.force("an existing FILE")
def backup(file: Path, accounts: str, *, force: bool) -> None:
    """Write a snapshot of all accounts, keys, usage and the audit log to FILE.

    The service may run meanwhile. The keys themselves are not in FILE: the store keeps
    only their digests. Redis has its own backups (BGSAVE, or the files of appendonly).

    Example: geolookup accounts backup accounts.bak --accounts sqlite:///accounts.db
    """
    from geolookup.gate.backup import back_up

    click.echo(f"{file}: {back_up(accounts, file, force=force)}")


@accounts.command(name="restore", short_help="Replace the accounts with a backup.")
@_backup
@_file_accounts
def restore(file: Path, accounts: str) -> None:
    """Replace all accounts, keys and usage with the backup FILE. The audit log stays.

    FILE is checked first; after an error nothing has changed. Workers of a running service use
    the restored accounts within a second. Keys that were created after the backup are refused;
    keys that were revoked after it are valid again.

    Example: geolookup accounts restore accounts.bak --accounts sqlite:///accounts.db
    """
    from geolookup.gate.backup import restore

    click.echo(f"{accounts}: {restore(accounts, file)}, restored from {file}")


def _open(accounts: str, plans: Path | None = None) -> Accounts:
    from geolookup.gate import open_accounts

    return open_accounts(accounts, plans)


def _line(key: Key) -> str:
    from geolookup.gate.keys import identifier

    state = "revoked" if key.revoked else "valid"
    if key.expires is not None:
        state += f" until {_date(key.expires)}"
    cells = identifier(key.digest), state, key.environment, key.plan, _date(key.created), key.name
    return "  ".join(cells)


def _log_line(entry: Entry) -> str:
    user = entry.user if entry.uid is None else f"{entry.user} ({entry.uid})"
    if entry.sudo_user is not None:
        user += f", sudo by {entry.sudo_user}"
    cells = _date(entry.at), entry.action, entry.key, user, entry.account, entry.detail
    return "  ".join(cell for cell in cells if cell)


def _json_line(entry: Entry) -> str:
    return json.dumps({**entry._asdict(), "at": _date(entry.at)}, ensure_ascii=False)


def _date(moment: int) -> str:
    return timestamp(moment // 1_000_000)
