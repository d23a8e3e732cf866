"""The leased rate: what was given of it in the last 51 slots of 20 ms, for all workers together.

A second, wherever it begins, touches at most 51 slots. So as long as any 51 in
a row hold at most ``rate`` tokens, and a token is used in its slot or not at
all, no second has more admissions than the rate.

The oldest of the 51 lies within the last second in part only. A worker knows
its own part: tokens it used a second ago or longer are *ripe*, and it frees
them. A worker that is alone on an account need not even ask for each: the
store *moves* its tokens of the oldest slot into the current one, and the
worker uses each as it gets ripe. Moving changes no sum and a token is never
used twice in a second, so the rate holds whoever comes later.
"""

from __future__ import annotations

import struct
from typing import NamedTuple, Self

#: Microseconds.
SLOT = 20_000
SLOTS = 51
#: A slice is this part of what is left, so that the last tokens go one by one to who asks,
OF_THE_REST = 64
#: but not less than this part of the rate: callers at their rate must not ask for each token.
OF_THE_RATE = 512
_LAYOUT = struct.Struct(f">QQQQ{SLOTS}I")


class Lease(NamedTuple):
    """What a worker got at ``now``: tokens for the slot that ``now`` lies in.

    ``fresh`` ones may be used at once, ``moved`` ones as they get ripe. Without
    any, ``until`` is when there can be some; 0 says that the quota is used up.
    """

    now: int
    fresh: int
    moved: int
    until: int


class Tokens(NamedTuple):
    """Tokens that a worker does not need any more, and the slot they were for."""

    slot: int
    number: int


class Table:
    """Tokens by slot, oldest first, the last one being ``slot``; and who leased them.

    ``owner`` is the worker that leased last, ``since`` the slot up to which
    others may have; 0 if nobody else has tokens in these slots. Up to the slot
    ``again`` the clock has counted twice, since it was set back: what workers
    say of these slots may be about other tokens.
    """

    def __init__(
        self, slot: int = 0, owner: int = 0, since: int = 0, again: int = 0, *counts: int
    ) -> None:
        self.slot, self.owner, self.since, self.again = slot, owner, since, again
        self.counts = list(counts) or [0] * SLOTS

    @classmethod
    def unpack(cls, stored: bytes) -> Self:
        """Read a stored table; no bytes are an empty one."""
        return cls(*_LAYOUT.unpack(stored)) if stored else cls()

    def pack(self) -> bytes:
        """Return the table as it is stored."""
        return _LAYOUT.pack(self.slot, self.owner, self.since, self.again, *self.counts)

    def free(self, tokens: Tokens) -> None:
        """Take tokens out of their slot; those of slots gone by count no more anyway."""
        place = tokens.slot - self.slot + SLOTS - 1
        if 0 <= place < SLOTS and tokens.slot > self.again:
            self.counts[place] = max(0, self.counts[place] - tokens.number)

    def lease(self, worker: int, rate: int, left: int, now: int) -> Lease:
        """Give a worker a slice for the slot of ``now``; ``left`` is what the quota allows."""
        self.advance(now // SLOT)
        self._note(worker)
        room = max(0, rate - sum(self.counts))
        fresh = min(room, left, max(1, room // OF_THE_REST, rate // OF_THE_RATE))
        movable = self._alone() and room < self.counts[0] <= left - fresh
        moved = self.counts[0] if movable else 0
        self.counts[0] -= moved
        self.counts[-1] += fresh + moved
        return Lease(now, fresh, moved, 0 if room else self._relief())

    def advance(self, slot: int) -> None:
        """Go on to a slot. If the clock was set back, what lies ahead counts as of now."""
        if slot < self.slot:
            ahead = min(self.slot - slot, SLOTS - 1)
            past, future = self.counts[:-ahead], self.counts[-ahead:]
            past[-1] += sum(future)
            self.counts = [0] * (SLOTS - len(past)) + past
            self.since, self.again = min(self.since, slot), max(self.again, self.slot)
        else:
            steps = min(slot - self.slot, SLOTS)
            self.counts = self.counts[steps:] + [0] * steps
        self.slot = slot

    def _note(self, worker: int) -> None:
        if worker != self.owner:
            self.owner, self.since = worker, self.slot if any(self.counts) else 0

    def _alone(self) -> bool:
        """Tell whether all tokens in these slots are the owner's, and known to it."""
        return max(self.since, self.again) < self.slot - SLOTS + 1

    def _relief(self) -> int:
        """Return when the oldest slot with tokens goes by."""
        oldest = next(place for place, count in enumerate(self.counts) if count)
        return (self.slot + oldest + 1) * SLOT
