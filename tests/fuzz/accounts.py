"""What a service is given: a file of plans, a backup of accounts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from unittest import mock

from geolookup.errors import AccountsError, PlansError
from geolookup.gate import backup, plans
from geolookup.gate.accounts import open_accounts
from geolookup.gate.plans import MAX_QUOTA, MAX_RATE, read_plans
from tests.fuzz.target import Change, Target, check_one_line, emptied, own_folder

_folder = cache(own_folder)
_PLANS = (
    "[plan.team]\nrate = 50\nquota = 100000\n",
    "[plan.free]\nrate = 1\n[plan.big]\nrate = 1000000\nquota = 9007199254740991\n",
    "",
    "[plan.x]\nrate = 0\n",
    "plan = 1\n",
)


def _plans_seeds() -> Iterator[bytes]:
    yield from (text.encode() for text in _PLANS)


def _read_plans(data: bytes) -> None:
    """Every plan is within its bounds, or the error names the file in one line."""
    path = _folder() / "plans.toml"
    path.write_bytes(data)
    try:
        known = read_plans(path)
    except PlansError as error:
        check_one_line(error, str(path))
        return
    assert {"free", "paid"} <= set(known)
    for name, plan in known.items():
        assert plan.name == name
        assert type(plan.rate) is int
        assert 1 <= plan.rate <= MAX_RATE
        assert plan.quota is None or (type(plan.quota) is int and 1 <= plan.quota <= MAX_QUOTA)


def _any_number() -> AbstractContextManager[object]:
    """Accept numbers beyond their bounds."""
    return mock.patch.object(plans, "_whole", lambda _file, _name, _member, value, _most: value)


@cache
def _backup() -> bytes:
    place = own_folder()
    url = f"sqlite:///{place}/accounts.db"
    with open_accounts(url) as accounts:
        for number in range(3):
            accounts.create_key(f"acme {number}", "free")
    backup.back_up(url, place / "backup")
    return (place / "backup").read_bytes()


def _backup_seeds() -> Iterator[bytes]:
    yield _backup()
    yield b""


def _restore(data: bytes) -> None:
    """Refused in one line, and nothing is written; or restored, and its use is refused or right."""
    place = emptied(_folder())
    path, live = place / "backup", place / "accounts.db"
    path.write_bytes(data)
    url = f"sqlite:///{live}"
    try:
        content = backup.restore(url, path)
    except AccountsError as error:
        check_one_line(error, str(path))
        assert not list(place.glob(f"{live.name}*"))
        return
    try:
        with open_accounts(url) as accounts:
            assert len(accounts.keys()) == content.keys
            assert len(accounts.usage()) == content.accounts
    except AccountsError as error:
        check_one_line(error, str(live))


def _mutate_backup(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change one page, or a few bytes: most of a file is free space."""
    if not data or rng.randrange(8) == 0:
        return change(data)
    page = rng.randrange(0, len(data), 1024)
    used = data[page : page + 1024].rstrip(b"\0")
    at = page + max(0, len(used) - 64)
    altered = change(data[at : page + len(used)])[:64]
    return data[:at] + altered + data[at + len(altered) :]


def _unchecked() -> AbstractContextManager[object]:
    """Restore what is damaged."""
    return mock.patch.object(backup, "_check")


PLANS = Target(_read_plans, _plans_seeds, _any_number)
BACKUP = Target(_restore, _backup_seeds, _unchecked, _mutate_backup)
