"""The HTTP service on one core: requests a second, beside servers that do less; and on two.

Strategy: one worker on one core, wrk on another, 64 connections to each worker. All are compared
with a constant: the least RSGI application on Granian, with uvloop. The servers take turns, several
rounds: a busy moment of the machine hits all of them. The best round counts, because others on the
machine can only take away.

Two workers are compared with two workers of the constant, because wrk takes time from both cores.
Their share falls below that of one worker if they wait for each other.
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
from benchmarks.http.load import CONNECTIONS, Round, Running, run_server, write_script
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
#: The least share of two workers, in shares of one, and the greatest p99, in p99 of the constant.
_TWO, _P99 = 0.9, 2.0


@dataclass(slots=True)
class Case:
    """A server, its requests, and the results of the rounds."""

    name: str
    server: Running
    script: Path
    rounds: list[Round] = field(default_factory=list)


def measure_service(scale: str, seconds: float, rounds: int, accounts: str | None) -> Result:
    """Return requests a second of every server, and our worker's memory before and after."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = accounts or f"sqlite:///{folder / 'accounts.db'}"
        cases = list(_cases(stack, folder, scale, store))
        for case in cases:
            case.server.load(case.script, 1)  # warm
        before = cases[0].server.memory()
        for _ in range(rounds):
            for case in cases:
                case.rounds.append(case.server.load(case.script, seconds))
        after = cases[0].server.memory()
    requests = sum(round_.requests for case in cases[:2] for round_ in case.rounds)
    memory = {"before": before, "after": after, "requests": requests}
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


def _result(case: Case) -> dict[str, Any]:
    rounds = case.rounds
    return {
        "name": case.name,
        "rate": max(round_.rate for round_ in rounds),
        "p99_ms": min(round_.p99_ms for round_ in rounds),
        "processor_us": min(round_.microseconds for round_ in rounds),
        "refused": sum(round_.refused for round_ in rounds),
        "failed": sum(round_.failed for round_ in rounds),
        "rounds": [round_.rate for round_ in rounds],
    }


def lines(result: Result, scale: str, rounds: int) -> Iterator[reports.Part]:
    """Yield the servers, then the ratios."""
    by_name = {row["name"]: row for row in result["results"]}
    constant = by_name[CONSTANT]["rate"]
    heads = ("requests/s", "of constant", "p99 ms", "CPU us", "refused", "failed")
    body = [_row(row, constant) for row in result["results"]]
    yield Table((f"scale {scale}", *heads), body)
    memory = result["memory"]
    yield (
        f"worker memory {memory['before'] >> 10:,} kB, after {memory['requests']:,} requests more"
        f" {memory['after'] >> 10:,} kB"
    )
    yield (
        f"best of {rounds} rounds, {CONNECTIONS} connections a worker, accounts in"
        f" {result['store']}"
    )
    yield ratio_table("service", _ratios(by_name))


def _row(result: Mapping[str, Any], constant: float) -> Sequence[Cell]:
    return (
        result["name"],
        Number(result["rate"]),
        Number(result["rate"] / constant, ".2f"),
        Number(result["p99_ms"], ".2f"),
        Number(result["processor_us"], ".1f"),
        Number(result["refused"]),
        Number(result["failed"]),
    )


def _ratios(by_name: Mapping[str, Mapping[str, Any]]) -> Iterator[Ratio]:
    """Yield the measured ratios and times, with the values that were wanted."""

    def share(name: str, of: str = CONSTANT, figure: str = "rate") -> float:
        return float(by_name[name][figure] / by_name[of][figure])

    for name, goal in _SHARES:
        yield Ratio(f"{name} / {CONSTANT}", share(name), goal, True, "")
    for name in (FAST, MANY):
        yield Ratio(f"{name}, p99 / {CONSTANT}", share(name, figure="p99_ms"), _P99, unit="x")
        # Less than the share of the rate depends on what else the machine does.
        processor = 1 / share(name, figure="processor_us")
        yield Ratio(f"{CONSTANT} / {name}, CPU us", processor, unit="")
    yield Ratio(f"{PEER} / {CONSTANT}", share(PEER), unit="")
    for two, one in ((FAST_TWO, FAST), (MANY_TWO, MANY)):
        of_one = share(two, CONSTANT_TWO) / share(one)
        yield Ratio(f"share of {two} / of one", of_one, _TWO, least=True, unit="x")


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
@click.option("--decisions", type=click.IntRange(1), default=50_000, show_default=True)
@click.option("--accounts", metavar="URL", help="Account store. [default: SQLite, of its own]")
@reports.outputs
def command(
    parts: tuple[str, ...],
    scale: str,
    seconds: float,
    rounds: int,
    decisions: int,
    accounts: str | None,
    outputs: reports.Outputs,
) -> None:
    """Measure and print."""
    result: Result = {"machine": measure.facts()}
    output: list[reports.Part] = []
    selection = parts or ("service", "gate")
    if "service" in selection:
        result["service"] = measure_service(scale, seconds, rounds, accounts)
        output += lines(result["service"], scale, rounds)
    if "gate" in selection:
        result["gate"] = gate.measure_gate(accounts, rounds, fast=decisions)
        output += gate.lines(result["gate"])
    outputs.tell(output, result)
