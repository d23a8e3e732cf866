"""The HTTP service on one core: requests a second, beside servers that do less; and on two.

Strategy: one worker on one core, wrk on another, 64 connections to each worker. All are compared
with a constant: the least RSGI application on Granian, with uvloop. The servers take turns, several
rounds: a busy moment of the machine hits all of them. The best round counts, because others on the
machine can only take away.

Two workers run on two cores, and wrk on one of them. So their rate is compared for each core that
they had: the rate over two cores less the time that wrk ran. It falls if the workers wait for each
other.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports, workload
from benchmarks.harness.processes import Result
from benchmarks.harness.tables import Cell, Number, Ratio, Table, ratio_table
from benchmarks.harness.workload import ZIPF
from benchmarks.http import gate
from benchmarks.http.load import CONNECTIONS, NoWrkError, Round, Running, run_server, write_script
from geolookup.gate import open_accounts

ADDRESSES, KEYS = 20_000, 400
#: A plan that never refuses, and one whose keys together may ask 40,000 times a second.
PLANS = "[plan.fast]\nrate = 1000000\n[plan.hundred]\nrate = 100\n"
FAST, MANY = "geolookup, one fast plan", f"geolookup, {KEYS} keys at 100/s"
CONSTANT = "Granian's RSGI, constant answer"
PEER = "maxminddb + orjson on Granian's RSGI, no key"
FAST_TWO, MANY_TWO, CONSTANT_TWO = (f"{name}, two workers" for name in (FAST, MANY, CONSTANT))
#: The least share of the rate of the constant.
_SHARES = ((FAST, 0.8), (MANY, 0.68))
#: The least rate of two workers, in workers on a core of their own, and the greatest p99, in p99 of
#: the constant.
_TWO, _P99 = 1.8, 2.0


@dataclass(slots=True)
class Case:
    """A server, its requests, and the results of the rounds."""

    name: str
    server: Running
    script: Path
    rounds: list[Round] = field(default_factory=list)


def measure_service(
    scale: str, seconds: float, rounds: int, requests: int, accounts: str | None
) -> Result:
    """Return requests a second of every server, and our worker's memory over ``requests``."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = accounts or f"sqlite:///{folder / 'accounts.db'}"
        cases = list(_cases(stack, folder, scale, store))
        for case in cases:
            case.server.load(case.script, 1)  # warm
        for _ in range(rounds):
            for case in cases:
                case.rounds.append(case.server.load(case.script, seconds))
        memory = _memory(cases[0], seconds, requests)
    results = [_result(case) for case in cases]
    return {"results": results, "memory": memory, "store": store.partition(":")[0]}


def _cases(stack: ExitStack, folder: Path, scale: str, store: str) -> Iterator[Case]:
    plans = folder / "plans.toml"
    plans.write_text(PLANS, encoding="utf-8")
    with open_accounts(store, plans) as accounts:
        fast = [accounts.create_key(f"fast {folder.name}", "fast")]
        many = [accounts.create_key(f"{number} {folder.name}", "hundred") for number in range(KEYS)]
    files = cache.files(scale)
    data = files.dataset
    addresses = workload.read(data, 4).addresses(ZIPF, ADDRESSES).to_pylist()
    one = write_script(folder, "one", addresses, fast)
    all_keys = write_script(folder, "many", addresses, many)

    def start(server: str, served_data: Path, workers: int = 1) -> Running:
        return stack.enter_context(run_server(server, served_data, store, plans, workers))

    ours, two = start("geolookup", data), start("geolookup", data, 2)
    yield Case(FAST, ours, one)
    yield Case(MANY, ours, all_keys)
    yield Case(CONSTANT, start("constant", data), one)
    yield Case(PEER, start("peer", files.mmdb), one)
    yield Case(FAST_TWO, two, one)
    yield Case(MANY_TWO, two, all_keys)
    yield Case(CONSTANT_TWO, start("constant", data, 2), one)


def _memory(case: Case, seconds: float, requests: int) -> dict[str, int]:
    """Return the worker's own bytes now, and after so many requests more."""
    before, count = case.server.memory(), 0
    while count < requests:
        count += case.server.load(case.script, seconds).requests
    return {"before": before, "after": case.server.memory(), "requests": count}


