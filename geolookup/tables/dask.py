"""Dask: the addresses of a frame, enriched by its workers, partition by partition.

Strategy: ``map_partitions`` passes a partition to the pandas adapter, with an engine that a worker
process opens once (``workers``). The result is lazy, and no row is shuffled. All partitions have
the same dtypes: texts are Dask's strings, not the categories of each partition.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import Any, cast

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
from dask.dataframe.dispatch import make_meta

from geolookup.contract.types import ColumnNames, OnInvalid
from geolookup.engine import Engine
from geolookup.signing.trust import TrustedKeys
from geolookup.tables.workers import Job, source_of

_TEXT = pd.StringDtype("pyarrow")


def enrich(
    df: dd.DataFrame | dd.Series,
    *fields: ColumnNames,
    column: str = "ip",
    at: Any = None,
    time_column: str | None = None,
    prefix: str = "",
    on_invalid: OnInvalid = "null",
    clean: bool = False,
    dataset: str | os.PathLike[str] | None = None,
    ship: bool = False,
    trusted_keys: TrustedKeys | None = None,
) -> Any:
    """Return ``df`` with columns of answers for the addresses in one of its columns.

    The arguments up to ``clean`` are as in ``Engine.enrich``. Without ``at`` and ``time_column``
    the instant is now, the same in all partitions. Texts become Dask's strings.

    ``dataset`` and ``trusted_keys`` are as in ``geolookup.tables.spark.enrich``. With ``ship`` the
    client of ``distributed`` sends its dataset to the workers as one file, once per cluster.
    Workers need geolookup. They answer from the generation of the client only.

    Raises the errors of ``Engine.enrich`` for wrong arguments before anything runs, and for an
    archive or a mirror those that ``geolookup.update`` raises; ValueError for ``ship`` without a
    cluster. A task fails with DatasetError if the dataset is missing or of another generation; with
    ``on_invalid="raise"`` it fails at the first address without an answer.
    """
    frame, empty_of = cast("Any", df), cast("Any", make_meta)  # Dask has no types of these
    options = {"column": column, "at": at, "time_column": time_column, "prefix": prefix}
    options |= {"on_invalid": on_invalid, "clean": clean}
    source = source_of(dataset, trusted_keys)
    with source.open(None) as engine:
        job = Job.of(source, engine, fields, **options)
        texts = _texts(job, engine, prefix)
        meta = job.enrich(empty_of(frame), engine).astype(texts)
        if ship:
            from geolookup.tables.dask_sending import send

            job = replace(job, source=send(engine, source))
    return frame.map_partitions(partial(_enrich_partition, job, texts), meta=meta)


def _texts(job: Job, engine: Engine, prefix: str) -> dict[str, pd.StringDtype]:
    """Return the type of each new column of texts."""
    schema = engine.enrich(pa.nulls(0, pa.string()), job.paths, prefix=prefix).schema
    types = pa.types
    return {
        field.name: _TEXT
        for field in schema
        if types.is_string(field.type) or types.is_dictionary(field.type)
    }


def _enrich_partition(
    job: Job, texts: dict[str, pd.StringDtype], partition: pd.DataFrame | pd.Series
) -> pd.DataFrame:
    return job.enrich(partition).astype(texts)
