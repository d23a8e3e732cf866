"""A process that prints the local time in a dataset by every way there is to ask for it.

``zone_probe.main(DATASET, ADDRESS, WAY...)`` prints a JSON object: the deciding database under
"database", and the time object of each way. A way of one kernel has its name after a blank.
"""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from typing import Any

import geolookup

AT = 1796083200  # 2026-12-01T00:00:00Z
_MODULES = {"python": "geolookup.kernel.python", "compiled": "geolookup.kernel._compiled"}


def _asked(module: Any, way: str, dataset: str, address: str) -> Any:
    """Ask a kernel: for a dict, for JSON, for a column at one instant, or at a column of them."""
    import pyarrow as pa

    from geolookup import tables
    from tests.internals.dataset import Dataset

    if way == "dict":
        return module.Kernel(Dataset(dataset)).lookup(address, at=AT)["data"]["time"]
    if way == "json":
        return json.loads(module.Kernel(Dataset(dataset)).lookup_json(address, at=AT))["data"][
            "time"
        ]
    data = pa.table({"ip": [address] * 3, "at": [AT, None, AT]})
    instants: Any = {"time_column": "at"} if way == "column" else {"at": AT}
    return _row(tables.enrich(module.State(Dataset(dataset)), data, "time", **instants))


def _looked_up(dataset: str, address: str) -> Any:
    with geolookup.open(dataset) as engine:
        return engine.get(address, "time", at=AT)


def _spawned(dataset: str, address: str) -> Any:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_looked_up, dataset, address).result()


def _row(table: Any) -> dict[str, Any]:
    (row, *_) = table.to_pylist()
    return {name[5:]: value for name, value in row.items() if name.startswith("time_")}


_OF_NO_KERNEL = {"spawned": _spawned}


def main(dataset: str, address: str, *ways: str) -> None:
    answers: dict[str, Any] = {}
    for way in ways:
        how, _, kernel = way.partition(" ")
        if kernel:
            answers[way] = _asked(import_module(_MODULES[kernel]), how, dataset, address)
        else:
            answers[way] = _OF_NO_KERNEL[how](dataset, address)
    print(json.dumps(answers))
