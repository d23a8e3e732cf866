"""The protocol of an account store, its URL, and the records it keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import time_ns
from typing import NamedTuple, Protocol
from urllib.parse import SplitResult, urlsplit

from geolookup.errors import AccountsError
from geolookup.gate.plans import Plan

#: Microseconds.
SECOND = 1_000_000
#: Returns the wall time, Unix microseconds.
Clock = Callable[[], int]
#: Values of ``Decision.refusal``, besides the time of a retry.
ADMITTED, EXHAUSTED, GONE = 0, -1, -2
#: Unix microseconds of the years 1 to 9999, the range of ``datetime``.
TIMES = range(-62_135_596_800 * SECOND, 253_402_300_800 * SECOND)


def wall_clock() -> int:
    """Return the Unix time in microseconds."""
    return time_ns() // 1000


def split_url(url: str) -> SplitResult:
    """Return the parts of a URL; AccountsError, without the URL's password, if it is not one."""
    try:
        return urlsplit(url)
    except ValueError:
        raise unknown_store() from None


def unknown_store() -> AccountsError:
    """Return the error for a text that is not the URL of a store."""
    return AccountsError(
        "accounts", "not the URL of a store", "write sqlite:///PATH or redis://HOST:PORT/0"
    )


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
    revoked: bool = False

    def valid(self, now: int) -> bool:
        """Return whether the key is valid at a time."""
        return not self.revoked and (self.expires is None or now < self.expires)


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
    remote: bool

    def now(self) -> int:
        """Return the time of the store's clock, Unix microseconds."""

    def find(self, digests: Sequence[bytes]) -> Sequence[Key | AccountsError | None]:
        """Return the key with each digest, in one round trip: None if unknown, or its problem."""

    def admit(self, requests: Sequence[Requests]) -> list[Decision]:
        """Decide requests of accounts, by the rule of ``sqlite_admission``, in one round trip."""

    def add(self, key: Key, entry: Entry) -> str:
        """Add and log a key if its account has the same plan or is new; return the plan.

        The name of the key selects the account; ``key.account`` is not read.
        """

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
