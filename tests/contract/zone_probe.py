"""A process that prints the local time in a dataset by every way there is to ask for it.

``python -m tests.contract.zone_probe DATASET ADDRESS [WAY...]`` prints a JSON object: the
deciding database under "database", and the time object of each way.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import geolookup

AT = 1796083200  # 2026-12-01T00:00:00Z


def looked_up(engine: geolookup.Engine, address: str) -> Any:
    return engine.lookup(address, at=AT)["data"]["time"]


def as_json(engine: geolookup.Engine, address: str) -> Any:
    return json.loads(engine.lookup_json(address, at=AT))["data"]["time"]


def at_one_instant(engine: geolookup.Engine, address: str) -> Any:
    import pyarrow as pa

    return _row(engine.enrich(pa.table({"ip": [address]}), fields="time", at=AT))


def at_a_column(engine: geolookup.Engine, address: str) -> Any:
    import pyarrow as pa

    data = pa.table({"ip": [address] * 3, "at": [AT, None, AT]})
    return _row(engine.enrich(data, fields="time", at="at"))


def spawned(engine: geolookup.Engine, address: str) -> Any:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(looked_up, engine, address).result()


def spark(engine: geolookup.Engine, address: str) -> Any:
    from pyspark.sql import SparkSession

    from geolookup.tables import spark as adapter

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    try:
        frame = session.createDataFrame([(address,)], "ip string")
        found = adapter.enrich(frame, "ip", ["time"], dataset=engine.path, at=AT)
        return _row(found.toArrow())
    finally:
        session.stop()


def _row(table: Any) -> dict[str, Any]:
    (row, *_) = table.to_pylist()
    return {name[5:]: value for name, value in row.items() if name.startswith("time_")}


_WAYS = (looked_up, as_json, at_one_instant, at_a_column, spawned, spark)
WAYS: dict[str, Callable[[geolookup.Engine, str], Any]] = {each.__name__: each for each in _WAYS}


def main(dataset: str, address: str, *ways: str) -> None:
    with geolookup.open(dataset) as engine:
        found = {name: WAYS[name](engine, address) for name in ways}
        print(json.dumps({"database": str(engine.metadata.time_zones), **found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
