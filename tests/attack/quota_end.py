"""A quota shared by workers: no request is refused with 30002 while some of the quota is left.

Each round is a new account with a quota of 300 on a plan above 100/s. Four worker processes are
asked in turn, at random and under the rate, so every refusal is one of the quota.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from geolookup.errors import QuotaError, RateLimitError
from geolookup.gate import open_accounts
from tests.servers import redis

WORKERS = 4
QUOTA = 300
RATE = 1000
#: Seconds between two requests.
PAUSE = 0.002
ROUNDS = 10


def attack() -> None:
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        folder = Path(scratch)
        plans = folder / "plans.toml"
        plans.write_text(f"[plan.p]\nrate = {RATE}\nquota = {QUOTA}\n", encoding="utf-8")
        urls = [f"sqlite:///{folder}/accounts.db"]
        if shutil.which("redis-server"):
            urls.append(stack.enter_context(redis(folder)).url)
        actual = {url.partition(":")[0]: first_refusals(url, plans, ROUNDS) for url in urls}
    for name, admitted in actual.items():
        print(f"{name}: first 30002 after {admitted} of {QUOTA}")
    assert all(set(admitted) == {QUOTA} for admitted in actual.values())


def first_refusals(url: str, plans: Path, rounds: int) -> list[int]:
    """Return for each round how many requests were admitted before the first refusal."""
    with ExitStack() as stack:
        workers = [stack.enter_context(worker(url, plans)) for _ in range(WORKERS)]
        return [first_refusal(workers, url, plans, number) for number in range(rounds)]


def first_refusal(workers: list[Connection], url: str, plans: Path, number: int) -> int:
    with open_accounts(url, plans) as accounts:
        key = accounts.create_key(f"round {number} {time.time_ns()}", "p")
    rng = random.Random(number)
    for admitted in range(QUOTA + 1):
        one = rng.choice(workers)
        one.send(key)
        answer = one.recv()
        if answer == 30002:
            return admitted
        assert answer == 0, f"{answer} after {admitted} requests under the rate"
        time.sleep(PAUSE)
    raise AssertionError("more was admitted than the quota")


@contextmanager
def worker(url: str, plans: Path) -> Iterator[Connection]:
    """A worker process that admits each key it is sent, and answers 0 or the error code."""
    near, far = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_answer, args=(far, url, plans), daemon=True)
    process.start()
    far.close()  # its end is noticed
    try:
        yield near
    finally:
        process.kill()
        process.join()


def _answer(asked: Connection, url: str, plans: Path) -> None:
    with open_accounts(url, plans) as accounts:
        while True:
            key = asked.recv()
            try:
                accounts.admit(key)
                asked.send(0)
            except (QuotaError, RateLimitError) as error:
                asked.send(error.code)
