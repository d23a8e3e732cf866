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
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from benchmarks.harness import measure, reports
from benchmarks.harness.tables import Number, Table
from geolookup.errors import RateLimitError
from geolookup.gate import Accounts, open_accounts
from geolookup.gate.group_commit import GroupCommit

KEYS, TOGETHER, FAST_DECISIONS = 400, 32, 200_000
#: Decisions a second on each key of an exact plan; below its rate.
_EACH = 50
#: The last two are for refusals: the smallest leased rate, and one request a second.
_PLANS = "".join(
    f"[plan.{name}]\nrate = {rate}\n"
    for name, rate in {"fast": 1_000_000, "exact": 100, "small": 101, "slow": 1}.items()
)
LEASED = "leased plan, admitted"
EXACT = "exact plan, admitted"
SHARED = f"exact plan, admitted, {TOGETHER} requests together"
REFUSED_LEASED = "leased plan, refused"
REFUSED_EXACT = "exact plan, refused"


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


def admitted(accounts: Accounts, keys: Sequence[str], each: int) -> int:
    """Admit ``each`` requests of every key, one after the other."""
    for _ in range(each):
        for key in keys:
            accounts.admit(key)
    return each * len(keys)


def admitted_together(accounts: Accounts, keys: Sequence[str], each: int) -> int:
    """Admit as ``admitted`` does, the requests of ``TOGETHER`` keys in one iteration of a loop."""

    async def run() -> None:
        gate = GroupCommit(accounts)
        for _ in range(each):
            for begin in range(0, len(keys), TOGETHER):
                asked = [gate.admit(key) for key in keys[begin : begin + TOGETHER]]
                await asyncio.gather(*(waiting for waiting in asked if waiting is not None))

    asyncio.run(run())
    return each * len(keys)


def refused(accounts: Accounts, key: str, count: int) -> int:
    """Ask as often as that above the rate."""
    for _ in range(count):
        with suppress(RateLimitError):
            accounts.admit(key)
    return count


def cases(accounts: Accounts, keys: int, fast: int) -> Iterator[Case]:
    """Yield the kinds, each with accounts of its own."""

    def made(plan: str, count: int) -> list[str]:
        stamp = time.time_ns()
        return [accounts.create_key(f"{plan} {stamp} {at}", plan) for at in range(count)]

    one, alone, together = made("fast", 1), made("exact", keys), made("exact", keys)
    (small,), (slow,) = made("small", 1), made("slow", 1)
    yield Case(LEASED, lambda: admitted(accounts, one, fast))
    yield Case(EXACT, lambda: admitted(accounts, alone, _EACH))
    yield Case(SHARED, lambda: admitted_together(accounts, together, _EACH))
    yield Case(REFUSED_LEASED, lambda: refused(accounts, small, fast))
    yield Case(REFUSED_EXACT, lambda: refused(accounts, slow, fast))


def measure_gate(url: str | None, rounds: int, keys: int, fast: int) -> dict[str, Any]:
    """Return the rounds of every kind in microseconds a decision."""
    with tempfile.TemporaryDirectory() as text, measure.one_core() as pinned:
        plans = Path(text, "plans.toml")
        plans.write_text(_PLANS, encoding="utf-8")
        url = url or f"sqlite:///{Path(text, 'accounts.db')}"
        with open_accounts(url, plans) as accounts:
            found = list(cases(accounts, keys, fast))
            for _ in range(rounds):
                for each in found:
                    each.measure()
                time.sleep(1)
    return {
        "unit": "us per decision",
        "store": url.partition(":")[0],
        "rows": {each.name: each.rounds for each in found},
        "machine": measure.facts(pinned=pinned),
    }


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the table for a terminal."""
    rows = [
        (name, Number(statistics.median(each), ",.1f")) for name, each in result["rows"].items()
    ]
    header = (f"{result['unit']}, accounts in {result['store']}", "")
    yield Table("gate-decisions", header, rows, unit="us")


@click.command("gate", help="Time the decisions of the gate: key, rate and quota.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--keys", type=click.IntRange(1), default=KEYS, show_default=True)
@click.option("--decisions", type=click.IntRange(1), default=FAST_DECISIONS, show_default=True)
@click.option("--accounts", metavar="URL", help="Account store. [default: SQLite, of its own]")
@reports.outputs()
def command(
    rounds: int, keys: int, decisions: int, accounts: str | None, outputs: reports.Outputs
) -> None:
    """Measure and print."""
    result = measure_gate(accounts, rounds, keys, decisions)
    outputs.tell(lines(result), result)
