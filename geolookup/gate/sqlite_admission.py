"""Exact admissions in SQLite: the statements that count requests of accounts.

Strategy: an admission is one UPDATE whose WHERE is the rule of ``sliding_window``, for all accounts
of a plan at once: the interpreter lock is released for each statement, and another thread may take
it. If a row is not changed, the slow path decides one by one and finds the reason.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from operator import itemgetter

from geolookup.gate.account_store import ADMITTED, EXHAUSTED, GONE, Clock, Request
from geolookup.gate.plans import Plan
from geolookup.gate.sliding_window import SECOND, STAMP_BYTES, decide, stamp

#: Stamps are bytes that compare like numbers; see ``sliding_window``.
_ADMIT = (
    "UPDATE account SET used = used + 1, ring = CAST(substr(ring, 9) || ?1 AS BLOB)"
    " WHERE used < ?3 AND length(ring) = ?4 AND substr(ring, 1, 8) <= ?2 AND substr(ring, -8) <= ?1"
    " AND id IN ({})"
)
#: The most accounts that one statement admits. SQLite takes at least 999 parameters.
_MOST_TOGETHER = 512


def admit(db: sqlite3.Connection, requests: Sequence[Request], clock: Clock) -> list[int]:
    """Decide requests exactly, in order, in one transaction; see ``account_store.Store``."""
    if len(requests) == 1:  # a single statement is its own transaction
        ((account, plan),) = requests
        all_admitted = _admitted(db, [account], plan, clock())
    else:
        all_admitted = _admitted_together(db, requests, clock)
    if all_admitted:
        return [ADMITTED] * len(requests)
    with transaction(db):
        return [_decided(db, request, clock()) for request in requests]


def _admitted_together(db: sqlite3.Connection, requests: Sequence[Request], clock: Clock) -> bool:
    """Admit all requests if all accounts differ and none is refused; else change nothing."""
    by_plan: dict[Plan, list[int]] = {}
    for account, plan in requests:
        by_plan.setdefault(plan, []).append(account)
    if len(set(map(itemgetter(0), requests))) < len(requests):
        return False
    with suppress(_NotAllError), transaction(db):
        now = clock()  # under the write lock: all requests arrived before
        for plan, accounts in by_plan.items():
            for begin in range(0, len(accounts), _MOST_TOGETHER):
                if not _admitted(db, accounts[begin : begin + _MOST_TOGETHER], plan, now):
                    raise _NotAllError
        return True
    return False


def _decided(db: sqlite3.Connection, request: Request, now: int) -> int:
    """Decide a request from the stored state of its account, if no statement admits it."""
    account, plan = request
    if _admitted(db, [account], plan, now):
        return ADMITTED
    state = stored(db, account)
    if state is None:
        return GONE
    used, ring, _ = state
    ring, free = decide(ring, plan.rate, now)
    if free == ADMITTED and used >= plan.limit:
        return EXHAUSTED
    after = used + (free == ADMITTED), ring, account
    db.execute("UPDATE account SET used = ?, ring = ? WHERE id = ?", after)
    return free


class _NotAllError(Exception):
    """A request was not admitted; rolls back the others."""


def _admitted(db: sqlite3.Connection, accounts: list[int], plan: Plan, now: int) -> bool:
    """Admit one request of each of several accounts; return whether all were admitted."""
    count = len(accounts)
    # Of 1, 2, 4, 8 ... accounts, so that few statements exist and all stay prepared.
    filled = (1 << (count - 1).bit_length()) - count
    values = stamp(now), stamp(now - SECOND), plan.limit, STAMP_BYTES * plan.rate
    statement = _admit_statement(count + filled)
    return db.execute(statement, (*values, *accounts, *accounts[:1] * filled)).rowcount == count


@cache
def _admit_statement(accounts: int) -> str:
    return _ADMIT.format(", ".join("?" * accounts))


def stored(db: sqlite3.Connection, account: int) -> tuple[int, bytes, bytes] | None:
    """Return used quota, ring and buckets of an account; None if there is none."""
    read = "SELECT used, ring, slots FROM account WHERE id = ?"
    row: tuple[int, bytes, bytes] | None = db.execute(read, (account,)).fetchone()
    return row


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
