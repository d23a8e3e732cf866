"""Dask: the addresses of a frame, enriched by its workers, partition by partition.

Strategy: ``map_partitions`` passes a partition to the pandas adapter, with an engine that a worker
process opens once (``workers``). The result is lazy, and no row is shuffled. All partitions have
the same dtypes: texts are Dask's strings, not the categories of each partition.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, cast

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
from dask.dataframe.dispatch import make_meta

from geolookup.engine import Engine
from geolookup.signing.trust import TrustedKeys
from geolookup.tables.workers import Job, open_dataset

if TYPE_CHECKING:
    from geolookup.contract.types import ColumnNames, EnrichOptions

_TEXT = pd.StringDtype("pyarrow")
_Texts = dict[str, pd.StringDtype]


def enrich(
    df: dd.DataFrame | dd.Series,
    *fields: ColumnNames,
    dataset: str | os.PathLike[str] | None = None,
    trusted_keys: TrustedKeys | None = None,
    **options: Unpack[EnrichOptions],
) -> Any:
    """Return ``df`` with columns of answers for the addresses in one of its columns.

    ``options`` are those of ``Engine.enrich``. Without ``at`` and ``time_column`` the instant is
    now, the same in all partitions. Texts become Dask's strings. ``dataset`` and ``trusted_keys``
    are as in ``geolookup.tables.spark.enrich``. Workers need geolookup. They answer from the
    generation of the client only. Raises what that function raises.
    """
    engine, opening = open_dataset(dataset, trusted_keys)
    with engine:
        return _plan(df, Job.of(engine, opening, fields, options), engine)


def enrich_lazy(engine: Engine, df: dd.DataFrame | dd.Series, *fields: Any, **options: Any) -> Any:
    """Return the plan of ``Engine.enrich``; workers open the same engine, at the same paths."""
    opening = cast("Any", engine.__reduce__())
    return _plan(df, Job.of(engine, opening, fields, options), engine)


def _plan(df: Any, job: Job, engine: Engine) -> Any:
    prefix = job.options.get("prefix", "")
    schema = engine.enrich(pa.nulls(0, pa.string()), job.paths, prefix=prefix).schema
    texts = {field.name: _TEXT for field in schema if _is_text(field.type)}
    empty_of = cast("Any", make_meta)  # Dask has no types of it
    meta = job.enrich(empty_of(df), engine).astype(texts)
    return df.map_partitions(partial(_enrich_partition, job, texts), meta=meta)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_dictionary(kind))


def _enrich_partition(job: Job, texts: _Texts, partition: pd.DataFrame | pd.Series) -> pd.DataFrame:
    return job.enrich(partition).astype(texts)
