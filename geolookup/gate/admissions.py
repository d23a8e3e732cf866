"""Admissions in a worker: whose key it is, and whether one more request is admitted.

Strategy: key -> digest -> account, cached for a second. So a revocation takes effect in every
process within a second. The store decides each request, in one transaction or script that a crash
leaves complete or undone. So rate and quota hold among workers.

A refusal is cached until it can change: a flood of requests with one key that is wrong, or above
its rate, reaches the store once a second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hmac import compare_digest
from itertools import chain, repeat
from threading import Lock
from typing import NamedTuple

from geolookup.errors import (
    AccountsError,
    InvalidKeyError,
    MissingKeyError,
    QuotaError,
    RateLimitError,
)
from geolookup.gate import keys
from geolookup.gate.account_store import (
    ADMITTED,
    EXHAUSTED,
    GONE,
    SECOND,
    Key,
    Requests,
    Store,
)
from geolookup.gate.plans import Plan

#: Maximum numbers of cached keys and of cached refusals; beyond it the cache is cleared. A worker
#: answers fewer requests in a second: a flood of different keys clears no refusal before its time.
CACHED = 65_536


class Admission:
    """An account in a worker, and its cached refusal."""

    def __init__(self, account: int, plan: Plan) -> None:
        self.account, self.plan = account, plan
        self._refused_until = 0
        self._quota_used_up = False

    def refusal(self, now: int) -> Exception | None:
        """Return the cached refusal, if it is valid at a time of the store's clock."""
        # One that ends more than a second ahead is ignored: the clock was set back.
        return self._error(now) if now < self._refused_until <= now + SECOND else None

    def refuse(self, refusal: int, now: int) -> Exception:
        """Return the error for a ``Decision.refusal``, and cache it.

        Without an account there is nothing to cache: its key is read again within a second.
        """
        if refusal == GONE:
            return AccountsError("account store", "an account no longer exists", "restore it")
        self._quota_used_up = refusal == EXHAUSTED
        # A quota can be raised at any time: the store decides again after a second.
        self._refused_until = now + SECOND if self._quota_used_up else refusal
        return self._error(now)

    def _error(self, now: int) -> Exception:
        if self._quota_used_up:
            return QuotaError()
        # In seconds, at most one: a rate is per second.
        return RateLimitError(min(max(0, self._refused_until - now), SECOND) / SECOND)


class _CachedKey(NamedTuple):
    """A valid key, from its read until a second later, or until it expires, if that is earlier."""

    digest: bytes
    admission: Admission
    asked_at: int
    until: int


