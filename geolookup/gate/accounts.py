"""Accounts: which account a key belongs to, and whether one more request is admitted.

Strategy: key -> digest -> (key and account, cached for at most a second) -> the
account's admission. The cache expires after a second, so a revocation takes effect in
every process within a second.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from hmac import compare_digest
from importlib import import_module
from os import PathLike
from threading import Lock
from typing import NoReturn, Self

from geolookup.errors import AccountsError, InvalidKeyError, MissingKeyError
from geolookup.gate import audit, keys
from geolookup.gate.account_store import (
    SECOND,
    Admission,
    Clock,
    Decision,
    Entry,
    Key,
    NewKey,
    Requests,
    Store,
    Usage,
    is_time,
)
from geolookup.gate.names import is_name, refusal
from geolookup.gate.plans import Plans, read_plans
from geolookup.gate.store_health import Maintenance, Report
from geolookup.gate.store_url import split, unknown_store

#: The store of each URL scheme, by module and class.
_STORES = {
    "sqlite": ("geolookup.gate.sqlite", "SQLiteStore"),
    "redis": ("geolookup.gate.redis", "RedisStore"),
    "rediss": ("geolookup.gate.redis", "RedisStore"),
}
#: Maximum number of cached keys; beyond it the cache is cleared.
CACHED_KEYS = 65_536
#: Maximum number of refused keys that are cached.
CACHED_REFUSED = 4_096


class _CachedKey:
    """A cached valid key and its account's admission.

    Valid until a second after it was read, or until the key expires, if that is earlier.
    """

    __slots__ = ("admission", "asked_at", "digest", "until")

    def __init__(self, key: Key, admission: Admission, asked_at: int) -> None:
        self.digest, self.admission, self.asked_at = key.digest, admission, asked_at
        ends = asked_at + SECOND
        self.until = ends if key.expires is None else min(ends, key.expires)


class Accounts:
    """Accounts in a store; made by ``open_accounts``.

    Safe to use from many threads and after a fork. A context manager: leaving
    it closes the accounts. Every method raises AccountsError if the store
    cannot be used.
    """

    def __init__(self, store: Store, plans: Plans, *, background: bool) -> None:
        self.plans = plans
        self._store, self._background = store, background
        self._report: Report = lambda _problem: None
        self._begin()
        _alive.add(self)

    def _begin(self) -> None:
        self._lock = Lock()
        self._cache: dict[bytes, _CachedKey] = {}
        self._refused: dict[bytes, int] = {}  # refused keys, and until when
        self._admissions: dict[int, Admission] = {}
        self._maintenance: Maintenance | None = None

    def admit(self, api_key: object) -> None:
        """Admit one request and count it.

        Raises MissingKeyError (None), InvalidKeyError, RateLimitError, QuotaError.
        """
        self.admission(api_key).admit()

    def decide(self, requests: Sequence[Requests]) -> list[Decision]:
        """Decide requests in the store; see ``Store.admit``."""
        return self._store.admit(requests)

    @property
    def remote(self) -> bool:
        """Whether a decision of the store waits for another machine."""
        return self._store.remote

    def admission(self, api_key: object) -> Admission:
        """Return the admission of a key's account; raises MissingKeyError, InvalidKeyError."""
        cached = self.cached_admission(api_key, self._store.now())
        return cached or self._ask(keys.digest(api_key) or b"")

    @property
    def clock(self) -> Clock:
        """The store's clock."""
        return self._store.now

    def cached_admission(self, api_key: object, now: int) -> Admission | None:
        """Return the admission of a cached key; None if the store must be read. Never waits.

        ``now`` is the time of the store's clock. Raises MissingKeyError, InvalidKeyError.
        """
        digest = keys.digest(api_key)
        if digest is None:
            raise MissingKeyError if api_key is None else InvalidKeyError
        cached = self._cache.get(digest)
        # now < asked_at: the clock was set back, and the entry could live too long.
        if cached is not None and cached.asked_at <= now < cached.until:
            if not compare_digest(cached.digest, digest):
                raise InvalidKeyError
            return cached.admission
        # Only here: a cached key was well-formed.
        # A time more than a second ahead is ignored: the clock was set back.
        refused = now < self._refused.get(digest, 0) <= now + SECOND
        if refused or not keys.is_well_formed(str(api_key)):
            raise InvalidKeyError
        return None

    def create_key(
        self, name: str, plan: str, *, environment: str = "live", expires: int | None = None
    ) -> str:
        """Create and return a key for the account ``name``; create the account if needed.

        The store keeps only the key's digest, so the key cannot be read again.
        ``expires`` is in Unix seconds. Raises PlansError for an unknown plan, ValueError
        for an environment other than live and test, a name that is empty, too long or has
        control characters, or an account that has another plan.
        """
        self.plans.by_name(plan)
        ends = None if expires is None else expires * SECOND
        _check_new(name, environment, ends)
        key = keys.make(environment)
        digest = keys.digest(key) or b""
        new = NewKey(digest, environment, name, plan, self._store.now(), ends)
        has = self._store.add(new, audit.creation(new))
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
                self._store.revoke(key.digest, audit.revocation(key, self._store.now()))
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
        """Start the background thread; it reports each second whether the store is usable.

        Call it before the first request. That starts the thread too.
        """
        self._report = report
        with self._lock:
            self._start_maintenance()

    def close(self) -> None:
        """Close the store; a later call opens it again."""
        if self._maintenance is not None:
            self._maintenance.stop()
        self._store.close()
        self._begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _ask(self, digest: bytes) -> Admission:
        """Read a key from the store, and cache the answer for a second from now."""
        # The second counts from before the read: a revocation during the read is seen in time.
        asked_at = self._store.now()
        key = self._store.find(digest)
        now = self._store.now()  # the reply may have adjusted the clock
        if key is None or not compare_digest(key.digest, digest) or not key.valid(now):
            self._refuse(digest, asked_at + SECOND)
        if len(self._cache) >= CACHED_KEYS:
            self._cache.clear()
            with self._lock:
                self._admissions.clear()
        cached = self._cache[digest] = _CachedKey(key, self._admission_of(key), asked_at)
        return cached.admission

    def _refuse(self, digest: bytes, until: int) -> NoReturn:
        self._cache.pop(digest, None)
        if len(self._refused) >= CACHED_REFUSED:
            self._refused.clear()
        self._refused[digest] = until
        raise InvalidKeyError

    def _admission_of(self, key: Key) -> Admission:
        """Return the admission of a key's account, the same for all its keys and threads."""
        plan = self.plans.get(key.plan)
        if plan is None:
            raise AccountsError(
                f"account {key.name!r}",
                f"unknown plan {key.plan!r}",
                "pass the plans file that defines it",
            )
        with self._lock:
            admission = self._admissions.get(key.account)
            if admission is None or admission.plan != plan:
                admission = Admission(self._store, key.account, plan)
                self._admissions[key.account] = admission
                self._start_maintenance()
        return admission

    def _start_maintenance(self) -> None:
        """Start the background thread if it does not run."""
        if self._background and self._maintenance is None:
            self._maintenance = Maintenance(self._store, self._report)

    def _after_fork(self) -> None:
        """Reset in a child process: locks and the thread belong to the parent."""
        self._begin()
        self._store.after_fork()


def _check_new(name: str, environment: str, expires: int | None) -> None:
    if environment not in keys.ENVIRONMENTS:
        raise ValueError(f"{environment!r} is not an environment; write live or test")
    if not is_name(name):
        raise ValueError(refusal("an account", name))
    if not (expires is None or is_time(expires)):
        raise ValueError("a key cannot expire then; write a time of the years 1 to 9999")


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
    The store is opened by the first call that needs it. With a ``clock`` (returns Unix
    microseconds) no background thread runs. Raises AccountsError for another URL and
    PlansError for an unusable plans file.
    """
    parts = split(url)
    if parts.scheme not in _STORES:
        raise unknown_store()
    store = _store(parts.scheme)
    return Accounts(store(url, clock), read_plans(plans), background=clock is None)


def _store(scheme: str) -> Callable[[str, Clock | None], Store]:
    module, name = _STORES[scheme]
    try:
        store: Callable[[str, Clock | None], Store] = getattr(import_module(module), name)
    except ImportError:
        raise AccountsError(
            f"{scheme}://", "its client is not installed", "run pip install 'geolookup[redis]'"
        ) from None
    return store
