"""What an account store does: one atomic step for each decision; and what it keeps.

Strategy: whatever must hold among workers is decided inside the store, in one
transaction or script that a crash leaves whole or undone. What a worker keeps
beside it (``admission``) only saves it from asking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import time_ns
from typing import NamedTuple, Protocol

from geolookup.gate.leases import Lease, Tokens
from geolookup.gate.plans import Plan

#: Returns the wall time, Unix microseconds.
Clock = Callable[[], int]
#: What ``Store.admit`` answers beside the moment from which a request can be admitted.
ADMITTED = 0
EXHAUSTED = -1


def wall_clock() -> int:
    """Return the Unix time in microseconds."""
    return time_ns() // 1000


class Request(NamedTuple):
    """One request of an account, to be decided exactly."""

    account: int
    plan: Plan


class Key(NamedTuple):
    """A key as stored, under its digest. Moments are Unix microseconds."""

    digest: bytes
    environment: str
    account: int
    name: str
    plan: str
    created: int
    expires: int | None
    revoked: bool

    def valid(self, now: int) -> bool:
        """Tell whether the key opens anything at a moment."""
        return not self.revoked and (self.expires is None or now < self.expires)


class NewKey(NamedTuple):
    """What ``Store.add`` writes; the account is made if none has the name."""

    digest: bytes
    environment: str
    name: str
    plan: str
    created: int
    expires: int | None


class Usage(NamedTuple):
    """An account and what it has used of its quota, tokens leased just now included."""

    name: str
    plan: str
    created: int
    used: int
    keys: int


class Store(Protocol):
    """An account store. Every method raises AccountsError where it cannot be used."""

    def now(self) -> int:
        """Return the time by the clock that the store goes by, Unix microseconds."""

    def find(self, digest: bytes) -> Key | None:
        """Return the key with a digest."""

    def admit(self, requests: Sequence[Request]) -> list[int]:
        """Decide requests exactly, in their order, with one wait for all.

        Returns for each ADMITTED, EXHAUSTED, or when one can be admitted.
        """

    def lease(
        self, account: int, plan: Plan, worker: int, ripe: Tokens, unused: Sequence[Tokens]
    ) -> Lease:
        """Free ripe tokens, take back unused ones, and give a slice for the current slot."""

    def take_back(self, account: int, unused: Sequence[Tokens]) -> None:
        """Take back unused tokens, in the rate and in the quota."""

    def add(self, key: NewKey) -> str:
        """Write a key, if its account has or gets its plan; return the account's plan."""

    def keys(self) -> list[Key]:
        """Return all keys, oldest first."""

    def revoke(self, digest: bytes) -> None:
        """Make a key open nothing any more, for ever."""

    def usage(self) -> list[Usage]:
        """Return all accounts, oldest first."""

    def upkeep(self) -> None:
        """Do what can be done beside the requests; called in the background, time and again."""

    def after_fork(self) -> None:
        """Forget, in a child process, what belongs to the parent."""

    def close(self) -> None:
        """Let the store go."""
