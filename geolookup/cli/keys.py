"""``geolookup keys``: make, list and revoke API keys, and say what accounts have used."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from geolookup.cli import fail

if TYPE_CHECKING:
    from geolookup.gate.store import Key

_accounts = click.option(
    "--accounts", metavar="URL", required=True, help="sqlite:///PATH or redis://HOST:PORT/NUMBER."
)
_plans = click.option(
    "--plans", metavar="FILE", type=click.Path(path_type=Path), help="Plans file. [default: none]"
)


@click.group(name="keys", short_help="Make, list and revoke API keys.")
def command() -> None:
    """Make, list and revoke API keys, and say what accounts have used.

    Example: geolookup keys create --accounts sqlite:///accounts.db --plan free --name Acme
    """


@command.command(name="create", short_help="Make a key and print it, once.")
@_accounts
@click.option("--plan", metavar="NAME", required=True, help="Plan of the account.")
@click.option("--name", metavar="TEXT", required=True, help="Whose account it is.")
@_plans
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
    help="When the key ends, UTC. [default: never]",
)
def create(
    accounts: str,
    plan: str,
    name: str,
    plans: Path | None,
    environment: str,
    expires: datetime | None,
) -> None:
    """Make a key and print it; it is not kept anywhere and cannot be shown again.

    The account is made if none has the name; else the key is one more of it,
    and shares its rate and quota.

    Example: geolookup keys create --accounts sqlite:///accounts.db --plan free --name Acme
    """
    from geolookup.gate import open_accounts

    ends = None if expires is None else int(expires.replace(tzinfo=UTC).timestamp())
    with open_accounts(accounts, plans) as opened:
        try:
            key = opened.create_key(name, plan, environment=environment, expires=ends)
        except ValueError as error:
            fail(str(error))
        click.echo(key)


@command.command(name="list", short_help="List all keys.")
@_accounts
def list_keys(accounts: str) -> None:
    """List all keys, oldest first: identifier, state, environment, plan, created, account.

    Example: geolookup keys list --accounts sqlite:///accounts.db
    """
    from geolookup.gate import open_accounts

    with open_accounts(accounts) as opened:
        keys = opened.keys()
    for key in keys:
        click.echo(_line(key))


@command.command(name="revoke", short_help="Revoke a key for ever.")
@click.argument("identifier", metavar="KEY")
@_accounts
def revoke(identifier: str, accounts: str) -> None:
    """Revoke KEY, an identifier that `geolookup keys list` shows; workers follow in a second.

    Example: geolookup keys revoke 3f9a2c61b0d4 --accounts sqlite:///accounts.db
    """
    from geolookup.gate import open_accounts

    with open_accounts(accounts) as opened:
        try:
            key = opened.revoke(identifier)
        except KeyError:
            fail(f"no key {identifier!r}; geolookup keys list shows all")
        else:
            click.echo(f"revoked {identifier} of {key.name}")


@command.command(name="usage", short_help="Say what accounts have used.")
@_accounts
@_plans
def usage(accounts: str, plans: Path | None) -> None:
    """Say what each account has used of its quota.

    Example: geolookup keys usage --accounts sqlite:///accounts.db
    """
    from geolookup.gate import open_accounts

    with open_accounts(accounts, plans) as opened:
        for account in opened.usage():
            plan = opened.plans.get(account.plan)
            of = f" of {plan.quota:,}" if plan is not None and plan.quota is not None else ""
            told = f"{account.used:,}{of} used", account.plan, f"{account.keys} keys", account.name
            click.echo("  ".join(told))


def _line(key: Key) -> str:
    from geolookup.gate.keys import identifier

    state = "revoked" if key.revoked else "valid"
    if key.expires is not None:
        state += f" until {_date(key.expires)}"
    told = identifier(key.digest), state, key.environment, key.plan, _date(key.created), key.name
    return "  ".join(told)


def _date(moment: int) -> str:
    return datetime.fromtimestamp(moment // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
