"""The protocol of an account store, and the records it keeps.

Strategy: whatever must hold among workers is decided inside the store, in one transaction
or script that a crash leaves complete or undone. A worker's own state (``admission``) only
saves store accesses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import time_ns
from typing import ClassVar, NamedTuple, Protocol

from geolookup.gate.leases import Lease, Tokens
from geolookup.gate.plans import Plan

#: Returns the wall time, Unix microseconds.
Clock = Callable[[], int]
#: Decisions of ``Store.admit`` besides the time of a retry.
ADMITTED = 0
EXHAUSTED = -1
GONE = -2


def wall_clock() -> int:
    """Return the Unix time in microseconds."""
    return time_ns() // 1000


class Request(NamedTuple):
    """One request of an account, for an exact decision."""

    account: int
    plan: Plan


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
    """A key for ``Store.add``, which creates the account if its name is new."""

    digest: bytes
    environment: str
    name: str
    plan: str
    created: int
    expires: int | None


class Usage(NamedTuple):
    """An account and its used quota, current leases included."""

    name: str
    plan: str
    created: int
    used: int
    keys: int


class Store(Protocol):
    """An account store. Every method raises AccountsError if the store is unusable."""

    #: Whether a decision waits for another machine, so that an event loop needs a thread for it.
    remote: ClassVar[bool]

    def now(self) -> int:
        """Return the time of the store's clock, Unix microseconds."""

    def find(self, digest: bytes) -> Key | None:
        """Return the key with a digest."""

    def admit(self, requests: Sequence[Request]) -> list[int]:
        """Decide requests exactly, in order, in one transaction or round trip.

        Returns for each ADMITTED, EXHAUSTED (quota), GONE (the account no longer exists, for
        example after a restore), or the time of a retry.
        """

    def lease(
        self, account: int, plan: Plan, worker: int, ripe: Tokens, unused: Sequence[Tokens]
    ) -> Lease:
        """Free ripe tokens, take back unused ones, and lease tokens for the current bucket."""

    def take_back(self, account: int, unused: Sequence[Tokens]) -> None:
        """Take back unused tokens, in the rate and in the quota."""

    def leases_folder(self) -> Path:
        """Return the folder of this machine where processes record the tokens that they hold."""

    def add(self, key: NewKey) -> str:
        """Add a key if its account has the same plan or is new; return the account's plan."""

    def keys(self) -> list[Key]:
        """Return all keys, oldest first."""

    def revoke(self, digest: bytes) -> None:
        """Revoke a key for good."""

    def usage(self) -> list[Usage]:
        """Return all accounts, oldest first."""

    def check_durability(self) -> str | None:
        """Return None if the store keeps revocations on its disk, a warning if unknown.

        Raises AccountsError if it does not keep them.
        """

    def upkeep(self) -> None:
        """Do maintenance; the background thread calls it regularly."""

    def probe(self) -> None:
        """Raise AccountsError if the store is unusable; called once a second."""

    def after_fork(self) -> None:
        """Reset, in a child process, what belongs to the parent."""

    def close(self) -> None:
        """Close the store."""
