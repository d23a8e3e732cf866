"""Accounts: whom a key belongs to, and whether one more request may pass.

Strategy: key -> digest -> (key and account, known here for at most a second)
-> the account's admission. Only what a second may change is asked anew, so a
revocation holds everywhere within one.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from hmac import compare_digest
from importlib import import_module
from os import PathLike
from threading import Event, Lock, Thread
from typing import Self
from urllib.parse import urlsplit

from geolookup.errors import AccountsError, InvalidKeyError, MissingKeyError
from geolookup.gate import keys
from geolookup.gate.admission import Exact, Leased
from geolookup.gate.plans import Plans, read_plans
from geolookup.gate.sliding_window import SECOND
from geolookup.gate.store import Clock, Key, NewKey, Request, Store, Usage

#: The store of each URL scheme, by module and class.
_STORES = {
    "sqlite": ("geolookup.gate.sqlite", "SQLiteStore"),
    "redis": ("geolookup.gate.redis", "RedisStore"),
    "rediss": ("geolookup.gate.redis", "RedisStore"),
}
#: Keys known at a time; more, and all are asked for again.
_KNOWN = 65_536
#: Seconds between looks for tokens that were leased and not used, and for other upkeep.
_PAUSE = 0.05


class _Known:
    """A key that opened something when it was last asked for, and its account's admission.

    So it does until a second later, or until it expires if that is before.
    """

    __slots__ = ("admission", "asked", "digest", "until")

    def __init__(self, key: Key, admission: Exact | Leased, asked: int) -> None:
        self.digest, self.admission, self.asked = key.digest, admission, asked
        ends = asked + SECOND
        self.until = ends if key.expires is None else min(ends, key.expires)


class Accounts:
    """Accounts in a store; made by ``open_accounts``.

    Safe to use from many threads and after a fork. A context manager: leaving
    it closes the accounts. Every method raises AccountsError where the store
    cannot be used.
    """

    def __init__(self, store: Store, plans: Plans, *, background: bool) -> None:
        self.plans = plans
        self._store, self._background = store, background
        self._begin()
        _alive.add(self)

    def _begin(self) -> None:
        self._lock = Lock()
        self._known: dict[bytes, _Known] = {}
        self._admissions: dict[int, Exact | Leased] = {}
        self._holding: set[Leased] = set()
        self._thread: Thread | None = None
        self._closed = Event()

    def admit(self, api_key: object) -> None:
        """Let one request pass and count it.

        Raises MissingKeyError (None), InvalidKeyError, RateLimitError, QuotaError.
        """
        self.admission(api_key).admit()

    def decide(self, requests: Sequence[Request]) -> list[int]:
        """Have the store decide requests; see ``Store.admit``."""
        return self._store.admit(requests)

    def admission(self, api_key: object) -> Exact | Leased:
        """Return the admission of a key's account; raises MissingKeyError, InvalidKeyError."""
        if api_key is None:
            raise MissingKeyError
        digest = keys.digest(api_key)
        if digest is None:
            raise InvalidKeyError
        now = self._store.now()
        known = self._known.get(digest)
        if known is None or not known.asked <= now < known.until:
            known = self._ask(str(api_key), digest, now)
        if not compare_digest(known.digest, digest):
            raise InvalidKeyError
        return known.admission

    def create_key(
        self, name: str, plan: str, *, environment: str = "live", expires: int | None = None
    ) -> str:
        """Make a key for the account of a name, which is made if there is none; return the key.

        It cannot be had again. ``expires`` is in Unix seconds. Raises PlansError
        for an unknown plan, ValueError for another environment than live and
        test, an empty name, or an account that has another plan.
        """
        self.plans.named(plan)
        if environment not in keys.ENVIRONMENTS or not name.strip():
            raise ValueError("a key has a name, and the environment live or test")
        key = keys.make(environment)
        digest = keys.digest(key) or b""
        ends = None if expires is None else expires * SECOND
        new = NewKey(digest, environment, name, plan, self._store.now(), ends)
        has = self._store.add(new)
        if has != plan:
            raise ValueError(f"{name!r} has the plan {has!r}; write that one, or another name")
        return key

    def keys(self) -> list[Key]:
        """Return all keys, oldest first; of a key itself nothing is known but its digest."""
        return self._store.keys()

    def revoke(self, identifier: str) -> Key:
        """Make a key open nothing any more, everywhere within a second; KeyError if unknown."""
        for key in self.keys():
            if keys.identifier(key.digest) == identifier:
                self._store.revoke(key.digest)
                return key
        raise KeyError(identifier)

    def usage(self) -> list[Usage]:
        """Return all accounts with what they have used, oldest first."""
        return self._store.usage()

    def give_back(self) -> None:
        """Give back what was leased for a time gone by; done in the background by itself."""
        for admission in list(self._holding):
            self._holding.discard(admission)  # first: a lease from now on puts it back
            if not admission.give_back():
                self._holding.add(admission)

    def close(self) -> None:
        """Give back what is leased and let the store go; it is opened again if used."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        try:
            self._forget()
        finally:
            self._store.close()
            self._begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _ask(self, api_key: str, digest: bytes, now: int) -> _Known:
        # Told here and not sooner: what is known has been told before.
        key = self._store.find(digest) if keys.well_formed(api_key) else None
        if key is None or not key.valid(now):
            self._known.pop(digest, None)
            raise InvalidKeyError
        if len(self._known) >= _KNOWN:
            self._forget()
        known = self._known[digest] = _Known(key, self._admission_of(key), now)
        return known

    def _admission_of(self, key: Key) -> Exact | Leased:
        """Return the admission of a key's account, the same for all its keys and threads."""
        plan = self.plans.get(key.plan)
        if plan is None:
            raise AccountsError(
                f"account {key.name!r}", f"unknown plan {key.plan!r}", "name the plans file with it"
            )
        with self._lock:
            found = self._admissions.get(key.account)
            if found is None or found.plan != plan:
                found = (
                    Leased(self._store, key.account, plan, self._holding.add)
                    if plan.leased
                    else Exact(self._store, key.account, plan)
                )
                self._admissions[key.account] = found
                self._attend()
        return found

    def _forget(self) -> None:
        self._known.clear()
        with self._lock:
            self._admissions.clear()
        for admission in list(self._holding):
            admission.give_back(at_end=True)
            self._holding.discard(admission)

    def _attend(self) -> None:
        """Start the thread that sees to what no request does."""
        if self._background and self._thread is None:
            self._thread = Thread(
                target=self._watch, args=(self._closed,), name="geolookup-gate", daemon=True
            )
            self._thread.start()

    def _watch(self, closed: Event) -> None:
        while not closed.wait(_PAUSE):
            try:
                self.give_back()
                self._store.upkeep()
            except AccountsError:
                continue  # what the store did not take is lost, as in a crash; requests will tell

    def _after_fork(self) -> None:
        """Begin anew in a child process: what was leased is the parent's."""
        self._begin()
        self._store.after_fork()


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

    ``plans`` is a TOML file (see ``read_plans``). The store is reached when it
    is first needed. With a ``clock`` of the caller's own (Unix microseconds)
    nothing runs in the background; call ``Accounts.give_back``. Raises
    AccountsError for another URL and PlansError for a bad plans file.
    """
    scheme = urlsplit(url).scheme
    if scheme not in _STORES:
        raise AccountsError(
            f"{scheme}://", "no such store", "write sqlite:///PATH or redis://HOST:PORT/0"
        )
    store = _store(scheme)
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
