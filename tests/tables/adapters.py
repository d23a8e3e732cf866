"""One contract of all adapters: what they are asked, what comes back, and how each is asked.

A case has rows, fields and options; single lookups say what must come out. A way makes a frame of
the rows, asks for the fields, and returns the new columns by name, in the order of the rows.
"""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import geolookup
from tests import own
from tests.cli.program import run
from tests.datasets import SMALL, once
from tests.history import pool
from tests.internals.kernel import state_of
from tests.near_addresses import near_addresses
from tests.skips import optional
from tests.tables import columns
from tests.tiers import scaled

dask, duckdb = optional("dask.dataframe"), optional("duckdb")
pd, pl = optional("pandas"), optional("polars")

Rows = dict[str, list[Any]]
Way = Callable[[geolookup.Engine, "Case"], Rows]
PREFIX = "geo_"
#: Short names, a member, a path, a group and the code of errors, and their paths.
NAMES = ("country", "city_name", "location.latitude", "zone", "currency", "asn", "error_code")
PATHS = (
    *("location.country_code", "location.city_name", "location.latitude", "time.zone"),
    *("currency.code", "currency.name", "currency.symbol", "network.asn", "error_code"),
)
KNOWN = ("8.8.8.8", "8.8.8.9", None, "10.1.2.3", "x", "192.0.2.1", "::ffff:10.0.0.1", "fd00::1")
DIRTY = ("8.8.8.8:53", " [2001:4860:4860::8888]:443", "10.1.2.3, 8.8.8.9", "[10.1.2.3]:80", "no")
CLEAN = ("8.8.8.8", "2001:4860:4860::8888", "8.8.8.9", "10.1.2.3", "no")
#: The first generation of the store, and the second: a second before each, and at its begin.
BEGINS = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC))
SEEN = (1_767_225_599, 1_767_225_600, 1_769_903_999, 1_769_904_000, None, 1_790_000_000)


@dataclass(frozen=True)
class Case:
    """Rows, and what is asked of them; ``paths`` are the fields that must come out."""

    fields: tuple[Any, ...]
    paths: tuple[str, ...]
    ips: tuple[str | None, ...] = KNOWN
    options: dict[str, Any] = field(default_factory=lambda: {"at": columns.AT})
    seen: tuple[int | None, ...] | None = None
    asked: tuple[str | None, ...] | None = None  # what single lookups are asked, if not ``ips``

    def table(self) -> pa.Table:
        """Return the rows, with their numbers."""
        rows = {"row": range(len(self.ips)), "ip": pa.array(self.ips, pa.string())}
        if self.seen is not None:
            seconds = pa.array(self.seen, pa.int64())
            rows["seen"] = seconds.cast(pa.timestamp("s")).cast(pa.timestamp("us", "UTC"))
        return pa.table(rows)


def own_dataset() -> Path:
    """The dataset that all cases but the past are asked of."""
    return once("tables-own", lambda folder: own.add_own(SMALL, folder))


def past_store() -> Path:
    """A store of two generations, each in force from one of ``BEGINS``."""
    return once("tables-past", _publish)


def _publish(folder: Path) -> None:
    for number, begin in zip((1, 3), BEGINS, strict=True):
        geolookup.publish(pool.dataset(number), folder, since=begin)


@cache
def _near() -> tuple[str, ...]:
    with geolookup.open(own_dataset()) as engine:
        texts = near_addresses(random.Random(3), state_of(engine).dataset)
        return tuple(
            next(texts).encode("utf-8", "replace").decode() for _ in range(scaled(200, 1000))
        )


