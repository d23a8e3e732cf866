"""The gate: microseconds of one decision, by the kind of plan and of answer.

Strategy: in each round every kind decides as often as its plans allow within a second, spread over
the keys; the kinds take turns, and the median round counts. A pause of a second between
rounds frees the rates again.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.harness import measure, reports
from benchmarks.harness.processes import Result
from benchmarks.harness.tables import Number, Table
from geolookup.errors import RateLimitError
from geolookup.gate import Accounts, open_accounts
from geolookup.gate.group_commit import GroupCommit

KEYS, TOGETHER = 400, 32
#: Decisions a second on each of many keys; below their rate.
_A_KEY = 50
#: The last is for refusals.
_RATES = {"fast": 1_000_000, "slow": 100, "one": 1}
ONE_KEY = "one key"
ONE_KEY_TOGETHER = f"{ONE_KEY}, {TOGETHER} requests together"
MANY_KEYS = f"{KEYS} keys at 100/s"
MANY_KEYS_TOGETHER = f"{MANY_KEYS}, requests of {TOGETHER} keys together"
REFUSED = "refused"


def decide(accounts: Accounts, keys: Sequence[str]) -> None:
    """Decide a request of each key, one after the other."""
    for key in keys:
        with suppress(RateLimitError):
            accounts.admit(key)


def decide_together(accounts: Accounts, keys: Sequence[str]) -> None:
    """Decide the same, ``TOGETHER`` requests at once."""

    async def run() -> None:
        decided = asyncio.Event()
        gate = GroupCommit[str](accounts, lambda _, __: decided.set())
        for begin in range(0, len(keys), TOGETHER):
            decided.clear()
            some = keys[begin : begin + TOGETHER]
            gate.admit(some, some)
            await decided.wait()

    asyncio.run(run())


def measure_gate(url: str | None, rounds: int, *, keys: int = KEYS, fast: int) -> Result:
    """Return the rounds of every kind in microseconds a decision."""
    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, measure.on_cores(1):
        plans = Path(folder, "plans.toml")
        texts = [f"[plan.{name}]\nrate = {rate}\n" for name, rate in _RATES.items()]
        plans.write_text("".join(texts), encoding="utf-8")
        url = url or f"sqlite:///{Path(folder, 'accounts.db')}"
        with open_accounts(url, plans) as accounts:

            def created(plan: str, count: int) -> list[str]:
                stamp = time.time_ns()
                return [accounts.create_key(f"{plan} {stamp} {at}", plan) for at in range(count)]

            kinds = (
                (ONE_KEY, decide, created("fast", 1) * fast),
                (ONE_KEY_TOGETHER, decide_together, created("fast", 1) * fast),
                (MANY_KEYS, decide, created("slow", keys) * _A_KEY),
                (MANY_KEYS_TOGETHER, decide_together, created("slow", keys) * _A_KEY),
                (REFUSED, decide, created("one", 1) * fast),
            )
            for _ in range(rounds):
                for name, run, asked in kinds:
                    began = time.perf_counter_ns()
                    run(accounts, asked)
                    took = (time.perf_counter_ns() - began) / len(asked) / 1e3
                    rows.setdefault(name, []).append(took)
                time.sleep(1)
    return {"store": url.partition(":")[0], "rows": rows}


def lines(result: Result) -> Iterator[reports.Part]:
    """Yield the table for a terminal."""
    rows = [
        (name, Number(statistics.median(kind), ",.1f")) for name, kind in result["rows"].items()
    ]
    yield Table((f"us per decision, accounts in {result['store']}", "median"), rows)
