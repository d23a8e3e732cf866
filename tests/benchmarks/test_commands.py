"""Each command runs, prints its figures, and draws them; no time is asserted."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import COMMANDS, main
from benchmarks.delta import command as delta
from benchmarks.export import writers
from benchmarks.first import command as first
from benchmarks.gate import command as gate
from benchmarks.http import command as http
from benchmarks.http import load
from benchmarks.inline import command as inline
from benchmarks.inline import texts
from benchmarks.kept import worker as kept
from benchmarks.many import lengths, ways
from benchmarks.own import command as own
from benchmarks.own import lookups
from benchmarks.past import command as past
from benchmarks.prefixes import command as prefixes
from benchmarks.report import command as report
from benchmarks.tables import contenders
from tests.benchmarks.conftest import COMPILER, MACHINE, Measured, check_drawn
from tests.conftest import ROOT

_MMDB = ("mmdb_writer", "maxminddb", "netaddr")
_DRAWN = bool(find_spec("vl_convert"))


@dataclass(frozen=True)
class Case:
    """A quick run: its needs, and a check of its result that returns its printed rows.

    ``says`` are other words that it prints: the bounds that were wanted.
    """

    options: str
    check: Callable[[Any], Sequence[str]]
    needs: Sequence[str] = ()
    program: str = ""
    says: Sequence[str] = ()
    long: bool = True


def _build(part: str, *more: str) -> Callable[[Any], Sequence[str]]:
    def check(result: Any) -> Sequence[str]:
        assert result[part]["rows"] == 6000
        assert result[part]["dataset_bytes"] > 0
        assert (result[part]["peak_memory"] or 1 << 21) > 1 << 20
        return ("rows", "compile", "rows per second", "peak memory", "dataset", *more)

    return check


def _previous(result: Any) -> Sequence[str]:
    for family in ("IPv4", "IPv6"):
        differing = [result["previous"][name]["differing"][family] for name in ("with", "without")]
        assert differing[0] * 5 < differing[1]
    return ("compile: with / without",)


def _writer(result: Any) -> Sequence[str]:
    assert result["writer"]["ours"]["rows"] == result["writer"]["theirs"]["rows"] == 6000
    return ()


def _size(result: Any) -> Sequence[str]:
    size = result["size"]
    whole = sum(size["files"].values())
    assert whole < size["dataset"] < whole + 30_000  # and the manifest
    assert 0.9 * whole < sum(size["columns"].values()) + 4000 * len(size["files"]) < 1.3 * whole
    assert set(size["mmdb"]) == {"city", "asn"}
    assert size["packed"] < size["dataset"]
    return ()


def _cluster(result: Any) -> Sequence[str]:
    assert [run["workers"] for run in result["runs"]] == [1, 2, 2]
    assert all(run["facts"][0] == 2000 and run["peaks"] for run in result["runs"])
    return ("dask, 1 worker", "dask, 2 workers")


def _delta(result: Any) -> Sequence[str]:
    rows = result["rows"]
    assert [*rows][:3] == [delta.WITH, delta.WITHOUT, delta.WHOLE]
    assert 0 < rows[delta.WITH]["bytes"] < rows[delta.WHOLE]["bytes"]
    return [*rows]


def _export(result: Any) -> Sequence[str]:
    rows = result["rows"]
    assert set(rows) == {writers.OURS, writers.THEIRS}
    assert rows[writers.OURS]["bytes"] <= rows[writers.THEIRS]["bytes"]
    return [*rows, f"{result['compared']:,} records compared, all equal"]


def _first(result: Any) -> Sequence[str]:
    rows = result["results"]["60"]
    assert set(rows) == {first.C_DICT, first.C_JSON, first.C_ORJSON}
    for row in rows.values():
        assert "refused" in row or min(*row["first"], *row["warm"]) > 0
    return [name for name, row in rows.items() if "refused" not in row]


def _floor(_result: Any) -> Sequence[str]:
    rows = ("parse", "dependent reads", "dict from ready parts", "geolookup, JSON")
    of_columns = (
        "arrays, read for many rows at a time",
        "geolookup / floor of a row, IPv6, one field",
    )
    return (*rows, "geolookup, dict / floor of dict, uniform", *of_columns)


def _fleet(result: Any) -> Sequence[str]:
    for rollout in result["rollouts"]:
        assert len(rollout["seconds"]) == 2
        assert rollout["lacking"] == 0
    assert [rollout["killed"] for rollout in result["rollouts"]] == [1, 0, 0, 0]
    assert result["verified"] == 2
    assert "wrong" not in result["lookups"]["counts"]
    assert len(result["lookups"]["counts"]) == 4
    return [f"generation {rollout['name']}" for rollout in result["rollouts"]]


def _rounds(*names: str) -> Callable[[Any], Sequence[str]]:
    def check(result: Any) -> Sequence[str]:
        assert tuple(result["rows"]) == names
        for rounds in result["rows"].values():
            assert len(rounds) == 2
            assert min(rounds) > 0
        return names

    return check


def _http(result: Any) -> Sequence[str]:
    (scale,) = result["scales"].values()
    names = [row["name"] for row in scale["results"]]
    one = [http.FAST, http.MANY, http.CONSTANT, http.PEER]
    assert names == [*one, http.FAST_TWO, http.MANY_TWO, http.CONSTANT_TWO]
    for row in scale["results"]:
        assert row["rate"] > 0
        assert row["failed"] == 0
        assert row["name"] in (http.MANY, http.MANY_TWO) or row["refused"] == 0
    assert scale["memory"]["requests"] >= 10
    return [*names, f"{http.FAST_TWO} / one"]


def _inline(result: Any) -> Sequence[str]:
    assert [*result["results"]] == [*texts.TEXTS]
    return (inline.ANNOTATE, inline.GREP, inline.SCRIPT)


def _kept(result: Any) -> Sequence[str]:
    assert list(result["results"]) == list(kept.NAMES)
    assert all(row["ns"] > 0 for rows in result["results"].values() for row in rows)
    return kept.NAMES


def _many(result: Any) -> Sequence[str]:
    rows = result["results"]
    assert {ways.DICTS, ways.LINES, "lookup_many_json"} <= set(rows)
    assert "maxminddb (C) get" in rows
    assert (ways.RUST_MANY in rows) == bool(find_spec("maxminddb_rust"))
    assert set(result["rates"]) == {"zipf", "uniform"}
    assert {row["pattern"] for row in result["lengths"]} == set(lengths.PATTERNS)
    return [*rows]


def _opening(result: Any) -> Sequence[str]:
    assert list(result["datasets"]) == ["bundled", "small"]
    assert all(min(row.values()) > 0 for row in result["datasets"].values())
    assert result["datasets"]["bundled"]["bytes"] > 20 * result["datasets"]["small"]["bytes"]
    assert min(result["commands_ms"].values()) > 0
    return [*result["datasets"], "geolookup --help, a whole process"]


def _own(result: Any) -> Sequence[str]:
    without, with_own = result["intervals"]
    assert with_own == without + 1001  # private networks only: own values do not cut intervals
    assert result["sizes"]["packed"] < result["sizes"]["dataset"]
    for times in result["times"].values():
        assert all(len(rounds) == 1 and rounds[0] > 0 for rounds in times.values())
    assert result["processes"][own.SECOND][0]["call"] < result["processes"][own.FIRST][0]["call"]
    return [*result["processes"], *result["times"]["zipf"], f"{own.SLICE}: CPU time"]


def _past(result: Any) -> Sequence[str]:
    assert len(result["prunes"]) == 2  # of four generations the newest two stay unpacked
    assert min(result["sizes"].values()) > 0
    return [past.PRUNE, *result["steps"], *result["sizes"], f"{past.HISTORY}: wall time"]


def _prefixes(result: Any) -> Sequence[str]:
    assert 0 < result["prefixes"][prefixes.COUNTRY] < result["prefixes"][prefixes.EVERY_AS]
    assert [len(rounds) for rounds in result["rows"].values()] == [2, 2]
    return [*result["rows"]]


def _report(result: Any) -> Sequence[str]:
    names = (report.DATASET, report.AGAINST, report.map_of(500))
    assert tuple(result["rows"]) == names
    for row in result["rows"].values():
        assert row["bytes"] > 10_000
        assert row["cpu_seconds"] > 0
    return (*names, *(f"{name}: {bound}" for name in names for bound in ("CPU time", "page")))


def _single(result: Any) -> Sequence[str]:
    kinds = {row["kind"] for row in result["results"]}
    assert (len(kinds), len(result["results"])) == (8, 32)
    assert result["call_overhead"] > 0
    assert set(result["module"]) == {"quiet", "busy"}
    assert result["kernel"] in ("compiled", "python")
    return [*kinds]


def _tables(result: Any) -> Sequence[str]:
    (table,) = result["tables"]
    assert set(table["rows"]) == {contender.key for contender in contenders.CONTENDERS}
    for name, row in table["rows"].items():
        assert len(row["rounds"]) == 2 or not name.startswith(contenders.OWN)
        assert "refused" in row or min(row["rounds"]) > 0
    assert table["ways"]["parquet"]["rows"] == 400
    return [*table["rows"]]


_ROWS = "--rows 6000"
_TINY = "--scale tiny --rounds 1"
CASES = [
    Case(f"build csv {_ROWS}", _build("csv"), says=["wanted", "<= 4.5 s"]),
    Case(f"build city {_ROWS}", _build("city"), says=["wanted", "<= 0.55 GB"]),
    Case("build unchanged", lambda _: ("first update", "update, no file"), says=["<= 0.5 s"]),
    Case(f"build explained {_ROWS}", lambda _: ("compile, s: full / without",), says=["<= 2x"]),
    Case(f"build previous {_ROWS}", _previous, says=["<= 1.1x"]),
    Case(f"build over {_ROWS}", lambda _: ("peak memory",), says=["wanted"]),
    Case(f"build scaling {_ROWS}", lambda _: ("3,000", "6,000"), says=["time grows as rows ** "]),
    Case(
        f"build spilled {_ROWS}", lambda _: ("6,000, in memory", "6,000, 500MB"), says=["<= 1.5x"]
    ),
    Case("build small --rows 2000", lambda _: ("without syncs", "with syncs"), says=["2,000 rows"]),
    Case(f"build writer {_ROWS}", _writer, _MMDB),
    Case(f"build size {_ROWS}", _size, _MMDB),
    Case("cluster --scale tiny --rows 2000 --engine dask", _cluster, ("dask", "distributed")),
    Case("delta --rows 2000", _delta),
    Case(f"export {_TINY}", _export, _MMDB, says=[">= 20x"]),
    Case(f"first {_TINY} --addresses 60 --only (C)_get", _first, _MMDB),
    Case("fleet --quick", _fleet, ("cryptography",), "nginx"),
    Case(f"floor {_TINY} --addresses 50 --rows 200", _floor, program=COMPILER),
    Case(
        "gate --rounds 2 --keys 40 --decisions 200",
        _rounds(gate.FAST, gate.FAST_TOGETHER, gate.SLOW, gate.SLOW_TOGETHER, gate.REFUSED),
    ),
    Case(f"http {_TINY} --seconds 1 --requests 10", _http, (*_MMDB, "granian", "orjson"), "wrk"),
    Case(f"inline {_TINY} --megabytes 0.01", _inline, _MMDB),
    Case(f"kept {_TINY} --addresses 500", _kept),
    Case(f"many {_TINY} --addresses 50", _many, _MMDB),
    Case("opening --rounds 2 --starts 1", _opening, long=False),
    Case(
        f"own {_ROWS} --own-rows 6000 --addresses 50 --rounds 1",
        _own,
        says=["<= 1.5 s", "<= 400 MB", f"{lookups.OWN} / {lookups.LOOKUP}, zipf", "<= 1.3x"],
    ),
    Case(
        f"past {_ROWS} --weeks 4 --events 1000",
        _past,
        says=["<= 120 MB", "<= 2 s", "<= 1.5x"],
    ),
    Case("prefixes --scale tiny --rounds 2", _prefixes, says=["<= 0.3 s", "<= 2 s"]),
    Case(
        "report --scale tiny --addresses 500",
        _report,
        ("jinja2", "PIL", "vl_convert"),
        says=["<= 30 s", "<= 6 MB"],
    ),
    Case(f"single {_TINY} --addresses 50", _single, long=False),
    Case(
        "tables --scale tiny --rows 400 --rounds 2 --way memory --way parquet --way texts",
        _tables,
        _MMDB,
        says=["wanted", "enrich / pyarrow: log to CSV, one field, of the output"],
    ),
    Case(
        "verify --scale tiny --rounds 2",
        _rounds(
            "plain", "deep", "floor: read from the disk", "floor: read", "floor: read and SHA-256"
        ),
    ),
]


def _parameters() -> Iterator[Any]:
    for case in CASES:
        missing = [name for name in case.needs if not find_spec(name)]
        missing += [case.program] if case.program and not shutil.which(case.program) else []
        skip = pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")
        marks = [skip, pytest.mark.long] if case.long else [skip]
        yield pytest.param(case, marks=marks, id="-".join(case.options.split()[:2]))


@pytest.mark.parametrize("case", list(_parameters()))
def test_a_command_prints_and_draws_its_rows(
    case: Case, tmp_path: Path, measured: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.fleet.rollout._SPARE", 0)  # however little memory is free
    drawn = ("--plot", str(tmp_path / "plots")) if _DRAWN else ()
    options = [word.replace("_", " ") for word in case.options.split()]
    result, printed = measured(*options, *drawn)
    assert set(result["machine"]) == MACHINE
    for row in case.check(result):
        assert re.search(rf"^{re.escape(row)}(?: |$)", printed, re.MULTILINE), row
    assert all(words in printed for words in case.says)
    assert str(ROOT) not in printed + str(result)
    assert printed.splitlines()[-1].partition(" ")[0] in ("CPython", "PyPy")
    if _DRAWN:
        check_drawn(tmp_path / "plots", printed)


def test_every_command_that_measures_draws_and_is_run() -> None:
    ran = {case.options.split()[0] for case in CASES} | {"peers", "target"}  # test_peers.py
    assert ran == set(COMMANDS) - {"generate", "geolite"}
    for name in ran:
        options = {opt for parameter in COMMANDS[name].params for opt in parameter.opts}
        assert {"--json", "--plot", "--publish"} <= options


def test_without_wrk_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(*_: object, **_options: object) -> None:
        load.Running(MagicMock(), 1, 1).load(Path("script"), 1)

    monkeypatch.setattr("shutil.which", lambda _name: None)
    monkeypatch.setattr(http, "measure_http", measure)
    done = CliRunner().invoke(main, ["http", "--scale", "tiny"])
    assert (done.exit_code, done.output) == (
        1,
        "Error: wrk is not installed; install the package wrk\n",
    )
