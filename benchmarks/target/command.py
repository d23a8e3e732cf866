"""The 100 ms goal: how long one lookup takes, in process, as a fresh process, and over HTTP.

Strategy: in process every lookup is timed by itself, the first one included;
a fresh process is timed from nothing to its end. What counts is the median;
the tail is printed beside it.
"""

from __future__ import annotations

import http.client
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

import geolookup
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports, workload
from benchmarks.harness.tables import Cell, Number, Table
from benchmarks.peers import start
from benchmarks.peers.contenders import CONTENDERS
from benchmarks.peers.libraries import Files

GOAL_MS = 100.0
#: In this order in the table; the maximum goes by 100.
PERCENTILES = (50, 95, 99, 99.9, 100)
_FORMS = ("lookup", "lookup_json")
_PLANS = "[plan.fast]\nrate = 1000000\n"
OVER_HTTP = "over HTTP, with an API key"
NO_HTTP = f"{OVER_HTTP}: not measured; geolookup[http] is not installed"


def percentiles(times: Sequence[float]) -> dict[str, float]:
    """Return percentiles by nearest rank; small samples repeat the greatest."""
    values = sorted(times)
    last = len(values) - 1
    return {f"p{rank:g}": values[min(int(len(values) * rank / 100), last)] for rank in PERCENTILES}


def _time_lookups(lookup: Callable[[object], object], addresses: Sequence[str]) -> list[float]:
    clock, times = time.perf_counter_ns, []
    for address in addresses:
        began = clock()
        lookup(address)
        times.append((clock() - began) / 1e6)
    return times


def _addresses(dataset: Path, count: int) -> list[str]:
    """Return a list that is hits by Zipf's law and evenly, and misses, of both families."""
    addresses = []
    for family in (4, 6):
        intervals = workload.read(dataset, family)
        for hit in (True, False):
            for name in workload.DISTRIBUTIONS:
                addresses += workload.addresses(intervals, name, count, hit=hit)
    return addresses


def measure_target(dataset: Path, addresses: int, starts: int) -> dict[str, Any]:
    """Return the milliseconds of single lookups by percentile, in each way."""
    texts = _addresses(dataset, addresses)
    ways = {}
    with measure.one_core() as pinned:
        for form in _FORMS:
            with geolookup.open(dataset) as engine:
                times = _time_lookups(getattr(engine, form), texts)
            ways[f"in process, {form}"] = {**percentiles(times), "lookups": len(times)}
    programs = start.programs(CONTENDERS, Files(dataset, dataset), texts[0])
    own = next(contender for contender in CONTENDERS if contender.kernel == geolookup.Engine.kernel)
    own_programs = {name: programs[name] for name in (start.BARE, own.name)}
    start_times = start.measure_starts(own_programs, starts)
    fresh = start_times[own.name]["rounds"]
    ways["fresh process, lookup_json"] = {**percentiles(fresh), "lookups": len(fresh)}
    if _has_http():
        times = _times_over_http(dataset, texts)
        ways[OVER_HTTP] = {**percentiles(times), "lookups": len(times)}
    bare = start_times[start.BARE]["rounds"]
    return {
        "unit": "ms",
        "goal_ms": GOAL_MS,
        "kernel": geolookup.Engine.kernel,
        "ways": ways,
        "bare_interpreter": percentiles(bare),
        "machine": measure.facts(pinned=pinned),
    }


def _times_over_http(dataset: Path, addresses: Sequence[str]) -> list[float]:
    """Return the milliseconds of each lookup on one connection, the first request included."""
    from benchmarks.http.load import run_server
    from geolookup.gate import open_accounts

    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        plans, store = folder / "plans.toml", f"sqlite:///{folder / 'accounts.db'}"
        plans.write_text(_PLANS, encoding="utf-8")
        with open_accounts(store, plans) as accounts:
            headers = {"X-API-Key": accounts.create_key("target", "fast")}
        with run_server("geolookup", dataset, store, plans) as server:
            return _time_requests(server.port, headers, addresses)


def _time_requests(port: int, headers: dict[str, str], addresses: Sequence[str]) -> list[float]:
    from geolookup.http.application import PATH

    clock, times = time.perf_counter_ns, []
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as line:
        for address in addresses:
            began = clock()
            line.request("GET", f"{PATH}?ip={address}", headers=headers)
            answer = line.getresponse()
            answer.read()
            times.append((clock() - began) / 1e6)
            if answer.status != 200:
                raise AssertionError(f"status {answer.status}")
    return times


def _has_http() -> bool:
    return find_spec("granian") is not None


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the table for a terminal."""
    columns = [f"p{rank:g}" for rank in PERCENTILES]
    heads = ("ms per lookup", *columns[:-1], "max", "lookups", f"p50 in {GOAL_MS:g} ms")
    body: list[tuple[Cell, ...]] = [
        (
            name,
            *(Number(way[column], ",.4f") for column in columns),
            f"{way['lookups']:,}",
            "met" if _meets_goal(way) else "missed",
        )
        for name, way in result["ways"].items()
    ]
    bare = [Number(result["bare_interpreter"][column], ",.4f") for column in columns]
    body.append(("(bare interpreter, included)", *bare, "", ""))
    yield Table("target", heads, body, unit="ms", ours=tuple(result["ways"]))
    if OVER_HTTP not in result["ways"]:
        yield NO_HTTP


def _meets_goal(way: dict[str, Any]) -> bool:
    return bool(way["p50"] <= GOAL_MS)


@click.command("target", help="Check the goal: a lookup within 100 ms, by its median.")
@click.option("--scale", type=click.Choice(list(SCALES)), default="default", show_default=True)
@click.option("--addresses", type=click.IntRange(1), default=20_000, show_default=True)
@click.option("--starts", type=click.IntRange(1), default=200, show_default=True)
@reports.outputs()
@click.pass_context
def command(
    context: click.Context, scale: str, addresses: int, starts: int, outputs: reports.Outputs
) -> None:
    """Measure and print; exit 1 if a median misses the goal."""
    result = measure_target(cache.dataset(scale), addresses, starts)
    outputs.tell(lines(result), result)
    if not all(map(_meets_goal, result["ways"].values())):
        context.exit(1)