def cases() -> dict[str, Callable[[], Case]]:
    """Return each case by name; the first asks for every field of every kind of address."""
    now = {"at": columns.AT}
    past = {"as_of": "seen", "at": columns.AT}
    return {
        "every field": lambda: Case(
            ([*columns.EVERYTHING],), columns.EVERYTHING, (*KNOWN, *_near()), now
        ),
        "several names": lambda: Case(NAMES, PATHS),
        "a list of names": lambda: Case(([*NAMES],), PATHS),
        "own columns": lambda: Case((*columns.OWN, *NAMES), (*columns.OWN, *PATHS)),
        "clean": lambda: Case(
            ("asn", "country", "own.site_id"),
            ("network.asn", "location.country_code", "own.site_id"),
            DIRTY, now | {"clean": True}, asked=CLEAN,
        ),
        "instants of rows": lambda: Case(
            ("time", "asn"), (*(p for p in columns.EVERYTHING if p[:5] == "time."), "network.asn"),
            ("8.8.8.8", "x", "1.1.1.1", "8.8.8.8", "1.1.1.1", "8.8.8.9"),
            {"time_column": "seen"}, seen=SEEN,
        ),
        "as of": lambda: Case(
            ("city", "own.site", "own.tags", "time.current_timestamp"),
            ("location.city_name", "own.site", "own.tags", "time.current_timestamp"),
            # No generation has a row before 8.8.8.0: the interval of 1.1.1.1 has the id 0.
            ("8.8.8.3", "8.8.8.3", "1.1.1.1", "8.8.8.3", "8.8.8.3", "1.1.1.1"), past, seen=SEEN,
        ),
    }  # fmt: skip


def expected(engine: geolookup.Engine, case: Case) -> Rows:
    """Return the columns by name, from single lookups."""
    asked = list(case.asked or case.ips)
    if "as_of" in case.options:
        rows = [
            _then(ip, seen, case.paths) for ip, seen in zip(asked, case.seen or (), strict=True)
        ]
        return {_name(path): [row[at] for row in rows] for at, path in enumerate(case.paths)}
    instants = list(case.seen) if case.seen else columns.AT
    known = columns.expected(engine, asked, instants)
    return {_name(path): known[_name(path)] for path in case.paths}


def _name(path: str) -> str:
    return path.replace(".", "_")


def _then(ip: object, seen: int | None, paths: Sequence[str]) -> Sequence[Any]:
    begun = [begin for begin in BEGINS if seen is not None and begin.timestamp() <= seen]
    if not begun:
        return [None] * len(paths)
    with geolookup.open(pool.dataset((1, 3)[len(begun) - 1])) as engine:
        values: Sequence[Any] = engine.get(ip, list(paths), at=columns.AT)
        return values


# --- ways: frames that ``Engine.enrich`` takes


def _of_arrow(table: Any) -> Rows:
    whole = table.read_all() if isinstance(table, pa.RecordBatchReader) else pa.table(table)
    whole.validate(full=True)
    result: Rows = whole.to_pydict()
    return result


def _batch(table: pa.Table) -> pa.RecordBatch:
    return table.combine_chunks().to_batches()[0]


def _polars(table: pa.Table) -> Any:
    return pl.from_arrow(table)


def _lazy(table: pa.Table) -> Any:
    return pl.from_arrow(table).lazy()


def of_pandas(frame: Any) -> Rows:
    """Return the columns of a frame as Python objects; a missing value is None."""
    return {name: [_plain(value) for value in frame[name]] for name in frame.columns}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if value is None or value is pd.NA or value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value


def _of_polars(frame: Any) -> Rows:
    result: Rows = frame.to_dict(as_series=False)
    return result


def _dask_frame(table: pa.Table) -> Any:
    frame = table.to_pandas()
    frame["ip"] = pd.array(table["ip"].to_pylist(), "str")
    return dask.from_pandas(frame, npartitions=3)


def _of_dask(plan: Any) -> Rows:
    frame = plan.compute(scheduler="sync")
    assert dict(frame.dtypes) == dict(plan.dtypes)
    return of_pandas(frame.sort_values("row"))


def _frames(make: Callable[[pa.Table], Any], rows: Callable[[Any], Rows]) -> Way:
    def way(engine: geolookup.Engine, case: Case) -> Rows:
        made = rows(engine.enrich(make(case.table()), *case.fields, prefix=PREFIX, **case.options))
        return {name.removeprefix(PREFIX): made[name] for name in made if name[:4] == PREFIX}

    return way


def _relation(engine: geolookup.Engine, case: Case) -> Rows:
    with duckdb.connect() as connection:
        way = _frames(connection.from_arrow, _of_arrow)
        return way(engine, case)


# --- ways of their own


