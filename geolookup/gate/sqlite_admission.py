"""The rate and the quota: the rule of every store, and its statements in SQLite.

An account has *runs*: how many requests it had used in all, and since when. It is created with a
run of 0 requests at time 0. The requests of an account that are decided together add one run.

The rule: *recent* requests are those used now less those used a second ago. A request is admitted
if fewer than ``rate`` are recent and the quota is not used up. Example, a rate of 30::

    used    0     10    30
    stamp   0.0   5.0   5.4

At 5.9 s, 0 requests were used a second ago, so 30 are recent: the rate is reached. At 6.0 s, 10
were used a second ago: 20 are recent, and 10 of 15 requests are admitted. They add the run of 40
requests at 6.0. The other 5 can retry when 11 were used a second ago, which is at 6.4 s.

The same in one lookup: a rate of 30 admits the 45th request when the 15th is a second old, in the
first run with at least 15 used requests. ``_READ`` returns its stamp; the usual batch needs no
more. ``_ADMIT_SCRIPT`` of ``redis`` decides by the same rule.

Stamps are Unix times in microseconds. If the newest is in the future, the clock was set back. Runs
that were a second old at the last admission remain so; the others count as now. So no caller
waits for more than a second.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from geolookup.gate.account_store import (
    ALL_ADMITTED,
    EXHAUSTED,
    GONE,
    SECOND,
    Clock,
    Decision,
    Requests,
)

#: ?1 is the account, ?2 the number of requests less the rate. Returns used and stamp of the newest
#: run, and the stamp of the run that must be a second old, if there is one.
_READ = (
    "SELECT used, stamp, (SELECT stamp FROM run"
    " WHERE account = ?1 AND used >= newest.used + ?2 ORDER BY used LIMIT 1)"
    " FROM run AS newest WHERE account = ?1 ORDER BY used DESC LIMIT 1"
)
#: The number of requests used at time ?2, or None if that is all. From the oldest run on: most runs
#: of a high rate are recent.
_USED_AT = (
    "SELECT max(used) FROM run WHERE account = ?1 AND used <"
    " (SELECT used FROM run WHERE account = ?1 AND stamp > ?2 ORDER BY used LIMIT 1)"
)
_ADD = "INSERT INTO run (account, used, stamp) VALUES (?, ?, ?)"
_FIRST_ABOVE = "SELECT stamp FROM run WHERE account = ? AND used > ? ORDER BY used LIMIT 1"
#: ?2 is now, ?3 a second before the newest run.
_SET_BACK = (
    "UPDATE run SET stamp = CASE WHEN stamp <= ?3 THEN 0 ELSE min(stamp, ?2) END WHERE account = ?1"
)
_DROP = f"DELETE FROM run WHERE account = ?1 AND used < ({_USED_AT})"  # noqa: S608 - constants
#: Used requests of an account until its expired runs are dropped: seldom, to change few pages.
_DROP_AFTER = 64


def admit(db: sqlite3.Connection, requests: Sequence[Requests], clock: Clock) -> list[Decision]:
    """Decide requests in one transaction; see ``account_store.Store``."""
    with transaction(db):
        now = clock()  # under the write lock: all requests arrived before
        return [_decide(db, request, now) for request in requests]


def _decide(db: sqlite3.Connection, requests: Requests, now: int) -> Decision:
    account, plan, number = requests
    row = db.execute(_READ, (account, number - plan.rate)).fetchone()
    if row is None:
        return Decision(0, GONE)
    used, newest, needed = row
    recent, admitted = 0, number
    if newest > now:
        db.execute(_SET_BACK, (account, now, newest - SECOND))
        needed = None
    # None: not known after that, or there are more requests than the rate.
    if needed is None or needed > now - SECOND or used + number > plan.limit:
        (before,) = db.execute(_USED_AT, (account, now - SECOND)).fetchone()
        recent = 0 if before is None else used - before
        admitted = max(0, min(number, plan.rate - recent, plan.limit - used))
    if admitted:
        _add(db, account, used, admitted, now)
    if admitted == number:
        return ALL_ADMITTED
    if recent + admitted < plan.rate:
        return Decision(admitted, EXHAUSTED)
    (stamp,) = db.execute(_FIRST_ABOVE, (account, used + admitted - plan.rate)).fetchone()
    return Decision(admitted, stamp + SECOND)


def _add(db: sqlite3.Connection, account: int, used: int, number: int, now: int) -> None:
    after = used + number
    db.execute(_ADD, (account, after, now))
    if after // _DROP_AFTER > used // _DROP_AFTER:
        db.execute(_DROP, (account, now - SECOND))


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
