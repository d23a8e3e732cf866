"""``geolookup accounts``: API keys, usage, audit log, plans, backups."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Any

import click

from geolookup.cli import fail, options, require_output, say
from geolookup.cli.command import group
from geolookup.cli.options import option
from geolookup.cli.terminal_text import print_table
from geolookup.contract.gregorian import timestamp
from geolookup.errors import count_text
from geolookup.gate import Plan, open_accounts, read_plans
from geolookup.gate.account_store import Key
from geolookup.gate.backup import back_up
from geolookup.gate.backup import restore as restore_from
from geolookup.gate.keys import identifier

_json_lines = option("--json", "Print a line of JSON for each entry.", name="as_json")
_backup = click.argument("file", metavar="FILE", type=options.AS_PATH)


@group("accounts")
def accounts() -> None:
    """Manage API keys, the usage of accounts, the audit log, plans and backups."""


@accounts.group("keys", short_help="Create, list and revoke API keys.")
def keys() -> None:
    """Create, list and revoke API keys of the HTTP service."""


def _to_come(text: str) -> int:
    moment = datetime.fromisoformat(text)
    end = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    if end <= time():
        raise ValueError(f"{text!r} is past; write a date to come")
    return end


@keys.command("create", short_help="Create a key and print it once.")
@options.accounts
@option("--plan NAME", "Plan of the account.", required=True)
@option("--name TEXT", "Name of the account.", required=True)
@options.plans
@option("--env", "Prefix of the key.", click.Choice(["live", "test"]), default="live")
@option("--expires DATE", "Expiry of the key, UTC. [default: never]", options.Parsed(_to_come))
def create(accounts: str, plans: Path | None, env: str, **values: Any) -> None:
    """Create a key and print it. Only its digest is stored: it cannot be printed again.

    The account is created if its name is new. Its keys share its rate and quota.

    Example: geolookup accounts keys create --accounts sqlite:///accounts.db --plan free --name Acme
    """
    require_output("the key is written there, and nowhere else")
    with open_accounts(accounts, plans) as store:
        click.echo(store.create_key(environment=env, **values))


@keys.command("list", short_help="List all keys.")
@options.accounts
@_json_lines
def list_keys(accounts: str, *, as_json: bool) -> None:
    """List all keys, the oldest first.

    The columns are identifier, state, environment, plan, creation and account.

    Example: geolookup accounts keys list --accounts sqlite:///accounts.db
    """
    with open_accounts(accounts) as store:
        entries = [*map(_key_entry, store.keys())]
    if as_json:
        _print_json(entries)
        return
    for entry in entries:
        expires = entry.pop("expires")
        entry["state"] += f" until {expires}" if expires else ""
    print_table([*entry.values()] for entry in entries)


def _key_entry(key: Key) -> dict[str, Any]:
    return {
        "key": identifier(key.digest),
        "state": "revoked" if key.revoked else "valid",
        "expires": None if key.expires is None else _date(key.expires),
        "environment": key.environment,
        "plan": key.plan,
        "created": _date(key.created),
        "account": key.name,
    }


def _print_json(entries: Iterable[dict[str, Any]]) -> None:
    for entry in entries:
        click.echo(json.dumps(entry, ensure_ascii=False))


@keys.command("revoke", short_help="Revoke a key permanently.")
@click.argument("key", metavar="KEY")
@options.accounts
def revoke(key: str, accounts: str) -> None:
    """Revoke KEY, an identifier of `geolookup accounts keys list`, for good.

    Workers refuse it within a second.

    Example: geolookup accounts keys revoke 3f9a2c61b0d4 --accounts sqlite:///accounts.db
    """
    with open_accounts(accounts) as store:
        try:
            revoked = store.revoke(key)
        except KeyError:  # not the text itself: it may be a whole key
            fail("no key has this identifier; 'geolookup accounts keys list' prints all of them")
        state = "was revoked already" if revoked.revoked else "is revoked"
        click.echo(f"{key} of {revoked.name} {state}")
        if warning := store.check_durability():
            say(f"geolookup: {warning}")


@accounts.command("usage", short_help="Print the usage of accounts.")
@options.accounts
@options.plans
@_json_lines
def usage(accounts: str, plans: Path | None, *, as_json: bool) -> None:
    """Print the used quota of each account.

    In JSON, the quota is null if the plan has none, or is unknown.

    Example: geolookup accounts usage --accounts sqlite:///accounts.db
    """
    with open_accounts(accounts, plans) as store:
        records, plan_of = store.usage(), store.plans.get
    if as_json:
        _print_json(
            {"account": name, "plan": plan, "used": used, "quota": _quota(plan_of(plan)), "keys": n}
            for name, plan, _, used, n in records
        )
        return
    print_table(
        (f"{used:,}{_of(plan_of(plan))} used", plan, count_text(number, "key"), name)
        for name, plan, _, used, number in records
    )


def _quota(plan: Plan | None) -> int | None:
    return None if plan is None else plan.quota


def _of(plan: Plan | None) -> str:
    if plan is None:
        return " of an unknown quota"
    return "" if plan.quota is None else f" of {plan.quota:,}"


@accounts.command("log", short_help="Print the audit log.")
@options.accounts
@_json_lines
def log(accounts: str, *, as_json: bool) -> None:
    """Print the audit log, the oldest entry first.

    An entry has the time, the action, the key, the system user and the account.

    Example: geolookup accounts log --accounts sqlite:///accounts.db
    """
    with open_accounts(accounts) as store:
        for entry in store.log():
            at, action, user, uid, sudo_user, key, account, detail = entry
            if as_json:
                _print_json([{**entry._asdict(), "at": _date(at)}])
                continue
            user += "" if uid is None else f" ({uid})"
            user += "" if sudo_user is None else f", sudo by {sudo_user}"
            click.echo("  ".join(filter(None, (_date(at), action, key, user, account, detail))))


@accounts.command("plans", short_help="List the plans.")
@options.plans
def plans(plans: Path | None) -> None:
    """List the built-in plans and the plans of a file.

    Example: geolookup accounts plans --plans plans.toml
    """
    print_table(
        (name, f"{rate:,}/s", count_text(quota, "request") if quota else "no quota")
        for name, rate, quota in read_plans(plans).values()
    )


@accounts.command("backup", short_help="Write the accounts to one file.")
@_backup
@options.accounts
@option("--force", "Replace an existing FILE.")
def backup(file: Path, accounts: str, *, force: bool) -> None:
    """Write a snapshot of all accounts, keys, usage and the audit log to FILE.

    The service may run meanwhile. The keys themselves are not in FILE: the store keeps
    only their digests. Redis has its own backups (BGSAVE, or the files of appendonly).

    Example: geolookup accounts backup accounts.bak --accounts sqlite:///accounts.db
    """
    click.echo(f"{file}: {back_up(accounts, file, force=force)}")


@accounts.command("restore", short_help="Replace the accounts with a backup.")
@_backup
@options.accounts
def restore(file: Path, accounts: str) -> None:
    """Replace all accounts, keys and usage with the backup FILE. The audit log stays.

    After an error nothing has changed. Workers of a running service use the restored accounts
    within a second. Keys that were created after the backup are refused; keys that were
    revoked after it are valid again.

    Example: geolookup accounts restore accounts.bak --accounts sqlite:///accounts.db
    """
    click.echo(f"{accounts}: {restore_from(accounts, file)}, restored from {file}")


def _date(moment: int) -> str:
    return timestamp(moment // 1_000_000)