def _series(engine: geolookup.Engine, case: Case) -> Rows:
    optional("geolookup.tables.pandas")  # registers Series.geo
    return of_pandas(pd.Series(case.ips).geo.lookup(*case.fields, engine=engine, **case.options))


def _expression(engine: geolookup.Engine, case: Case) -> Rows:
    optional("geolookup.tables.polars")  # registers Expr.geo
    options = dict(case.options)
    if options.pop("time_column", None):
        options["at"] = pl.col("seen")
    answers = pl.col("ip").geo.lookup(*case.fields, engine=engine, **options)
    plan = pl.from_arrow(case.table()).lazy().select(answers).unnest("geo")
    result = plan.collect()
    assert plan.collect_schema() == result.schema
    return _of_polars(result)


def _command(engine: geolookup.Engine, case: Case) -> Rows:
    names = case.fields[0] if isinstance(case.fields[0], list) else case.fields
    options = [part for name in names for part in ("--fields", name)]
    options = ["--fields", ",".join(names)] if isinstance(case.fields[0], list) else options
    options += ["--clean"] if case.options.get("clean") else []
    options += ["--local-time-at", str(columns.AT)] if "at" in case.options else []
    options += ["--local-time-at", "seen"] if "time_column" in case.options else []
    options += ["--as-of", "seen"] if "as_of" in case.options else []
    path = str(past_store() if "as_of" in case.options else engine.path)
    rows = [{"ip": ip} for ip in case.ips]
    for row, seen in zip(rows, case.seen or (), strict=False):
        row["seen"] = None if seen is None else str(seen)
    with TemporaryDirectory() as folder:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (Path(folder) / "in.jsonl").write_text(text, encoding="utf-8")
        args = ("in.jsonl", "-o", "out.jsonl", "-d", path, "--prefix", PREFIX, *options)
        done = run("enrich", *args, folder=Path(folder))
        assert done.returncode == 0, done.stderr
        lines = (Path(folder) / "out.jsonl").read_text("utf-8").splitlines()
    made = [json.loads(line) for line in lines]
    new = [name for name in made[0] if name.startswith(PREFIX)]
    return {name.removeprefix(PREFIX): [row[name] for row in made] for name in new}


def _spark_worker(_engine: geolookup.Engine, case: Case) -> Rows:
    """What an executor does with a partition; ``test_spark`` has real ones."""
    spark, workers = optional("geolookup.tables.spark"), optional("geolookup.tables.workers")
    path = past_store() if "as_of" in case.options else own_dataset()
    engine, opening = workers.open_dataset(path)
    with engine:
        job = workers.Job.of(engine, opening, case.fields, {"prefix": PREFIX, **case.options})
    job = pickle.loads(pickle.dumps(job))  # noqa: S301 - our own
    batches = spark.enrich_partition(iter(case.table().to_batches(3)), job)
    made = _of_arrow(pa.Table.from_batches(list(batches)))
    return {name.removeprefix(PREFIX): made[name] for name in made if name[:4] == PREFIX}


#: Each way, the packages that it needs, and the cases that it has no words for.
WAYS: dict[str, tuple[Way, tuple[str, ...], tuple[str, ...]]] = {
    "Arrow table": (_frames(lambda table: table, _of_arrow), (), ()),
    "Arrow batch": (_frames(_batch, _of_arrow), (), ()),
    "Arrow reader": (_frames(lambda table: table.to_reader(3), _of_arrow), (), ()),
    "pandas": (_frames(pa.Table.to_pandas, of_pandas), ("pandas",), ()),
    "Series.geo": (_series, ("pandas",), ("instants of rows", "as of")),
    "Polars": (_frames(_polars, _of_polars), ("polars",), ()),
    "lazy": (_frames(_lazy, lambda plan: _of_polars(plan.collect())), ("polars",), ()),
    "streaming": (
        _frames(_lazy, lambda plan: _of_polars(plan.collect(engine="streaming"))), ("polars",), ()
    ),
    "Expr.geo": (_expression, ("polars",), ("as of",)),
    "relation": (_relation, ("duckdb",), ()),
    "Dask": (_frames(_dask_frame, _of_dask), ("pandas", "dask.dataframe"), ()),
    "Spark": (_spark_worker, ("pyspark",), ()),
    "command": (_command, (), ()),
}  # fmt: skip
