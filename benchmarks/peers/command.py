"""Geolookup beside other readers of the same ranges and city values: one run, in turn."""

from __future__ import annotations

import itertools
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import geolookup
from benchmarks.contenders import table as who
from benchmarks.contenders.answers import UnequalError
from benchmarks.contenders.opening import Files
from benchmarks.contenders.table import CONTENDERS, MANY, ONE, Contender
from benchmarks.data import cache
from benchmarks.data.shape import SCALES
from benchmarks.harness import measure, reports, turns, workload
from benchmarks.harness.processes import Result, run_children
from benchmarks.harness.start import BARE, Program, measure_starts
from benchmarks.harness.tables import Cell, Number, Ratio, Table, ratio_table
from benchmarks.harness.workload import UNIFORM, ZIPF
from benchmarks.peers import piped

#: Lists by their names: family, whether the dataset knows the addresses, distribution.
_LISTS = {
    f"{distribution} v{family} {'hit' if hit else 'miss'}": (family, hit, distribution)
    for hit, family, distribution in itertools.product((True, False), (4, 6), (ZIPF, UNIFORM))
    if hit or distribution == ZIPF
}
_POPULAR, _ANY = f"{ZIPF} v4 hit", f"{UNIFORM} v4 hit"
_ANY6 = f"{UNIFORM} v6 hit"
_SINGLE = tuple(contender.name for contender in CONTENDERS if contender.kind == ONE)
_TOGETHER = tuple(contender.name for contender in CONTENDERS if contender.kind == MANY)
_JSON_PEERS = (who.ZIG_JSON, who.RUST_JSON, who.C_ORJSON, who.C_JSON)
_FIRST = (who.JSON, who.DICT, *_JSON_PEERS, who.RUST_DICT, who.C_DICT)
_SMALL = (*_FIRST[:2], who.FIELD, *_FIRST[2:], who.RUST_FIELD, who.ZIG_DICT)
_FEW, _WARM = 10_000, 3
#: The first is our call, the second a peer, then the multiples wanted with zipf and uniform.
_GOALS: tuple[tuple[str, str, float | None, float | None], ...] = (
    (who.JSON, who.C_JSON, 25, 18),
    (who.JSON, who.C_ORJSON, 10, 7.5),
    (who.JSON, who.RUST_JSON, 6, 5),
    (who.JSON, who.ZIG_JSON, 2.6, 2.6),
    (who.DICT, who.C_DICT, 2.8, 2.3),
    (who.DICT, who.RUST_DICT, 1.7, 1.4),
    (who.FIELD, who.RUST_FIELD, 1.25, None),
)
#: Milliseconds over a bare interpreter, MB of private memory, ns of the module over the engine's.
_START_MS, _MEMORY_MB, _MODULE_NS = 20.0, 40.0, 60.0


@dataclass(frozen=True, slots=True)
class Run:
    """What a part is run with."""

    scale: str
    addresses: int
    rounds: int
    starts: int
    only: Sequence[str]
    folder: Path

    def contenders(self, names: Sequence[str]) -> list[Contender]:
        """Return the contenders of a part that take part in this run."""
        return turns.selected(names, self.only)

    def lists(self, files: Files, names: Sequence[str] = (_POPULAR, _ANY)) -> turns.Lists:
        """Write lists of addresses."""
        intervals = {family: workload.read(files.dataset, family) for family in (4, 6)}
        lists = {}
        for name in names:
            family, hit, distribution = _LISTS[name]
            texts = intervals[family].addresses(distribution, self.addresses, hit=hit)
            path = self.folder / f"{files.dataset.parent.name}-{name.replace(' ', '-')}"
            lists[name] = family, [workload.write_list(path, texts)]
        return lists


def single(run: Run) -> Result:
    """Time single calls with one thread, on IPv4 hits with two; and whole processes."""
    files = cache.files(run.scale)
    contenders, lists = run.contenders(_SINGLE), run.lists(files, list(_LISTS))
    rows, equal = turns.take_turns(contenders, files, lists, run.rounds)
    hits = {name: lists[name] for name in (_POPULAR, _ANY)}
    threads, more = turns.take_turns(contenders, files, hits, run.rounds, threads=2)
    address = lists[_POPULAR][1][0].read_text("ascii").partition("\n")[0]
    programs = {
        one.name: Program(one.start, (str(getattr(files, one.reads)), address), one.environment)
        for one in contenders
        if one.start and "refused" not in rows[one.name]
    }
    with geolookup.open(files.dataset) as engine:
        counts = dict(engine.metadata.counts)
    return {
        "rows": rows,
        "threads": threads,
        "starts": measure_starts(programs, run.starts),
        "sizes": {"dataset": _size(files.dataset), "mmdb": _size(files.mmdb)},
        "equal": equal + more,
        "counts": counts,
    }


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else [path]))


