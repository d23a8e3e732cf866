"""A worker's side of an account: what it can decide without asking the store.

Strategy: a refusal is cached until it can change, so a flood of refused requests does not
reach the store. An admission is a decision of the store (``Exact``; ``group_commit``
decides several at once) or, on fast plans, a token of a lease for the current bucket of
20 ms (``Leased``).
"""

from __future__ import annotations

import secrets
from array import array
from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import NoReturn

from geolookup.errors import AccountsError, QuotaError, RateLimitError
from geolookup.gate.account_store import ADMITTED, EXHAUSTED, GONE, Request, Store
from geolookup.gate.held_tokens import Record
from geolookup.gate.leases import BUCKET, BUCKETS, Lease, Tokens
from geolookup.gate.plans import Plan
from geolookup.gate.sliding_window import SECOND


class _Refusals:
    """The cached last refusal of an account, valid until the decision can change.

    An end more than a second ahead is ignored: the clock was set back. For the same reason
    no retry is later than ``longest``, the microseconds that a caller can have to wait.
    """

    __slots__ = ("_free", "_longest", "_quota", "until")

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self.until = self._free = 0
        self._quota = False

    def check(self, now: int) -> None:
        """Raise the cached RateLimitError or QuotaError, if it is still valid."""
        if now < self.until <= now + SECOND:
            self._raise(now)

    def quota(self, now: int, until: int) -> NoReturn:
        """Raise QuotaError, and cache it until a time."""
        self.until, self._quota = until, True
        self._raise(now)

    def rate(self, now: int, until: int, free: int) -> NoReturn:
        """Raise RateLimitError, and cache it until a time; ``free`` is when to retry."""
        self.until, self._free, self._quota = until, free, False
        self._raise(now)

    def _raise(self, now: int) -> NoReturn:
        if self._quota:
            raise QuotaError
        raise RateLimitError(min(max(0, self._free - now), self._longest) / SECOND)


class Exact:
    """An account of which the store decides every request."""

    def __init__(self, store: Store, account: int, plan: Plan) -> None:
        self.plan = plan
        #: the request that the store decides
        self.request = Request(account, plan)
        self._store = store
        self._refusals = _Refusals(SECOND)

    def admit(self) -> None:
        """Count one request, or raise RateLimitError or QuotaError."""
        (free,) = self._store.admit([self.ask().request])
        self.settle(free)

    def try_local(self, now: int) -> bool:
        """Return False: the store must decide; raise a cached refusal."""
        if self._refusals.until:  # 0: no refusal yet
            self._refusals.check(now)
        return False

    def ask(self) -> Exact:
        """Return self if the store must decide; raise a cached refusal."""
        self.try_local(self._store.now())
        return self

    def settle(self, free: int) -> None:
        """Apply the store's decision: raise RateLimitError or QuotaError for a refusal.

        Raises AccountsError if the account is gone: its key is read again within a second.
        """
        if free == ADMITTED:
            return
        if free == GONE:
            raise AccountsError("account store", "an account no longer exists", "restore it")
        now = self._store.now()
        if free == EXHAUSTED:
            self._refusals.quota(now, now + SECOND)
        self._refusals.rate(now, free, free)

    def give_back(self, *, at_end: bool = False) -> bool:
        """Return True: an exact account holds no tokens."""
        return True


