"""Dask: the addresses of a frame, enriched by its workers, partition by partition.

Strategy: ``map_partitions`` passes a partition to the pandas adapter, with an engine that a worker
process opens once (``workers``). The result is lazy, and no row is shuffled. All partitions have
the same dtypes: texts are Dask's strings, not the categories of each partition.
"""

from __future__ import annotations

import os
import pickle
from functools import partial
from typing import Any, cast

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
from dask.dataframe.dispatch import make_meta

from geolookup.contract.types import ColumnNames, OnInvalid
from geolookup.engine import Engine
from geolookup.signing.trust import TrustedKeys
from geolookup.tables.workers import Job, PickledEngine, source_of

_TEXT = pd.StringDtype("pyarrow")
_Texts = dict[str, pd.StringDtype]


def enrich(
    df: dd.DataFrame | dd.Series,
    *fields: ColumnNames,
    column: str = "ip",
    at: Any = None,
    time_column: str | None = None,
    as_of: str | None = None,
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
    cluster, or with ``as_of``. A task fails with DatasetError if the dataset is missing or of
    another generation; with ``on_invalid="raise"`` it fails at the first address without an answer.
    """
    options = {"column": column, "at": at, "time_column": time_column, "prefix": prefix}
    options |= {"as_of": as_of, "on_invalid": on_invalid, "clean": clean}
    source = source_of(dataset, trusted_keys)
    with source.open(None) as engine:
        job = Job.of(source, engine, fields, **options)
        meta, texts = _meta(df, job, engine)
        if ship:
            from geolookup.tables.dask_sending import send

            job = job.sent(send, engine)
    return _plan(df, job, meta, texts)


def enrich_lazy(engine: Engine, df: dd.DataFrame | dd.Series, *fields: Any, **options: Any) -> Any:
    """Return the plan of ``Engine.enrich``; workers open the same engine, at the same paths."""
    job = Job.of(PickledEngine(pickle.dumps(engine)), engine, fields, **options)
    return _plan(df, job, *_meta(df, job, engine))


def _meta(df: Any, job: Job, engine: Engine) -> tuple[pd.DataFrame, _Texts]:
    """Return an empty partition of the result, and the type of each new column of texts."""
    prefix = job.options["prefix"]
    schema = engine.enrich(pa.nulls(0, pa.string()), job.paths, prefix=prefix).schema
    texts = {field.name: _TEXT for field in schema if _is_text(field.type)}
    empty_of = cast("Any", make_meta)  # Dask has no types of it
    return job.enrich(empty_of(df), engine).astype(texts), texts


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_dictionary(kind))


def _plan(df: Any, job: Job, meta: pd.DataFrame, texts: _Texts) -> Any:
    return df.map_partitions(partial(_enrich_partition, job, texts), meta=meta)


def _enrich_partition(job: Job, texts: _Texts, partition: pd.DataFrame | pd.Series) -> pd.DataFrame:
    return job.enrich(partition).astype(texts)