def single_lines(result: Result, run: Run) -> Iterator[reports.Part]:
    """Yield the tables of single calls."""
    rows = result["rows"]
    yield turns.times_table("ns per lookup, one thread", rows, list(_LISTS))
    yield from turns.refusals(rows)
    yield turns.times_table("ns per lookup, two threads", result["threads"], [_POPULAR, _ANY])
    yield _processes(result)
    yield turns.returns_table(rows)
    yield ratio_table("single calls", _single_ratios(result))
    counts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in result["counts"].items())
    yield f"median of {run.rounds} rounds of {run.addresses:,} addresses; {counts}"
    yield f"start: median of {run.starts}; memory: growth over opening and a first pass"
    yield f"{result['equal']} columns of up to {turns.COMPARED:,} answers compared, all equal"


def _processes(result: Result) -> Table:
    rows, body = result["rows"], []
    for name, start in result["starts"].items():
        memory = rows.get(name, {}).get("memory", {})
        size = None if name == BARE else result["sizes"][who.BY_NAME[name].reads]
        cells = (*(memory.get(key) for key in ("RssAnon", "RssFile")), size)
        body.append((name, Number(start, ".1f"), *map(_megabytes, cells)))
    return Table(("whole process", "start ms", "own MB", "mapped MB", "file MB"), body)


def _megabytes(size: int | None) -> Cell:
    return "-" if size is None else Number(size / 1e6, ",.1f")


def _single_ratios(result: Result) -> Iterator[Ratio]:
    rows, starts = result["rows"], result["starts"]
    for own, peer, *goals in _GOALS:
        for name, goal in zip((_POPULAR, _ANY), goals, strict=True):
            yield from turns.ratio(rows, peer, own, name, goal, least=True)
    for own, floor, goal in ((who.JSON, who.FLOOR_JSON, 2.0), (who.DICT, who.FLOOR_DICT, 1.3)):
        yield from turns.ratio(rows, own, floor, _ANY, goal)
    yield from turns.ratio(rows, who.THREE_FIELDS, who.FIELD, _ANY, 1.5)
    for own in (who.JSON, who.DICT):
        yield from turns.ratio(rows, own, own, (_ANY6, _ANY), 1.5)
    for name, goal in ((who.JSON, _START_MS), (who.C_JSON, None)):
        if name in starts:
            text, over = f"{name}: start to first answer, over bare", starts[name] - starts[BARE]
            yield Ratio(text, over, goal, unit=" ms")
    if memory := rows.get(who.DICT, {}).get("memory"):
        megabytes = memory["RssAnon"] / 1e6
        yield Ratio(f"{who.DICT}: own memory", megabytes, _MEMORY_MB, unit=" MB")
    both = [rows.get(name, {}).get("rounds", {}).get(_ANY) for name in (who.MODULE, who.FIELD)]
    if all(both):
        over = statistics.median(module - own for module, own in zip(*both, strict=True))
        yield Ratio(f"{who.MODULE}, over the engine's", over, _MODULE_NS, unit=" ns")


def first(run: Run) -> Result:
    """Time the first pass of new processes over distinct addresses, and the passes after it."""
    files = cache.files(run.scale)
    intervals = workload.read(files.dataset, 4)
    for path in (*files.dataset.iterdir(), files.mmdb):
        path.read_bytes()  # into the page cache
    results: Result = {}
    for count in dict.fromkeys((min(_FEW, run.addresses), run.addresses)):
        texts = intervals.addresses(UNIFORM, count, distinct=True)
        path = workload.write_list(run.folder / f"first-{count}", texts)
        rows: turns.Rows = {}
        for _, contender in itertools.product(range(run.rounds), run.contenders(_FIRST)):
            with run_children([turns.child(contender, files)]) as (process,):
                process.ask(do="load", path=str(path))
                passes = [process.ask(do="run") for _ in range(1 + _WARM)]
            row = rows.setdefault(contender.name, {"rounds": {}, **process.facts})
            if "refused" not in process.facts:
                times = [answer["ns"] for answer in passes]
                row["rounds"].setdefault("first pass", []).append(times[0])
                row["rounds"].setdefault("warm pass", []).append(statistics.median(times[1:]))
        results[f"{count:,}"] = rows
    return results


def first_lines(result: Result, run: Run) -> Iterator[reports.Part]:
    """Yield a table for each number of addresses, and the ratios."""
    ratios: list[Ratio] = []
    for number, (count, rows) in enumerate(result.items()):
        title = f"ns per lookup of a new process, {count} addresses"
        yield turns.times_table(title, rows, ("first pass", "warm pass"))
        is_few = number == 0
        parts = (
            turns.ratio(
                rows, who.JSON, who.JSON, ("first pass", "warm pass"), 2.0 if is_few else 1.5
            ),
            turns.ratio(rows, who.DICT, who.DICT, ("first pass", "warm pass"), 1.5),
            turns.ratio(rows, who.C_JSON, who.JSON, "first pass", 5.0, least=True),
            turns.ratio(
                rows, who.RUST_JSON, who.JSON, "first pass", 2.5 if is_few else 3, least=True
            ),
            turns.ratio(rows, who.ZIG_JSON, who.JSON, "first pass", None),
            turns.ratio(rows, who.C_DICT, who.DICT, "first pass", 2.0, least=True),
        )
        ratios += [
            Ratio(f"{one.text}, {count}", one.value, one.goal, one.least)
            for one in itertools.chain.from_iterable(parts)
        ]
    yield ratio_table("first passes", ratios)
    yield f"median of {run.rounds} rounds, each in a new process"


