"""Accounts in a store: opened by URL, managed, and reset in a forked child."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Self
from unicodedata import normalize

from geolookup.errors import AccountsError, PlansError, near_match
from geolookup.gate import audit, keys
from geolookup.gate.account_store import (
    SECOND,
    TIMES,
    Clock,
    Entry,
    Key,
    Store,
    Usage,
    split_url,
    unknown_store,
)
from geolookup.gate.admissions import Admissions
from geolookup.gate.plans import Plan, is_name, name_problem, read_plans
from geolookup.gate.sqlite import SQLiteStore
from geolookup.gate.store_health import Probes, Report


class Accounts(Admissions):
    """Accounts in a store; made by ``open_accounts``.

    Safe to use from many threads and after a fork. A context manager: leaving
    it closes the accounts. Every method raises AccountsError if the store
    cannot be used.
    """

    def __init__(self, store: Store, plans: Mapping[str, Plan]) -> None:
        super().__init__(store, plans)
        _alive.add(self)

    def _begin(self) -> None:
        super()._begin()
        self._probes: Probes | None = None

    def create_key(
        self, name: str, plan: str, *, environment: str = "live", expires: int | None = None
    ) -> str:
        """Create and return a key for the account ``name``; create the account if needed.

        The store keeps only the key's digest, so the key cannot be read again.
        ``expires`` is in Unix seconds. Raises PlansError for an unknown plan, ValueError
        for an environment other than live and test, a name that is empty, too long or has
        control characters, or an account that has another plan.
        """
        if plan not in self.plans:
            hint = near_match(plan, self.plans)
            raise PlansError(f"no plan {plan!r}; {hint} (a plans file can add more)")
        if environment not in keys.ENVIRONMENTS:
            raise ValueError(f"{environment!r} is not an environment; write live or test")
        name = normalize("NFC", name)  # a keyboard may write ü as two characters: the same account
        ends = None if expires is None else expires * SECOND
        if not is_name(name):
            raise ValueError(name_problem("an account", name))
        if ends is not None and ends not in TIMES:
            raise ValueError("a key cannot expire then; write a time of the years 1 to 9999")
        key = keys.make(environment)
        digest = keys.digest(key) or b""
        new = Key(digest, environment, 0, name, plan, self.now(), ends)
        detail = f"plan {plan}, {environment}"
        has = self._store.add(new, audit.entry(new.created, audit.CREATED, new, detail))
        if has != plan:
            raise ValueError(f"{name!r} has the plan {has!r}; write that one, or another name")
        return key

    def keys(self) -> list[Key]:
        """Return all keys, oldest first, each with its digest instead of its text."""
        return self._store.keys()

    def revoke(self, identifier: str) -> Key:
        """Revoke a key; every process refuses it within a second. KeyError if unknown."""
        for key in self.keys():
            if keys.identifier(key.digest) == identifier:
                self._store.revoke(key.digest, audit.entry(self.now(), audit.REVOKED, key))
                return key
        raise KeyError(identifier)

    def log(self) -> list[Entry]:
        """Return the audit log, oldest first: who created, revoked and restored keys."""
        return self._store.log()

    def usage(self) -> list[Usage]:
        """Return all accounts with their used quota, oldest first."""
        return self._store.usage()

    def check_durability(self) -> str | None:
        """Return None if the store keeps revocations on its disk, a warning if unknown.

        Raises AccountsError, with the setting to change, if it does not keep them.
        """
        return self._store.check_durability()

    def watch(self, report: Report) -> None:
        """Start a thread that probes the store each second and reports its problem, or None.

        With it an outage is over at once when the store answers a probe.
        """
        self._probes = Probes(self._store, report)

    def close(self) -> None:
        """Close the store; a later call opens it again."""
        if self._probes is not None:
            self._probes.stop()
        self._store.close()
        self._begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _after_fork(self) -> None:
        """Reset in a child process: locks and the thread belong to the parent."""
        self._begin()
        self._store.after_fork()


#: The accounts of this process; each is reset in a forked child.
_alive: weakref.WeakSet[Accounts] = weakref.WeakSet()


def _all_after_fork() -> None:
    for accounts in list(_alive):
        accounts._after_fork()  # noqa: SLF001 - of this module


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_all_after_fork)


def open_accounts(
    url: str, plans: str | PathLike[str] | None = None, *, clock: Clock | None = None
) -> Accounts:
    """Open the accounts of ``sqlite:///PATH`` or ``redis://HOST:PORT/NUMBER``.

    A password of Redis can be in $GEOLOOKUP_REDIS_PASSWORD, or in a file that
    $GEOLOOKUP_REDIS_PASSWORD_FILE names. ``plans`` is a TOML file (see ``read_plans``).
    The store is opened by the first call that needs it. ``clock`` returns Unix
    microseconds, for tests. Raises AccountsError for another URL and
    PlansError for an unusable plans file.
    """
    scheme = split_url(url).scheme
    if scheme not in {"sqlite", "redis", "rediss"}:
        raise unknown_store()
    kind: Callable[[str, Clock | None], Store] = SQLiteStore
    if scheme != "sqlite":
        try:
            from geolookup.gate.redis import RedisStore
        except ImportError:
            raise AccountsError(
                "redis://", "its client is not installed", "run pip install 'geolookup[redis]'"
            ) from None
        kind = RedisStore
    return Accounts(kind(url, clock), read_plans(plans))
