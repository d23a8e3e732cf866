"""What a service is given: a file of plans, a backup of accounts."""

from __future__ import annotations

import random
from functools import cache
from unittest import mock

from geolookup.errors import AccountsError, PlansError
from geolookup.gate import backup, plans
from geolookup.gate.accounts import open_accounts
from geolookup.gate.plans import MAX_QUOTA, MAX_RATE, read_plans
from tests.fuzz.target import Change, Target, accepted, emptied, own_folder, scratch

_PLANS = (
    b"[plan.team]\nrate = 50\nquota = 100000\n",
    b"[plan.free]\nrate = 1\n[plan.big]\nrate = 1000000\nquota = 9007199254740991\n",
    b"",
    b"[plan.x]\nrate = 0\n",
    b"plan = 1\n",
)


def _read_plans(data: bytes) -> None:
    """Every plan is within its bounds, or the error names the file in one line."""
    path = scratch() / "plans.toml"
    path.write_bytes(data)
    known = accepted(lambda: read_plans(path), PlansError, path)
    if known is None:
        return
    assert {"free", "paid"} <= set(known)
    for name, plan in known.items():
        assert plan.name == name
        assert type(plan.rate) is int
        assert 1 <= plan.rate <= MAX_RATE
        assert plan.quota is None or (type(plan.quota) is int and 1 <= plan.quota <= MAX_QUOTA)


@cache
def _backup() -> bytes:
    place = own_folder()
    url = f"sqlite:///{place}/accounts.db"
    with open_accounts(url) as accounts:
        for number in range(3):
            accounts.create_key(f"acme {number}", "free")
    backup.back_up(url, place / "backup")
    return (place / "backup").read_bytes()


def _restore(data: bytes) -> None:
    """Refused in one line, and nothing is written; or restored, and its use is refused or right."""
    place = emptied(scratch())
    path, live = place / "backup", place / "accounts.db"
    path.write_bytes(data)
    url = f"sqlite:///{live}"
    content = accepted(lambda: backup.restore(url, path), AccountsError, path)
    if content is None:
        assert not list(place.glob(f"{live.name}*"))
        return

    def counted() -> tuple[int, int]:
        with open_accounts(url) as accounts:
            return len(accounts.keys()), len(accounts.usage())

    assert accepted(counted, AccountsError, live) in (None, (content.keys, content.accounts))


def _mutate_backup(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change one page, or a few bytes: most of a file is free space."""
    if not data or rng.randrange(8) == 0:
        return change(data)
    page = rng.randrange(0, len(data), 1024)
    used = data[page : page + 1024].rstrip(b"\0")
    at = page + max(0, len(used) - 64)
    altered = change(data[at : page + len(used)])[:64]
    return data[:at] + altered + data[at + len(altered) :]


def _any_number(_file: object, _name: object, _member: object, value: int, _most: object) -> int:
    return value


TARGETS = {
    "plans": Target(
        _read_plans, lambda: _PLANS, lambda: mock.patch.object(plans, "_whole", _any_number)
    ),
    # Damage is restored.
    "accounts-backup": Target(
        _restore,
        lambda: [_backup(), b""],
        lambda: mock.patch.object(backup, "_check"),
        _mutate_backup,
    ),
}
