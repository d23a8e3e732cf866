"""The rate and the quota in SQLite: the statements that count requests of accounts.

The rule: a request is admitted if fewer than ``rate`` requests were admitted in the second that
ends now, and the quota is not used up. ``_ADMIT_SCRIPT`` of ``redis`` is its twin;
``tests/gate/cases.py`` has the cases that both must meet.

- Up to ``MAX_RING`` requests a second an account has a *ring*: the stamps of its last ``rate``
  admissions, oldest first, in 8 bytes big-endian: stamps compare like bytes. Unused
  positions are zeros. A request is admitted if the oldest stamp is at least a second old. That is
  the WHERE of one UPDATE, for all accounts of a plan at once.
- Above it an account has *runs*: rows of a stamp and how many requests were admitted then, and
  ``recent``, their sum. Requests that are decided together make one run. Example, 1,000/s: 30
  requests come together at 5.000 s. Runs up to 4.000 s are deleted, and subtracted from ``recent``,
  say 980 then. So 20 are admitted, in a new run; the other 10 can retry when the oldest run is a
  second old.

Stamps are Unix times in microseconds. A stamp in the future, after the clock was set back, counts
as now: no caller waits for more than a second.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import compress
from operator import not_

from geolookup.gate.account_store import (
    ADMITTED,
    ALL_ADMITTED,
    EXHAUSTED,
    GONE,
    SECOND,
    Clock,
    Decision,
    Requests,
)
from geolookup.gate.plans import Plan

#: The highest rate of a plan whose accounts have a ring.
MAX_RING = 100
_STAMP_BYTES = 8
# ?1 is now, ?2 a second before, ?3 the quota, ?4 the size of a ring. The oldest stamp is dropped
# and now is appended, if the oldest is a second old and the newest is not in the future.
_ADMIT = (
    "UPDATE account SET used = used + 1, ring = CAST(substr(ring, 9) || ?1 AS BLOB)"
    " WHERE used < ?3 AND length(ring) = ?4 AND substr(ring, 1, 8) <= ?2 AND substr(ring, -8) <= ?1"
    " AND id IN ({})"
)
# Stamps are integers: a run of exactly a second ago does not count any more.
_STATE = (
    "SELECT used, recent, last,"
    " (SELECT sum(number) FROM run WHERE account = id AND stamp <= ?2)"
    " FROM account WHERE id = ?1"
)
_DROP = "DELETE FROM run WHERE account = ?1 AND stamp <= ?2"
#: The most accounts that one statement admits. SQLite takes at least 999 parameters.
_MOST_TOGETHER = 512


def admit(db: sqlite3.Connection, requests: Sequence[Requests], clock: Clock) -> list[Decision]:
    """Decide requests; see ``account_store.Store``."""
    in_rings = [request.plan.rate <= MAX_RING for request in requests]
    if all(in_rings):
        return _by_rings(db, requests, clock)
    if not any(in_rings):
        return _by_runs(db, requests, clock)
    by_rings = iter(_by_rings(db, list(compress(requests, in_rings)), clock))
    by_runs = iter(_by_runs(db, list(compress(requests, map(not_, in_rings))), clock))
    return [next(by_rings if in_ring else by_runs) for in_ring in in_rings]


def _by_rings(db: sqlite3.Connection, requests: Sequence[Requests], clock: Clock) -> list[Decision]:
    if _admit_all(db, requests, clock):
        return [ALL_ADMITTED] * len(requests)
    with transaction(db):
        return [_one_by_one(db, request, clock) for request in requests]


def _admit_all(db: sqlite3.Connection, requests: Sequence[Requests], clock: Clock) -> bool:
    """Admit one request of each account if none is refused; else change nothing."""
    by_plan: dict[Plan, list[int]] = {}
    for account, plan, number in requests:
        if number > 1:
            return False
        by_plan.setdefault(plan, []).append(account)
    if len(requests) == 1:  # a single statement is its own transaction
        return _admit(db, [requests[0].account], requests[0].plan, clock())
    with suppress(_NotAllError), transaction(db):
        now = clock()  # under the write lock: all requests arrived before
        for plan, accounts in by_plan.items():
            for begin in range(0, len(accounts), _MOST_TOGETHER):
                if not _admit(db, accounts[begin : begin + _MOST_TOGETHER], plan, now):
                    raise _NotAllError
        return True
    return False


class _NotAllError(Exception):
    """A request was not admitted; rolls back the others."""


def _admit(db: sqlite3.Connection, accounts: list[int], plan: Plan, now: int) -> bool:
    """Admit one request of each of several accounts; return whether all were admitted."""
    count = len(accounts)
    # Of 1, 2, 4, 8 ... accounts: few statements exist, and all stay prepared.
    # 5 accounts: (5 - 1).bit_length() is 3, so the list has 8; the last 3 repeat the first.
    filled = (1 << (count - 1).bit_length()) - count
    # An account that is repeated to fill the list is one row: it is admitted once.
    values = _stamp(now), _stamp(now - SECOND), plan.limit, _STAMP_BYTES * plan.rate
    statement = _admit_statement(count + filled)
    return db.execute(statement, (*values, *accounts, *accounts[:1] * filled)).rowcount == count


@cache
def _admit_statement(accounts: int) -> str:
    return _ADMIT.format(", ".join("?" * accounts))


def _one_by_one(db: sqlite3.Connection, requests: Requests, clock: Clock) -> Decision:
    for admitted in range(requests.number):
        refusal = _refusal(db, requests, clock())
        if refusal != ADMITTED:
            return Decision(admitted, refusal)
    return ALL_ADMITTED


def _refusal(db: sqlite3.Connection, requests: Requests, now: int) -> int:
    """Decide one request, by the stored ring if the statement does not admit it."""
    account, plan, _ = requests
    if _admit(db, [account], plan, now):
        return ADMITTED
    row = db.execute("SELECT used, ring FROM account WHERE id = ?", (account,)).fetchone()
    if row is None:
        return GONE
    used, ring = row
    ring, free = decide(ring, plan.rate, now)
    if free == ADMITTED and used >= plan.limit:
        return EXHAUSTED
    after = used + (free == ADMITTED), ring, account
    db.execute("UPDATE account SET used = ?, ring = ? WHERE id = ?", after)
    return free


def decide(ring: bytes, rate: int, now: int) -> tuple[bytes, int]:
    """Return the ring after a request, and 0 if it is admitted, else when to retry.

    A ring of another rate is resized.
    """
    # Rate 3: a ring of 1 2 3 4 becomes 2 3 4, a ring of 4 becomes 0 0 4.
    stamps = [min(moment, now) for moment in _unpack(ring)][-rate:]
    stamps[:0] = [0] * (rate - len(stamps))
    free = stamps[0] + SECOND
    if free > now:
        return _pack(stamps), free
    # Rate 2 at 5.0 s: the ring 3.9 4.5 becomes 4.5 5.0; the ring 4.2 4.5 is free at 5.2.
    return _pack([*stamps[1:], now]), ADMITTED


def _unpack(ring: bytes) -> tuple[int, ...]:
    return struct.unpack(f">{len(ring) // _STAMP_BYTES}Q", ring)


def _pack(stamps: list[int]) -> bytes:
    return struct.pack(f">{len(stamps)}Q", *stamps)


def _stamp(moment: int) -> bytes:
    return moment.to_bytes(_STAMP_BYTES, "big")


def _by_runs(db: sqlite3.Connection, requests: Sequence[Requests], clock: Clock) -> list[Decision]:
    with transaction(db):
        now = clock()  # under the write lock: all requests arrived before
        return [_add_run(db, request, now) for request in requests]


def _add_run(db: sqlite3.Connection, requests: Requests, now: int) -> Decision:
    account, plan, number = requests
    row = db.execute(_STATE, (account, now - SECOND)).fetchone()
    if row is None:
        return Decision(0, GONE)
    used, recent, last, old = row
    if last > now:
        _move_to(db, account, now)
    if old:
        recent -= old
        db.execute(_DROP, (account, now - SECOND))
    admitted = max(0, min(number, plan.rate - recent, plan.limit - used))
    if admitted:
        _insert(db, account, now, admitted)
    values = used + admitted, recent + admitted, now, account
    db.execute("UPDATE account SET used = ?, recent = ?, last = ? WHERE id = ?", values)
    if admitted == number:
        return ALL_ADMITTED
    # The rate has room, so the quota refused.
    if recent + admitted < plan.rate:
        return Decision(admitted, EXHAUSTED)
    # 0, or more if the plan had a greater rate before.
    above = recent + admitted - plan.rate
    return Decision(admitted, _next_free(db, account, above) + SECOND)


def _move_to(db: sqlite3.Connection, account: int, now: int) -> None:
    """Move the runs of the future to now."""
    where = "FROM run WHERE account = ? AND stamp > ?"
    (number,) = db.execute(f"SELECT sum(number) {where}", (account, now)).fetchone()
    if number:
        db.execute(f"DELETE {where}", (account, now))
        _insert(db, account, now, number)


def _insert(db: sqlite3.Connection, account: int, stamp: int, number: int) -> None:
    db.execute(
        "INSERT INTO run VALUES (?, ?, ?)"
        " ON CONFLICT (account, stamp) DO UPDATE SET number = number + excluded.number",
        (account, stamp, number),
    )


def _next_free(db: sqlite3.Connection, account: int, above: int) -> int:
    """Return the stamp of the oldest run, after as many requests as exceed a lowered rate."""
    runs = db.execute("SELECT stamp, number FROM run WHERE account = ? ORDER BY stamp", (account,))
    stamp = 0
    # Runs of 4, 3 and 5 requests and 5 above: the second one makes room (5 - 4 - 3 < 0).
    while above >= 0:
        stamp, number = runs.fetchone()
        above -= number
    return stamp


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Hold the write lock; an exception rolls back."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
