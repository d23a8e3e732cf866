"""The HTTP service on one core: requests a second, beside servers that do less.

Strategy: one worker on one core, wrk on another, 64 connections. The servers
take turns, several rounds, so that a busy moment of the machine hits all of
them; the best round counts, for others on the machine can only take away.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports, workload
from benchmarks.http.load import CONNECTIONS, NoWrkError, Round, Running, running, write_script
from geolookup.gate import open_accounts

ADDRESSES, KEYS = 20_000, 400
#: A plan that never refuses, and one whose keys together may ask 40,000 times a second.
PLANS = "[plan.fast]\nrate = 1000000\n[plan.hundred]\nrate = 100\n"
FAST, MANY = "geolookup, one fast plan", f"geolookup, {KEYS} keys at 100/s"
CONSTANT, BARE = "geolookup, constant answer, no key", "Granian alone, constant answer"
PEER = "maxminddb + json on Granian, no key"


@dataclass(slots=True)
class Case:
    """A server, what it is asked, and what the rounds found."""

    name: str
    server: Running
    script: Path
    rounds: list[Round] = field(default_factory=list)


def measure_http(
    scale: str, *, seconds: float, rounds: int, requests: int, accounts: str | None
) -> dict[str, Any]:
    """Return requests a second of every server, and our worker's memory over ``requests``."""
    data = cache.dataset(scale)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = accounts or f"sqlite:///{folder / 'accounts.db'}"
        cases = list(_cases(stack, folder, scale, data, store))
        for case in cases:
            case.server.load(case.script, 1)  # warm
        for _ in range(rounds):
            for case in cases:
                case.rounds.append(case.server.load(case.script, seconds))
        memory = _memory(cases[0], seconds, requests)
    return {
        "unit": f"requests per second, best of {rounds} rounds, {CONNECTIONS} connections",
        "store": store.partition(":")[0],
        "results": [_result(case) for case in cases],
        "memory": memory,
        "machine": measure.facts(pinned=True),
    }


def _cases(stack: ExitStack, folder: Path, scale: str, data: Path, store: str) -> Iterator[Case]:
    plans = folder / "plans.toml"
    plans.write_text(PLANS, encoding="utf-8")
    with open_accounts(store, plans) as accounts:
        fast = [accounts.create_key(f"fast {folder.name}", "fast")]
        many = [accounts.create_key(f"{number} {folder.name}", "hundred") for number in range(KEYS)]
    intervals = workload.read(data, 4)
    addresses = workload.addresses(intervals, "zipf", ADDRESSES, hit=True)
    one = write_script(folder, "one", addresses, fast)

    def started(server: str, what: Path) -> Running:
        return stack.enter_context(running(server, what, store, plans))

    ours = started("geolookup", data)
    yield Case(FAST, ours, one)
    yield Case(MANY, ours, write_script(folder, "many", addresses, many))
    yield Case(CONSTANT, started("constant", data), one)
    yield Case(BARE, started("bare", data), one)
    yield Case(PEER, started("peer", cache.mmdb(scale)), one)


def _memory(case: Case, seconds: float, requests: int) -> dict[str, int]:
    """Return the worker's own bytes now, and after so many requests more."""
    before, asked = case.server.memory(), 0
    while asked < requests:
        asked += case.server.load(case.script, seconds).requests
    return {"before": before, "after": case.server.memory(), "requests": asked}


def _result(case: Case) -> dict[str, Any]:
    best = max(case.rounds, key=lambda each: each.rate)
    return {
        "name": case.name,
        "rate": best.rate,
        "p99_ms": min(each.p99_ms for each in case.rounds),
        "processor_us": min(each.microseconds for each in case.rounds),
        "refused": sum(each.refused for each in case.rounds),
        "failed": sum(each.failed for each in case.rounds),
        "rounds": [each.rate for each in case.rounds],
    }


def lines(result: dict[str, Any]) -> str:
    """Return the table for a terminal."""
    whole = next(each["rate"] for each in result["results"] if each["name"] == CONSTANT)
    heads = ("one core", "requests/s", "of constant", "p99 ms", "CPU us", "refused", "failed")
    return reports.table(heads, [_row(each, whole) for each in result["results"]])


def _row(each: dict[str, Any], whole: float) -> Sequence[str]:
    return (
        each["name"],
        f"{each['rate']:,.0f}",
        f"{each['rate'] / whole:.2f}",
        f"{each['p99_ms']:.2f}",
        f"{each['processor_us']:.1f}",
        f"{each['refused']:,}",
        f"{each['failed']:,}",
    )


@click.command("http", help="Time the HTTP service with wrk, beside a peer.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="default", show_default=True)
@click.option("--seconds", type=click.FloatRange(1), default=5.0, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--requests", type=click.IntRange(1), default=1_000_000, show_default=True)
@click.option("--accounts", metavar="URL", help="Account store. [default: SQLite, of its own]")
@click.option(
    "--json", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write it here too."
)
def command(target: Path | None, **options: Any) -> None:
    """Measure and print."""
    try:
        result = measure_http(**options)
    except NoWrkError as error:
        raise click.ClickException(str(error)) from None
    print(lines(result))
    memory = result["memory"]
    print(
        f"worker memory {memory['before'] >> 10:,} kB, after {memory['requests']:,} requests more"
        f" {memory['after'] >> 10:,} kB"
    )
    print(f"{result['unit']}, accounts in {result['store']}")
    print(reports.machine_line(result["machine"]))
    if target is not None:
        reports.write(result, target)