class Admissions:
    """The admissions of a process. Safe to use from many threads."""

    def __init__(self, store: Store, plans: Mapping[str, Plan]) -> None:
        self.plans = plans
        self._store = store
        self._begin()

    def _begin(self) -> None:
        self._lock = Lock()
        self._cache: dict[bytes, _CachedKey] = {}
        self._refused: dict[bytes, int] = {}  # refused keys, and until when
        self._admissions: dict[int, Admission] = {}

    @property
    def remote(self) -> bool:
        """Whether a decision of the store waits for another machine."""
        return self._store.remote

    def now(self) -> int:
        """Return the time of the store's clock, Unix microseconds."""
        return self._store.now()

    def admit(self, api_key: object) -> None:
        """Admit one request and count it.

        Raises MissingKeyError (None), InvalidKeyError, RateLimitError, QuotaError.
        """
        known = self.look_up(api_key, self.now()) or self.read([api_key])[0]
        if isinstance(known, Admission):
            ((_, refusal),) = self._store.admit([Requests(known.account, known.plan)])
            if refusal == ADMITTED:
                return
            known = known.refuse(refusal, self.now())
        raise known

    def admit_together(self, api_keys: Sequence[object]) -> Sequence[Exception | None]:
        """Admit requests as ``admit`` does, in their order; return what it would raise, or None.

        One call of the store reads the keys, and one decides. Example: the requests have the keys
        A, B, a wrong one, A, A. The store decides three requests of A and one of B; if it admits
        two of A, the outcome of the last one is RateLimitError.
        """
        now = self.now()
        by_key = {key: self.look_up(key, now) for key in set(api_keys)}
        unknown = [key for key, known in by_key.items() if known is None]
        if unknown:
            by_key.update(zip(unknown, self.read(unknown), strict=True))
        known = [by_key[key] for key in api_keys]
        # Equal exceptions of two keys are two objects: each is an entry of its own.
        numbers = Counter(known)
        admissions = [one for one in numbers if isinstance(one, Admission)]
        refusals = self._decide(admissions, numbers)
        if len(admissions) == len(numbers) and not refusals:
            return [None] * len(known)  # the usual case
        # The first requests of an account are admitted, in the order of their arrival.
        outcomes = {
            one: refusals.get(one, repeat(None)) if isinstance(one, Admission) else repeat(one)
            for one in numbers
        }
        return [next(outcomes[one]) for one in known]

    def _decide(
        self, admissions: Sequence[Admission], numbers: Counter[Admission | Exception | None]
    ) -> dict[Admission, Iterator[Exception | None]]:
        """Decide requests of accounts; return the outcomes of accounts that are refused any."""
        requests = [Requests(one.account, one.plan, numbers[one]) for one in admissions]
        try:
            decisions = self._store.admit(requests) if requests else []
        except AccountsError as error:
            return dict.fromkeys(admissions, repeat(error))
        refusals: dict[Admission, Iterator[Exception | None]] = {}
        for admission, (admitted, refusal) in zip(admissions, decisions, strict=True):
            if refusal != ADMITTED:
                refused = admission.refuse(refusal, self.now())
                refusals[admission] = chain(repeat(None, admitted), repeat(refused))
        return refusals

    def look_up(self, api_key: object, now: int) -> Admission | Exception | None:
        """Return the account of a cached key, or its refusal; None if the store must be read.

        ``now`` is the time of the store's clock. Never waits.
        """
        digest = keys.digest(api_key)
        if digest is None:
            return MissingKeyError() if api_key is None else InvalidKeyError()
        cached = self._cache.get(digest)
        # now < asked_at: the clock was set back, and the entry could live too long.
        if cached is not None and cached.asked_at <= now < cached.until:
            if not compare_digest(cached.digest, digest):
                return InvalidKeyError()
            return cached.admission.refusal(now) or cached.admission
        # Only here: a cached key was well-formed.
        # A time more than a second ahead is ignored: the clock was set back.
        refused = now < self._refused.get(digest, 0) <= now + SECOND
        return InvalidKeyError() if refused or not keys.is_well_formed(str(api_key)) else None

    def is_stranger(self, api_key: object) -> bool:
        """Return whether a key was not valid before."""
        return keys.digest(api_key) not in self._cache

    def read(self, api_keys: Sequence[object]) -> list[Admission | Exception]:
        """Read keys in one call of the store; cache the answers for a second."""
        digests = [keys.digest(key) or b"" for key in api_keys]
        unique = list(dict.fromkeys(digests))
        try:
            read = dict(zip(unique, self._read(unique), strict=True))
        except AccountsError as error:
            return [error] * len(digests)
        return [read[digest] for digest in digests]

    def _read(self, digests: Sequence[bytes]) -> Iterator[Admission | Exception]:
        # The second counts from before the read: a revocation during the read is seen in time.
        asked_at = self.now()
        stored = self._store.find(digests)
        now = self.now()  # the reply may have adjusted the clock
        for digest, key in zip(digests, stored, strict=True):
            if isinstance(key, AccountsError):
                yield key
            elif key is None or not compare_digest(key.digest, digest) or not key.valid(now):
                yield self._refuse(digest, asked_at + SECOND)
            else:
                yield self._accept(key, asked_at, now)

    def _refuse(self, digest: bytes, until: int) -> Exception:
        self._cache.pop(digest, None)
        if len(self._refused) >= CACHED:
            self._refused.clear()
        self._refused[digest] = until
        return InvalidKeyError()

    def _accept(self, key: Key, asked_at: int, now: int) -> Admission | Exception:
        plan = self.plans.get(key.plan)
        if plan is None:
            remedy = "pass the plans file that defines it"
            return AccountsError(f"account {key.name!r}", f"unknown plan {key.plan!r}", remedy)
        if len(self._cache) >= CACHED:
            self._cache.clear()
            with self._lock:
                self._admissions.clear()
        with self._lock:  # the same admission for all keys and threads
            admission = self._admissions.get(key.account)
            if admission is None or admission.plan != plan:
                admission = self._admissions[key.account] = Admission(key.account, plan)
        ends = asked_at + SECOND
        until = ends if key.expires is None else min(ends, key.expires)
        self._cache[key.digest] = _CachedKey(key.digest, admission, asked_at, until)
        return admission.refusal(now) or admission
