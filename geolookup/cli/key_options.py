"""Options of commands that use signing keys, or the accounts of API keys."""

from __future__ import annotations

from collections.abc import Callable

import click

from geolookup.cli.options import AS_PATH, PATH, F

accounts = click.option(
    "--accounts",
    metavar="URL",
    required=True,
    help="Account store: sqlite:///PATH or redis://HOST:PORT/NUMBER. The password of Redis can be"
    " in $GEOLOOKUP_REDIS_PASSWORD, or in the file $GEOLOOKUP_REDIS_PASSWORD_FILE.",
)
plans = click.option(
    "--plans",
    metavar="FILE",
    type=AS_PATH,
    help="TOML file of more plans, in tables [plan.NAME]. [default: none]",
)


def signing_keys(*, required: bool = False) -> Callable[[F], F]:
    """Return the repeatable option ``--signing-key``."""
    return click.option(
        "--signing-key",
        "signing_keys",
        metavar="KEY",
        multiple=True,
        required=required,
        type=PATH,
        help="Private key to sign with (`geolookup mirror keys create`); repeatable: each signs.",
    )


trusted_keys = click.option(
    "--trusted-key",
    "trusted_keys",
    metavar="KEY",
    multiple=True,
    type=PATH,
    callback=lambda _context, _option, keys: keys or None,  # None: no signature is asked for
    help="Public key that must have signed the dataset; repeatable: one of them suffices.",
)
