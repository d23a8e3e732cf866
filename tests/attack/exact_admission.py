"""Services of 1, 2 and 4 workers, some killed under load: no request more than rate and quota.

Each run is a new account that 12 clients use up over HTTP, on a slow plan and on a fast one, in a
file and in Redis. A kill may lose answers: the store counted the requests in progress.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPException
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

from geolookup.gate import open_accounts
from tests.http.serving import Server, Store, serving
from tests.http.test_watchdog import workers as started_workers
from tests.servers import redis

_CLIENTS = 12
#: Requests a second and in all, by plan.
_PLANS = {"slow": (100, 400), "fast": (500, 2_500)}
#: Seconds between two kills.
_PAUSE = 0.6
Moments = list[tuple[int, int]]


def attack(counts: tuple[int, ...] = (1, 2, 4)) -> None:
    """Print for each run what was admitted, what the store counted, and how many were killed.

    ``counts`` are the numbers of workers.
    """
    with TemporaryDirectory() as scratch, ExitStack() as stack:
        folder = Path(scratch)
        plans = folder / "plans.toml"
        plans.write_text(
            "".join(f"[plan.{n}]\nrate = {r}\nquota = {q}\n" for n, (r, q) in _PLANS.items()),
            encoding="utf-8",
        )
        urls = f"sqlite:///{folder}/accounts.db", stack.enter_context(redis(folder)).url
        for url, workers in product(urls, counts):
            store = Store(url, plans)
            store.key("slow")  # a service does not start without accounts
            with serving(store, folder, workers=workers) as server:
                for plan, has_kills in product(_PLANS, (False, True)):
                    _run(server, store, plan, workers, has_kills=has_kills)


def _run(server: Server, store: Store, plan: str, workers: int, *, has_kills: bool) -> None:
    rate, quota = _PLANS[plan]
    name = f"{plan} {time.time_ns()}"
    key = store.key(plan, name=name)
    with _killing(server, has_kills=has_kills) as killed, ThreadPoolExecutor(_CLIENTS) as pool:
        runs = [pool.submit(_use_up, server, key) for _ in range(_CLIENTS)]
        moments = [moment for run in runs for moment in run.result()]
    with open_accounts(store.url, store.plans) as accounts:
        (used,) = (usage.used for usage in accounts.usage() if usage.name == name)
    kind = store.url.partition(":")[0]
    lost = quota - len(moments)
    print(
        f"{kind}, {workers} workers, {rate}/s: {len(moments)} of {quota} admitted,"
        f" {used} counted, {len(killed)} kills",
        flush=True,
    )
    assert used == quota
    # Each client has one request in progress.
    assert 0 <= lost <= _CLIENTS * len(killed)
    assert not exceeds(moments, rate)


def exceeds(moments: Moments, rate: int) -> bool:
    """Return whether more than ``rate`` admissions surely lie in less than a second."""
    begins, ends = map(sorted, zip(*moments, strict=True))
    # Of rate + 1 in a row the last is stamped a second after the first, in whole microseconds.
    pairs = zip(begins, ends[rate:], strict=False)
    return any(last - first < 10**9 - 1000 for first, last in pairs)


def _use_up(server: Server, key: str) -> Moments:
    """Ask until the quota is used up; return the moments before and after each admission."""
    moments: Moments = []
    while True:
        assert server.process.poll() is None, server.log
        before = time.time_ns()
        with suppress(OSError, HTTPException):  # the worker was killed, or starts
            reply = server.ask("?ip=8.8.8.8", [("X-API-Key", key)])
            if reply.status == 200:
                moments.append((before, time.time_ns()))
            elif b"30002" in reply.body:
                return moments
            elif reply.status != 429:
                raise AssertionError(f"{reply.status}: {reply.body!r}")
        time.sleep(0.001)


@contextmanager
def _killing(server: Server, *, has_kills: bool) -> Iterator[list[int]]:
    """Kill a worker that runs from time to time, for the block; yield those that were killed."""
    killed: list[int] = []
    ended = Event()

    def kill() -> None:
        while has_kills and not ended.wait(_PAUSE):
            running = [process for process in started_workers(server) if _is_alive(process)]
            # Granian ends if the same worker dies twice in a row within seconds: the oldest is
            # another one each time.
            if len(running) > 1 or (running and not killed):
                killed.append(running[0])
                os.kill(killed[-1], signal.SIGKILL)

    thread = Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


def _is_alive(process: int) -> bool:
    with suppress(OSError):
        status = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
        return status.rpartition(")")[2].split()[0] != "Z"
    return False
