"""Spark: the addresses of a DataFrame, enriched by its executors.

Strategy: ``mapInArrow`` passes a partition to a Python worker as Arrow batches. The worker enriches
them as a stream by ``Engine.enrich``, with an engine that it opens once (``workers``). No row is
collected, shuffled or joined.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type

from geolookup.errors import ContractError
from geolookup.signing.trust import TrustedKeys
from geolookup.tables.workers import Job, open_dataset

if TYPE_CHECKING:
    from geolookup.contract.types import ColumnNames, EnrichOptions
    from geolookup.engine import Engine


def enrich(
    df: DataFrame,
    *fields: ColumnNames,
    dataset: str | os.PathLike[str] | None = None,
    trusted_keys: TrustedKeys | None = None,
    **options: Unpack[EnrichOptions],
) -> DataFrame:
    """Return ``df`` with columns of answers for the addresses in one of its columns.

    ``options`` are those of ``Engine.enrich``. Without ``at`` and ``time_column`` the instant is
    now, the same in all partitions. Texts become strings, ``network_asn`` a bigint.

    ``dataset`` is a folder, a store or an archive of ``pack`` that the driver and every executor
    see by that path; None: the default of each (see ``geolookup.open``). Each host unpacks an
    archive once, into its cache. ``as_of`` needs a store; the logs of the workers state the rows
    without a generation. ``trusted_keys`` are as in ``geolookup.open``. Executors need geolookup.
    They answer from the generations of the driver only.

    Raises the errors of ``Engine.enrich`` for wrong arguments before anything runs. A task fails
    with DatasetError if the dataset is missing or of another generation; with
    ``on_invalid="raise"`` it fails at the first address without an answer.
    """
    engine, opening = open_dataset(dataset, trusted_keys)
    with engine:
        job = Job.of(engine, opening, fields, options)
        schema = _schema(engine, df, job)
    return df.mapInArrow(lambda batches: enrich_partition(batches, job), schema)


# --- on the driver


def _schema(engine: Engine, df: DataFrame, job: Job) -> spark_types.StructType:
    """Return the schema of the result; raises errors of arguments before any row is read."""
    present = df.schema.fields
    empty = pa.schema([_arrow_field(field, job.options) for field in present]).empty_table()
    result = job.enrich(empty, engine).schema
    new = [
        spark_types.StructField(field.name, from_arrow_type(_plain_type(field.type)))
        for field in list(result)[len(present) :]
    ]
    return spark_types.StructType([*present, *new])


def _arrow_field(field: spark_types.StructField, options: Mapping[str, Any]) -> pa.Field:
    """Return a column that is read with the type that a worker receives, any other as nulls."""
    kind = field.dataType
    if field.name not in (options.get("column", "ip"), *map(options.get, ("time_column", "as_of"))):
        return pa.field(field.name, pa.null())
    is_instant = isinstance(kind, spark_types.TimestampType)
    return pa.field(field.name, pa.timestamp("us", "UTC") if is_instant else to_arrow_type(kind))


# --- in a worker


def enrich_partition(batches: Iterator[pa.RecordBatch], job: Job) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a partition with columns of answers."""
    first = next(batches, None)
    if first is None:
        return
    # The first batch is read for its schema, and chained before the others.
    stream = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
    reader = job.enrich(stream)
    plain = pa.schema([field.with_type(_plain_type(field.type)) for field in reader.schema])
    try:
        for batch in reader:
            yield batch.cast(plain)
    except (ContractError, ValueError) as error:
        context = TaskContext.get()
        error.add_note(f"of partition {context.partitionId() if context else None}")
        raise error.with_traceback(None) from None  # Spark would print all of it


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of Spark for an Arrow type: without dictionaries and unsigned integers."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    # Java has no unsigned integers.
    return pa.int64() if pa.types.is_uint32(kind) else kind
