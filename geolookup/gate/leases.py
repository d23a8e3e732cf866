"""The leased rate: tokens granted in the last 51 buckets of 20 ms, for all workers together.

This is a sliding window over buckets. Any second touches at most 51 buckets. If every 51
consecutive buckets hold at most ``rate`` tokens, and a token is used in its bucket or never,
then no second has more admissions than the rate.

The oldest of the 51 buckets is only partly inside the last second. A worker knows its own
part: a token that it used at least a second ago is *ripe*, and the worker frees it. Example
with buckets of 20 ms: at time 1.005 s the window is buckets 0 to 50. A token used at 0.003 s, in
bucket 0, is ripe, because the second that ends now began at 0.005 s; one used at 0.010 s is not.

If one worker holds all tokens of an account, it need not ask for each token: the store *moves* its
tokens of the oldest bucket into the current bucket, and the worker uses each as it becomes ripe.
A move keeps the sum of the window and no token is used twice in a second, so the rate holds
for workers that join later too.

A lease of more than one token leaves at least ``rate`` requests of the quota. The window holds
the lease and all tokens granted after it, ``rate`` at most, so the quota lasts for a second more.
Meanwhile the worker uses or returns the lease. The last ``rate`` requests are granted one by one.
So if nothing is left of the quota, no worker holds unused tokens, and the quota is used up.
"""

from __future__ import annotations

import struct
from typing import NamedTuple, Self

#: Microseconds.
BUCKET = 20_000
BUCKETS = 51
#: A lease is 1/64 of the free tokens, so that the last tokens are granted one by one,
FREE_DIVISOR = 64
#: but at least 1/512 of the rate, so that a worker at its rate does not ask for each token.
RATE_DIVISOR = 512
#: All tokens of a lease, fresh and moved, are at most 1/20 of the rate: this is what can be
#: lost with a worker. One bucket of a worker that keeps to its rate is 1/50.
LEASE_DIVISOR = 20
_LAYOUT = struct.Struct(f">QQQQ{BUCKETS}I")


class Lease(NamedTuple):
    """Tokens granted to a worker at ``now``, for the bucket that contains ``now``.

    ``fresh`` tokens may be used at once, ``moved`` ones when they become ripe. If both are
    0, ``until`` is when tokens can be free again; 0 means that the quota is used up.
    """

    now: int
    fresh: int
    moved: int
    until: int


class Tokens(NamedTuple):
    """A number of tokens that a worker returns, and their bucket."""

    bucket: int
    number: int


class Table:
    """Tokens by bucket, oldest first, up to ``bucket``, and their owner.

    ``owner`` is the worker that leased last. ``since`` is the last bucket in which other
    workers may hold tokens, 0 if none. ``again`` is the last bucket that the clock passed
    twice because it was set back: returns for buckets up to it may mean other tokens.
    """

    def __init__(
        self, bucket: int = 0, owner: int = 0, since: int = 0, again: int = 0, *counts: int
    ) -> None:
        self.bucket, self.owner, self.since, self.again = bucket, owner, since, again
        self.counts = list(counts) or [0] * BUCKETS

    @classmethod
    def unpack(cls, stored: bytes) -> Self:
        """Read a stored table; empty bytes are an empty table."""
        return cls(*_LAYOUT.unpack(stored)) if stored else cls()

    def pack(self) -> bytes:
        """Return the stored form of the table."""
        return _LAYOUT.pack(self.bucket, self.owner, self.since, self.again, *self.counts)

    def free(self, tokens: Tokens) -> None:
        """Remove tokens from their bucket; buckets outside the window do not count."""
        place = tokens.bucket - self.bucket + BUCKETS - 1
        if 0 <= place < BUCKETS and tokens.bucket > self.again:
            self.counts[place] = max(0, self.counts[place] - tokens.number)

    def lease(self, worker: int, rate: int, left: int, now: int) -> Lease:
        """Grant a worker tokens for the bucket of ``now``; ``left`` is what the quota allows."""
        self.advance(now // BUCKET)
        self._note(worker)
        room = max(0, rate - sum(self.counts))
        spare = max(0, left - rate)
        fresh = min(room, left, max(1, min(spare, max(room // FREE_DIVISOR, rate // RATE_DIVISOR))))
        more = min(spare, max(1, rate // LEASE_DIVISOR)) - fresh
        movable = self._alone() and room < self.counts[0]
        moved = max(0, min(self.counts[0], more)) if movable else 0
        self.counts[0] -= moved
        self.counts[-1] += fresh + moved
        return Lease(now, fresh, moved, 0 if room else self._next_free())

    def advance(self, bucket: int) -> None:
        """Advance to a bucket. If the clock was set back, tokens of later ones count as current."""
        if bucket < self.bucket:
            ahead = min(self.bucket - bucket, BUCKETS - 1)
            past, future = self.counts[:-ahead], self.counts[-ahead:]
            past[-1] += sum(future)
            self.counts = [0] * (BUCKETS - len(past)) + past
            self.since, self.again = min(self.since, bucket), max(self.again, self.bucket)
        else:
            steps = min(bucket - self.bucket, BUCKETS)
            self.counts = self.counts[steps:] + [0] * steps
        self.bucket = bucket

    def _note(self, worker: int) -> None:
        if worker != self.owner:
            self.owner, self.since = worker, self.bucket if any(self.counts) else 0

    def _alone(self) -> bool:
        """Return whether the owner holds all tokens in the window."""
        return max(self.since, self.again) < self.bucket - BUCKETS + 1

    def _next_free(self) -> int:
        """Return when the oldest bucket with tokens leaves the window."""
        oldest = next(place for place, count in enumerate(self.counts) if count)
        return (self.bucket + oldest + 1) * BUCKET