def many(run: Run) -> Result:
    """Time calls for many addresses, beside single calls; and the command on a pipe."""
    files = cache.files(run.scale)
    lists = run.lists(files)
    names = (who.JSON, who.DICT, who.FIELD, who.THREE_FIELDS, *_TOGETHER)
    rows, equal = turns.take_turns(run.contenders(names), files, lists, run.rounds)
    rates = {
        name: piped.rate(files.dataset, paths[0].read_text("ascii").split("\n"), run.rounds)
        for name, (_, paths) in lists.items()
    }
    return {"rows": rows, "rates": rates, "equal": equal}


def many_lines(result: Result, _run: Run) -> Iterator[reports.Part]:
    """Yield the tables of calls for many addresses."""
    rows, rates = result["rows"], result["rates"]
    yield turns.times_table("ns per address, 100 a call", rows, (_POPULAR, _ANY))
    yield from turns.refusals(rows)
    numbers = [Number(rate / 1e6, ".2f") for rate in rates.values()]
    yield Table(("million addresses a second", *rates), [["geolookup lookup, piped", *numbers]])
    ratios = (
        turns.ratio(rows, who.LINES, who.JSON, _ANY, 0.6),
        turns.ratio(rows, who.DICTS, who.DICT, _ANY, 0.75),
        turns.ratio(rows, who.THREE_EACH, who.THREE_FIELDS, _ANY),
        turns.ratio(rows, who.RUST_EACH, who.ONE_EACH, _ANY, 4.0, least=True),
        [Ratio("geolookup lookup, piped", rates[_ANY] / 1e6, 1.5, least=True, unit=" M/s")],
    )
    yield ratio_table("calls for many", itertools.chain.from_iterable(ratios))


def small(run: Run) -> Result:
    """Time single calls with records of a country only, the best case of an MMDB reader."""
    files = cache.country_files(run.scale)
    lists = run.lists(files)
    rows, equal = turns.take_turns(
        run.contenders(_SMALL), files, lists, run.rounds, fields=cache.SMALL
    )
    return {"rows": rows, "equal": equal}


def small_lines(result: Result, _run: Run) -> Iterator[reports.Part]:
    """Yield the table of small records."""
    rows = result["rows"]
    yield turns.times_table("ns per lookup, countries only", rows, (_POPULAR, _ANY))
    ratios = (
        *(
            turns.ratio(rows, peer, who.JSON, column)
            for peer in _JSON_PEERS
            for column in (_POPULAR, _ANY)
        ),
        *(turns.ratio(rows, who.RUST_DICT, who.DICT, column) for column in (_POPULAR, _ANY)),
    )
    yield ratio_table("countries only", itertools.chain.from_iterable(ratios))


_Lines = Callable[[Result, Run], Iterator[reports.Part]]
PARTS: dict[str, tuple[Callable[[Run], Result], _Lines]] = {
    "single": (single, single_lines),
    "first": (first, first_lines),
    "many": (many, many_lines),
    "small": (small, small_lines),
}
_HELP = """Time other libraries beside geolookup, on the same addresses.

\b
PARTS, by default all:
  single  one address a call; two threads; start and memory of a process; floors
  first   the first pass of a new process
  many    calls for many addresses, and the command on a pipe
  small   records of a country only
"""


@click.command("peers", help=_HELP)
@click.argument("parts", nargs=-1, type=click.Choice(list(PARTS)), metavar="[PARTS]...")
@click.option("--scale", type=click.Choice(list(SCALES)), default="city", show_default=True)
@click.option("--addresses", type=click.IntRange(2), default=100_000, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--starts", type=click.IntRange(1), default=41, show_default=True)
@click.option("--only", multiple=True, help="Contenders whose name contains this; may repeat.")
@reports.outputs
def command(parts: tuple[str, ...], outputs: reports.Outputs, **options: Any) -> None:
    """Make dataset and MMDB (once), time everything, print the tables."""
    result: Result = {"machine": measure.facts()}
    output: list[reports.Part] = []
    with tempfile.TemporaryDirectory() as folder:
        run = Run(**options, folder=Path(folder))
        try:
            for name in dict.fromkeys(parts or PARTS):
                part, lines = PARTS[name]
                result[name] = part(run)
                output += lines(result[name], run)
        except UnequalError as error:
            raise click.ClickException(str(error)) from None
    outputs.tell(output, result)
