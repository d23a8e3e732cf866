"""The gate: microseconds of one decision, by the number of keys and the kind of answer.

Strategy: in each round every kind decides as often as its plans allow within a second, spread over
the keys; the kinds take turns, and the median round counts. A pause of a second between
rounds frees the rates again.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
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
_PLANS = "".join(
    f"[plan.{name}]\nrate = {rate}\n"
    for name, rate in {"fast": 1_000_000, "slow": 100, "one": 1}.items()
)
ONE_KEY = "one key"
ONE_KEY_TOGETHER = f"{ONE_KEY}, {TOGETHER} requests together"
MANY_KEYS = f"{KEYS} keys at 100/s"
MANY_KEYS_TOGETHER = f"{MANY_KEYS}, requests of {TOGETHER} keys together"
REFUSED = "refused"


@dataclass(slots=True)
class Case:
    """One kind of decision; ``run`` decides and returns how many decisions that were."""

    name: str
    run: Callable[[], int]
    rounds: list[float] = field(default_factory=list)

    def measure(self) -> None:
        """Add a round."""
        began = time.perf_counter_ns()
        decisions = self.run()
        self.rounds.append((time.perf_counter_ns() - began) / decisions / 1e3)


def admit(accounts: Accounts, keys: Sequence[str], times: int) -> int:
    """Admit ``times`` requests of every key, one after the other."""
    for _ in range(times):
        for key in keys:
            accounts.admit(key)
    return times * len(keys)


def admit_together(accounts: Accounts, keys: Sequence[str], times: int) -> int:
    """Admit as ``admit`` does, ``TOGETHER`` requests at once."""

    async def run() -> None:
        gate = GroupCommit[str](accounts)
        for _ in range(times):
            for begin in range(0, len(keys), TOGETHER):
                decided = asyncio.Event()
                some = keys[begin : begin + TOGETHER]
                gate.admit(some, some, lambda _, __, decided=decided: decided.set())  # type: ignore[misc]
                await decided.wait()

    asyncio.run(run())
    return times * len(keys)


def refuse(accounts: Accounts, key: str, count: int) -> int:
    """Ask as often as that above the rate."""
    for _ in range(count):
        with suppress(RateLimitError):
            accounts.admit(key)
    return count


def cases(accounts: Accounts, keys: int, fast: int) -> Iterator[Case]:
    """Yield the kinds, each with accounts of its own."""

    def create(plan: str, count: int) -> list[str]:
        stamp = time.time_ns()
        return [accounts.create_key(f"{plan} {stamp} {at}", plan) for at in range(count)]

    fast_key, single, together = create("fast", 1), create("slow", keys), create("slow", keys)
    (one,) = create("one", 1)
    yield Case(ONE_KEY, lambda: admit(accounts, fast_key, fast // TOGETHER))
    yield Case(ONE_KEY_TOGETHER, lambda: admit_together(accounts, fast_key * fast, 1))
    yield Case(MANY_KEYS, lambda: admit(accounts, single, _A_KEY))
    yield Case(MANY_KEYS_TOGETHER, lambda: admit_together(accounts, together, _A_KEY))
    yield Case(REFUSED, lambda: refuse(accounts, one, fast))


def measure_gate(url: str | None, rounds: int, *, keys: int = KEYS, fast: int) -> Result:
    """Return the rounds of every kind in microseconds a decision."""
    with tempfile.TemporaryDirectory() as text, measure.on_cores(1):
        plans = Path(text, "plans.toml")
        plans.write_text(_PLANS, encoding="utf-8")
        url = url or f"sqlite:///{Path(text, 'accounts.db')}"
        with open_accounts(url, plans) as accounts:
            kinds = list(cases(accounts, keys, fast))
            for _ in range(rounds):
                for kind in kinds:
                    kind.measure()
                time.sleep(1)
    return {
        "store": url.partition(":")[0],
        "rows": {kind.name: kind.rounds for kind in kinds},
    }


def lines(result: Result) -> Iterator[reports.Part]:
    """Yield the table for a terminal."""
    rows = [
        (name, Number(statistics.median(kind), ",.1f")) for name, kind in result["rows"].items()
    ]
    yield Table((f"us per decision, accounts in {result['store']}", "median"), rows)
