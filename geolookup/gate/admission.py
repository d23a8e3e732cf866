"""A worker's side of an account: what is known here, so that the store need not be asked.

Strategy: refusals are remembered until they can change, so a flood of them
stays in the process. Admissions are asked of the store (``Exact``; for several
at a time by ``group_commit``), or, on fast plans, taken from a slice of the
current 20 ms (``Leased``).
"""

from __future__ import annotations

import secrets
from array import array
from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import NoReturn

from geolookup.errors import QuotaError, RateLimitError
from geolookup.gate.leases import SLOT, SLOTS, Lease, Tokens
from geolookup.gate.plans import Plan
from geolookup.gate.sliding_window import SECOND
from geolookup.gate.store import ADMITTED, EXHAUSTED, Request, Store


class _Refusals:
    """The last refusal of an account, while nothing can have changed it.

    An end more than a second ahead is not believed: the clock was set back.
    """

    __slots__ = ("_free", "_quota", "until")

    def __init__(self) -> None:
        self.until = self._free = 0
        self._quota = False

    def check(self, now: int) -> None:
        """Raise RateLimitError or QuotaError as remembered."""
        if now < self.until <= now + SECOND:
            self._raise(now)

    def quota(self, now: int, until: int) -> NoReturn:
        """Raise QuotaError, and remember it until a moment."""
        self.until, self._quota = until, True
        self._raise(now)

    def rate(self, now: int, until: int, free: int) -> NoReturn:
        """Raise RateLimitError, and remember it until a moment; ``free`` is when to come again."""
        self.until, self._free, self._quota = until, free, False
        self._raise(now)

    def _raise(self, now: int) -> NoReturn:
        if self._quota:
            raise QuotaError
        raise RateLimitError(max(0, self._free - now) / SECOND)


class Exact:
    """An account whose every admission is a decision of the store."""

    def __init__(self, store: Store, account: int, plan: Plan) -> None:
        self.plan = plan
        #: what the store decides
        self.request = Request(account, plan)
        self._store = store
        self._refusals = _Refusals()

    def admit(self) -> None:
        """Count one request, or raise RateLimitError or QuotaError."""
        (free,) = self._store.admit([self.ask().request])
        self.settle(free)

    def ask(self) -> Exact:
        """Return what the store must be asked for; raise what it is known to answer."""
        if self._refusals.until:  # else there was none
            self._refusals.check(self._store.now())
        return self

    def settle(self, free: int) -> None:
        """Take the store's answer: raise RateLimitError or QuotaError, if it is one."""
        if free == ADMITTED:
            return
        now = self._store.now()
        if free == EXHAUSTED:
            self._refusals.quota(now, now + SECOND)
        self._refusals.rate(now, free, free)

    def give_back(self, *, at_end: bool = False) -> bool:
        """Return True: nothing is ever held."""
        return True


class Leased:
    """An account that this worker leases slices of.

    ``held`` is called whenever tokens were leased that may have to be given
    back. Each admission of the last second leaves its stamp here, 8 bytes, to
    be used again exactly a second later (see ``slots``).
    """

    def __init__(
        self, store: Store, account: int, plan: Plan, held: Callable[[Leased], None]
    ) -> None:
        self.plan = plan
        self._store, self._account, self._held = store, account, held
        self._worker = secrets.randbits(48)
        self._refusals = _Refusals()
        self._lock = Lock()
        self._slot = self._fresh = self._unusable = 0
        self._moved: deque[int] = deque()  # by the stamp of their last use
        self._stamps = array("Q")  # of the current slot
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
                self._refuse(lease)

    def ask(self) -> None:
        """Count one request as ``admit`` does: what a slice admits, the store is not asked for."""
        self.admit()

    def give_back(self, *, at_end: bool = False) -> bool:
        """Give back what is left of a slot gone by (at the end: of the current one too).

        Returns whether nothing is held any more.
        """
        with self._lock:
            now = self._store.now()
            if at_end:
                self._release(now)
            self._turn(now // SLOT)
            unused, self._leftover = self._leftover, []
            if unused:
                self._store.take_back(self._account, unused)
            return not (self._fresh or self._moved or self._unusable)

    def _take(self, now: int) -> bool:
        if now // SLOT != self._slot:
            return False
        if self._moved and self._moved[0] + SECOND <= now:
            self._moved.popleft()
        elif self._fresh:
            self._fresh -= 1
        else:
            return False
        self._stamps.append(now)
        return True

    def _renew(self, now: int) -> Lease:
        self._turn(now // SLOT)
        # Gone from here even if the store fails, since it may have taken them: twice is worse.
        unused, self._leftover = self._leftover, []
        ripe = self._ripe(now)
        lease = self._store.lease(self._account, self.plan, self._worker, ripe, unused)
        self._turn(lease.now // SLOT)
        self._fresh += lease.fresh
        if lease.moved:
            self._reuse(lease.moved)
        self._held(self)
        return lease

    def _ripe(self, now: int) -> Tokens:
        """Forget the uses in the oldest slot that are a second old; return how many they are."""
        oldest = self._slot - SLOTS + 1
        stamps = self._used.get(oldest, ())
        ripe = 0
        while ripe < len(stamps) and stamps[ripe] + SECOND <= now:
            ripe += 1
        if ripe:
            del self._used[oldest][:ripe]
        return Tokens(oldest, ripe)

    def _turn(self, slot: int) -> None:
        """Go on to a slot: what was not used in the last one is left over."""
        if slot == self._slot:
            return
        unused = self._fresh + len(self._moved) + self._unusable
        if unused:
            self._leftover.append(Tokens(self._slot, unused))
        self._fresh = self._unusable = 0
        self._moved.clear()
        self._used[self._slot], self._stamps = self._stamps, array("Q")
        back = slot < self._slot  # a clock set back: the slots mean something else now
        self._used = {} if back else {s: u for s, u in self._used.items() if s > slot - SLOTS}
        self._slot = slot

    def _reuse(self, moved: int) -> None:
        """Take own tokens of the oldest slot again, each as it gets ripe."""
        stamps = self._used.pop(self._slot - SLOTS + 1, array("Q"))[:moved]
        self._moved.extend(stamps)
        self._unusable += moved - len(stamps)

    def _release(self, now: int) -> None:
        """Leave over what is there, though its slot is not over.

        Tokens used less than a second ago still count in the rate: 0 is a slot
        long gone, so that only the quota gets them back.
        """
        ripe = sum(moment + SECOND <= now for moment in self._moved)
        held = len(self._moved) - ripe + self._unusable
        self._leftover += [Tokens(self._slot, self._fresh + ripe), Tokens(0, held)]
        self._fresh = self._unusable = 0
        self._moved.clear()

    def _refuse(self, lease: Lease) -> NoReturn:
        end = (self._slot + 1) * SLOT
        own = self._moved or self._used.get(self._slot - SLOTS + 1)
        if own:  # the next of them may change the answer
            end = min(end, own[0] + SECOND)
        if self._moved or lease.until:
            free = end if own else lease.until
            self._refusals.rate(lease.now, end, free)
        self._refusals.quota(lease.now, end)
