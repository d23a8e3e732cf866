"""A worker under load: ``python -m tests.gate.hammer URL PLANS KEY LOG TURN PAUSE``.

It asks one by one, or with a TURN of more than 1 so many requests at once, as
an event loop does, as fast as it can or with a PAUSE of seconds in between.
Admissions append their moments before and after to the log, as two 8-byte
integers each in one write, which a ``kill -9`` leaves whole.
It ends when the quota has been used up for a while, or with SIGTERM, and adds to LOG.refused how
often the rate refused it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

from geolookup.errors import QuotaError, RateLimitError
from geolookup.gate import Accounts, accounts_file, open_accounts
from geolookup.gate.group_commit import GroupCommit
from tests.conftest import ROOT
from tests.gate.turns import decisions

_MOMENTS = struct.Struct("=QQ")
#: Seconds of nothing but QuotaError.
_OVER = 0.5
_PATIENCE = 600


def start(
    url: str, plans: Path, key: str, log: Path, *, turn: int = 1, pause: float = 0
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.gate.hammer", url, str(plans), key, str(log)]
    return subprocess.Popen([*command, str(turn), str(pause)], cwd=ROOT)


def admissions(log: Path) -> list[tuple[int, int]]:
    """Return the moments before and after each admission, nanoseconds."""
    return list(_MOMENTS.iter_unpack(log.read_bytes()))


def refusals(log: Path) -> list[int]:
    """Return how often the rate refused each worker."""
    return [int(line) for line in Path(f"{log}.refused").read_text(encoding="ascii").split()]


def exceeds(moments: list[tuple[int, int]], rate: int) -> bool:
    """Return whether more than ``rate`` admissions surely lie in less than a second."""
    begins, ends = map(sorted, zip(*moments, strict=True))
    # Of rate + 1 in a row the last is stamped a second after the first, in whole microseconds.
    pairs = zip(begins, ends[rate:], strict=False)
    return any(last - first < 10**9 - 1000 for first, last in pairs)


async def hammer(
    accounts: Accounts, key: str, log: int, turn: int, pause: float, ended: Event
) -> int:
    """Ask until ``ended`` or the quota is used up; return the number of refusals by the rate."""
    refused = 0
    gate = GroupCommit[int](accounts)
    began = over_since = time.monotonic()
    while time.monotonic() - over_since < _OVER and not ended.is_set():
        before = time.time_ns()
        actual = await _turn(accounts, gate, [key] * turn)
        admitted = actual.count(None)
        refused += actual.count(RateLimitError)
        if admitted:
            os.write(log, _MOMENTS.pack(before, time.time_ns()) * admitted)
        if admitted or RateLimitError in actual:
            over_since = time.monotonic()
        if over_since - began > _PATIENCE:
            raise TimeoutError("the quota does not come to its end")
        if pause:
            time.sleep(pause)
    return refused


async def _turn(accounts: Accounts, gate: GroupCommit[int], keys: list[str]) -> list[object]:
    """Return the kinds of the outcomes; one request does not use the group."""
    if len(keys) > 1:
        return [result and type(result) for result in await decisions(gate, keys)]
    try:
        accounts.admit(keys[0])
    except (QuotaError, RateLimitError) as error:
        return [type(error)]
    return [None]


if __name__ == "__main__":
    given_url, given_plans, given_key, given_log, given_turn, given_pause = sys.argv[1:]
    accounts_file._BUSY_TIMEOUT = _PATIENCE
    if given_url.startswith("redis"):
        from geolookup.gate import redis_server

        redis_server._TIMEOUT = _PATIENCE
    told = Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    with open_accounts(given_url, given_plans) as opened:
        opened_log = os.open(given_log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        refused_times = asyncio.run(
            hammer(opened, given_key, opened_log, int(given_turn), float(given_pause), told)
        )
    with Path(f"{given_log}.refused").open("a", encoding="ascii") as file:
        file.write(f"{refused_times}\n")