def _result(case: Case) -> dict[str, Any]:
    best = max(case.rounds, key=lambda round_: round_.rate)
    return {
        "name": case.name,
        "workers": best.workers,
        "rate": best.rate,
        "per_core": max(round_.per_core for round_ in case.rounds),
        "p99_ms": min(round_.p99_ms for round_ in case.rounds),
        "processor_us": min(round_.microseconds for round_ in case.rounds),
        "refused": sum(round_.refused for round_ in case.rounds),
        "failed": sum(round_.failed for round_ in case.rounds),
        "rounds": [round_.rate for round_ in case.rounds],
    }


def lines(result: Result, scale: str, rounds: int) -> Iterator[reports.Part]:
    """Yield the servers, then the ratios."""
    by_name = {row["name"]: row for row in result["results"]}
    constant_rate = by_name[CONSTANT]["per_core"]
    heads = ("requests/s", "each core", "of constant", "p99 ms", "CPU us", "refused", "failed")
    body = [_row(row, constant_rate) for row in result["results"]]
    yield Table((f"scale {scale}", *heads), body)
    yield _memory_line(result["memory"])
    yield "each core: of one worker its core, of two workers both cores less the time of wrk"
    yield (
        f"best of {rounds} rounds, {CONNECTIONS} connections a worker, accounts in"
        f" {result['store']}"
    )
    yield ratio_table("service", _ratios(by_name))


def _memory_line(memory: Mapping[str, int]) -> str:
    return (
        f"worker memory {memory['before'] >> 10:,} kB, after {memory['requests']:,} requests more"
        f" {memory['after'] >> 10:,} kB"
    )


def _row(result: Mapping[str, Any], constant_rate: float) -> Sequence[Cell]:
    return (
        result["name"],
        Number(result["rate"]),
        Number(result["per_core"]),
        Number(result["per_core"] / constant_rate, ".2f"),
        Number(result["p99_ms"], ".2f"),
        Number(result["processor_us"], ".1f"),
        Number(result["refused"]),
        Number(result["failed"]),
    )


def _ratios(by_name: Mapping[str, Mapping[str, Any]]) -> Iterator[Ratio]:
    """Yield the measured ratios and times, with the values that were wanted."""

    def share(name: str, of: str) -> float:
        return float(by_name[name]["per_core"] / by_name[of]["per_core"])

    for name, goal in _SHARES:
        yield Ratio(f"{name} / {CONSTANT}", share(name, CONSTANT), goal, True, "")
    for name in (FAST, MANY):
        p99 = by_name[name]["p99_ms"] / by_name[CONSTANT]["p99_ms"]
        yield Ratio(f"{name}, p99 / {CONSTANT}", p99, _P99, unit="x")
    yield Ratio(f"{PEER} / {CONSTANT}", share(PEER, CONSTANT), unit="")
    for two, one in ((FAST_TWO, FAST), (MANY_TWO, MANY)):
        yield Ratio(f"{two} / one", 2 * share(two, one), _TWO, least=True, unit="x")
    # Two workers that share nothing: what the machine allows.
    yield Ratio(f"{CONSTANT_TWO} / one", 2 * share(CONSTANT_TWO, CONSTANT), None, unit="x")


_HELP = """Time the HTTP service with wrk, beside servers that do less, and its gate.

\b
PARTS, by default both:
  service  requests a second
  gate     a decision about key, rate and quota
"""


@click.command("http", help=_HELP)
@click.argument("parts", nargs=-1, type=click.Choice(["service", "gate"]), metavar="[PARTS]...")
@click.option("--scale", type=click.Choice(list(SCALES)), default="default", show_default=True)
@click.option("--seconds", type=click.FloatRange(1), default=2.0, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=4, show_default=True)
@click.option("--requests", type=click.IntRange(1), default=100_000, show_default=True)
@click.option("--decisions", type=click.IntRange(1), default=50_000, show_default=True)
@click.option("--accounts", metavar="URL", help="Account store. [default: SQLite, of its own]")
@reports.outputs
def command(
    parts: tuple[str, ...],
    scale: str,
    seconds: float,
    rounds: int,
    requests: int,
    decisions: int,
    accounts: str | None,
    outputs: reports.Outputs,
) -> None:
    """Measure and print."""
    result: Result = {"machine": measure.facts()}
    output: list[reports.Part] = []
    selection = parts or ("service", "gate")
    if "service" in selection:
        try:
            service = measure_service(scale, seconds, rounds, requests, accounts)
        except NoWrkError as error:
            raise click.ClickException(str(error)) from None
        result["service"] = service
        output += lines(service, scale, rounds)
    if "gate" in selection:
        result["gate"] = gate.measure_gate(accounts, rounds, fast=decisions)
        output += gate.lines(result["gate"])
    outputs.tell(output, result)
