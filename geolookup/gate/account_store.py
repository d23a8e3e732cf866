"""The protocol of an account store, the records it keeps, and the admission of an account.

Strategy: the store decides every request, in one transaction or script that a crash leaves
complete or undone. So rate and quota hold among workers. A worker only caches keys and refusals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import time_ns
from typing import ClassVar, NamedTuple, NoReturn, Protocol

from geolookup.errors import AccountsError, QuotaError, RateLimitError
from geolookup.gate.plans import Plan

#: Microseconds.
SECOND = 1_000_000
#: Returns the wall time, Unix microseconds.
Clock = Callable[[], int]
#: Refusals of a ``Decision``, besides the time of a retry.
ADMITTED, EXHAUSTED, GONE = 0, -1, -2


#: Unix microseconds of the years 1 to 9999, the range of ``datetime``.
TIMES = range(-62_135_596_800 * SECOND, 253_402_300_800 * SECOND)


def is_time(value: object) -> bool:
    """Return whether a value is a time of an account store."""
    return type(value) is int and value in TIMES


def wall_clock() -> int:
    """Return the Unix time in microseconds."""
    return time_ns() // 1000


class Requests(NamedTuple):
    """Requests of one account that are decided together."""

    account: int
    plan: Plan
    number: int = 1


class Decision(NamedTuple):
    """The number of admitted requests of an account, the first ones, and the refusal of the others.

    ``refusal`` is ADMITTED without others, EXHAUSTED if the quota is used up, GONE if the
    account no longer exists, for example after a restore, or else the time of a retry.
    """

    admitted: int
    refusal: int


#: The usual decision; ``admitted`` is not read.
ALL_ADMITTED = Decision(1, ADMITTED)


class Key(NamedTuple):
    """A stored key. Times are Unix microseconds."""

    digest: bytes
    environment: str
    account: int
    name: str
    plan: str
    created: int
    expires: int | None
    revoked: bool

    def valid(self, now: int) -> bool:
        """Return whether the key is valid at a time."""
        return not self.revoked and (self.expires is None or now < self.expires)


class NewKey(NamedTuple):
    """A key for ``Store.add``; the account is created if its name is new."""

    digest: bytes
    environment: str
    name: str
    plan: str
    created: int
    expires: int | None


class Entry(NamedTuple):
    """An entry of the audit log.

    ``at`` is in Unix microseconds, ``user`` and ``uid`` are the system user of the process.
    ``sudo_user`` is $SUDO_USER, the caller of sudo. ``key`` is the identifier of a key. No member
    holds a key, a digest or an address.
    """

    at: int
    action: str
    user: str
    uid: int | None
    sudo_user: str | None
    key: str | None
    account: str | None
    detail: str | None


class Usage(NamedTuple):
    """An account and its used quota."""

    name: str
    plan: str
    created: int
    used: int
    keys: int


class Store(Protocol):
    """An account store. Every method raises AccountsError if the store is unusable."""

    #: Whether a decision waits for another machine: an event loop needs a thread for it then.
    remote: ClassVar[bool]

    def now(self) -> int:
        """Return the time of the store's clock, Unix microseconds."""

    def find(self, digest: bytes) -> Key | None:
        """Return the key with a digest."""

    def admit(self, requests: Sequence[Requests]) -> list[Decision]:
        """Decide requests of accounts, each account once, in one round trip."""

    def add(self, key: NewKey, entry: Entry) -> str:
        """Add and log a key if its account has the same plan or is new; return the plan."""

    def keys(self) -> list[Key]:
        """Return all keys, oldest first."""

    def revoke(self, digest: bytes, entry: Entry) -> None:
        """Revoke a key for good; log it unless it was revoked before."""

    def log(self) -> list[Entry]:
        """Return the audit log, oldest first."""

    def usage(self) -> list[Usage]:
        """Return all accounts, oldest first."""

    def check_durability(self) -> str | None:
        """Return None if the store keeps revocations on its disk, a warning if unknown.

        Raises AccountsError if it does not keep them.
        """

    def probe(self) -> None:
        """Raise AccountsError if the store is unusable; called once a second."""

    def after_fork(self) -> None:
        """Reset the connections of the parent in a child process."""

    def close(self) -> None:
        """Close the store."""


class Admission:
    """An account in a worker: its requests are admitted or refused.

    A refusal is cached until it can change, so a flood of refused requests does not reach the
    store. The store decides all others.
    """

    def __init__(self, store: Store, account: int, plan: Plan) -> None:
        self.account, self.plan = account, plan
        self._store = store
        self._refused_until = 0
        self._quota_used_up = False

    def admit(self) -> None:
        """Count one request, or raise RateLimitError or QuotaError."""
        self.check(self._store.now())
        ((_, refusal),) = self._store.admit([Requests(self.account, self.plan)])
        if refusal != ADMITTED:
            self.refuse(refusal)

    def check(self, now: int) -> None:
        """Raise the cached refusal, if it is still valid at a time of the store's clock."""
        # One that ends more than a second ahead is ignored: the clock was set back.
        if now < self._refused_until <= now + SECOND:
            self._raise(now)

    def refuse(self, refusal: int) -> NoReturn:
        """Raise RateLimitError or QuotaError for a ``Decision.refusal``, and cache it.

        Raises AccountsError if the account is gone: its key is read again within a second.
        """
        if refusal == GONE:
            raise AccountsError("account store", "an account no longer exists", "restore it")
        now = self._store.now()
        self._quota_used_up = refusal == EXHAUSTED
        # A quota can be raised at any time: the store decides again after a second.
        self._refused_until = now + SECOND if self._quota_used_up else refusal
        self._raise(now)

    def _raise(self, now: int) -> NoReturn:
        if self._quota_used_up:
            raise QuotaError
        # In seconds, at most one: a rate is per second.
        raise RateLimitError(min(max(0, self._refused_until - now), SECOND) / SECOND)