class Leased:
    """An account whose rate this worker leases in parts.

    ``held`` is called after each lease, because unused tokens have to be returned later.
    ``record`` keeps their number, for other processes if this one is killed.
    Each admission of the last second leaves its stamp here, 8 bytes: its token can be
    used again exactly a second later (see ``leases``).

    Example, a plan of 1,000/s with one worker: in bucket 0 the worker leases 15 tokens and
    admits 15 requests. In bucket 50, a second later, the store moves these 15 tokens to
    bucket 50, and the worker uses each as soon as its stamp is a second old. While it runs
    at its rate it asks the store once per bucket, not once per request.
    """

    def __init__(
        self,
        store: Store,
        account: int,
        plan: Plan,
        held: Callable[[Leased], None],
        record: Record,
    ) -> None:
        self.plan = plan
        self._store, self._account, self._held, self._record = store, account, held, record
        self._worker = secrets.randbits(48)
        self._refusals = _Refusals(BUCKETS * BUCKET)
        self._lock = Lock()
        self._bucket = self._fresh = self._unusable = 0
        self._moved: deque[int] = deque()  # by the stamp of their last use
        self._stamps = array("Q")  # of the current bucket
        self._used: dict[int, array[int]] = {}  # of earlier ones
        self._leftover: list[Tokens] = []

    def admit(self) -> None:
        """Count one request, or raise RateLimitError or QuotaError."""
        with self._lock:
            now = self._store.now()
            if self._take(now):
                return
            self._refusals.check(now)
            lease = self._renew(now)
            if not self._take(lease.now):
                self._record_held()
                self._refuse(lease)

    def try_local(self, now: int) -> bool:
        """Count one request by a token that this worker has; raise a cached refusal.

        ``now`` is the time of the store's clock. Returns False if the store must decide, or
        another thread waits for it. Never waits.
        """
        if not self._lock.acquire(False):
            return False
        try:
            if self._take(now):
                return True
            self._refusals.check(now)
            return False
        finally:
            self._lock.release()

    def ask(self) -> None:
        """Count one request as ``admit`` does; a lease needs no decision of the store."""
        self.admit()

    def give_back(self, *, at_end: bool = False) -> bool:
        """Return unused tokens of past buckets (``at_end``: of the current bucket too).

        Returns whether this worker holds no tokens now.
        """
        with self._lock:
            now = self._store.now()
            if at_end:
                self._release(now)
            self._turn(now // BUCKET)
            unused, self._leftover = self._leftover, []
            held = self._record_held()
            if not held:
                self._record.release()
            if unused:
                self._store.take_back(self._account, unused)
            return not held

    def _take(self, now: int) -> bool:
        if now // BUCKET != self._bucket:
            return False
        moved, fresh = self._moved, self._fresh
        if moved and moved[0] + SECOND <= now:
            moved.popleft()
        elif fresh:
            self._fresh = fresh = fresh - 1
        else:
            return False
        self._record.hold(fresh + len(moved) + self._unusable)
        self._stamps.append(now)
        return True

    def _record_held(self) -> int:
        """Record and return what this worker holds: before it admits, returns or refuses."""
        held = self._fresh + len(self._moved) + self._unusable
        self._record.hold(held)
        return held

    def _renew(self, now: int) -> Lease:
        self._turn(now // BUCKET)
        # Forget them even if the store fails: it may have counted them, and twice is worse.
        unused, self._leftover = self._leftover, []
        self._record_held()
        ripe = self._ripe(now)
        lease = self._store.lease(self._account, self.plan, self._worker, ripe, unused)
        self._turn(lease.now // BUCKET)
        self._fresh += lease.fresh
        if lease.moved:
            self._reuse(lease.moved)
        self._held(self)
        return lease

    def _ripe(self, now: int) -> Tokens:
        """Drop the stamps of the oldest bucket that are a second old; return their number."""
        oldest = self._bucket - BUCKETS + 1
        stamps = self._used.get(oldest, ())
        ripe = 0
        while ripe < len(stamps) and stamps[ripe] + SECOND <= now:
            ripe += 1
        if ripe:
            del self._used[oldest][:ripe]
        return Tokens(oldest, ripe)

    def _turn(self, bucket: int) -> None:
        """Advance to a bucket: unused tokens of the last one are left over."""
        if bucket == self._bucket:
            return
        unused = self._fresh + len(self._moved) + self._unusable
        if unused:
            self._leftover.append(Tokens(self._bucket, unused))
        self._fresh = self._unusable = 0
        self._moved.clear()
        self._used[self._bucket], self._stamps = self._stamps, array("Q")
        # The clock was set back: old bucket numbers mean other times.
        back = bucket < self._bucket
        self._used = {} if back else {s: u for s, u in self._used.items() if s > bucket - BUCKETS}
        self._bucket = bucket

    def _reuse(self, moved: int) -> None:
        """Queue moved tokens for reuse, each usable a second after its last use."""
        stamps = self._used.get(self._bucket - BUCKETS + 1, array("Q"))
        self._moved.extend(stamps[:moved])
        self._unusable += max(0, moved - len(stamps))
        del stamps[:moved]  # the rest may be moved later

    def _release(self, now: int) -> None:
        """Leave over the tokens of the current bucket, before its end.

        Tokens used less than a second ago still count in the rate. Bucket 0 is long past,
        so returning them there restores the quota alone.
        """
        ripe = sum(moment + SECOND <= now for moment in self._moved)
        held = len(self._moved) - ripe + self._unusable
        self._leftover += [Tokens(self._bucket, self._fresh + ripe), Tokens(0, held)]
        self._fresh = self._unusable = 0
        self._moved.clear()

    def _refuse(self, lease: Lease) -> NoReturn:
        end = (self._bucket + 1) * BUCKET
        own = self._moved or self._used.get(self._bucket - BUCKETS + 1)
        if own:  # the oldest own token may change the decision
            end = min(end, own[0] + SECOND)
        if self._moved or lease.until:
            free = end if own else lease.until
            self._refusals.rate(lease.now, end, free)
        self._refusals.quota(lease.now, end)
