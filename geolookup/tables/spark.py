"""Spark: the addresses of a DataFrame, enriched by its executors.

Strategy: ``mapInArrow`` passes a partition to a Python worker as Arrow batches. The worker enriches
them as a stream by ``Engine.enrich``, with an engine that it opens once. The operating system
shares the mapped files between all processes of a host. No row is collected, shuffled or joined.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import SparkContext, SparkFiles, TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types

import geolookup
from geolookup.archives.members import SUFFIX
from geolookup.archives.pack import pack
from geolookup.archives.unpack import unpack
from geolookup.contract.localtime import instant
from geolookup.contract.types import ColumnNames, OnInvalid
from geolookup.engine import Engine
from geolookup.errors import ContractError, DatasetError
from geolookup.filesystem.locks import hold_lock
from geolookup.tables.take import of_table

#: The types of columns that a worker receives.
_ARROW: dict[type[spark_types.DataType], pa.DataType] = {
    spark_types.NullType: pa.null(),
    spark_types.StringType: pa.string(),
    spark_types.BinaryType: pa.binary(),
    spark_types.ByteType: pa.int8(),
    spark_types.ShortType: pa.int16(),
    spark_types.IntegerType: pa.int32(),
    spark_types.LongType: pa.int64(),
    spark_types.FloatType: pa.float32(),
    spark_types.DoubleType: pa.float64(),
    spark_types.BooleanType: pa.bool_(),
    spark_types.TimestampType: pa.timestamp("us", "UTC"),
    spark_types.TimestampNTZType: pa.timestamp("us"),
}
_SPARK = {kind: create() for create, kind in _ARROW.items()}
_SPARK[pa.list_(pa.string())] = spark_types.ArrayType(spark_types.StringType())


def enrich(
    df: DataFrame,
    *fields: ColumnNames,
    column: str = "ip",
    at: Any = None,
    time_column: str | None = None,
    prefix: str = "",
    on_invalid: OnInvalid = "null",
    clean: bool = False,
    dataset: str | os.PathLike[str] | None = None,
    ship: bool = False,
) -> DataFrame:
    """Return ``df`` with columns of answers for the addresses in one of its columns.

    The arguments up to ``clean`` are as in ``Engine.enrich``. Without ``at`` and ``time_column``
    the instant is now, the same in all partitions. Texts become strings, ``network_asn`` a bigint.

    ``dataset`` is a folder that the driver and every executor see by that path; None: the default
    of each (see ``geolookup.open``). With ``ship`` the driver packs its dataset and sends it by
    ``SparkContext.addFile``, once per session. Executors need geolookup. They answer from the
    generation of the driver only.

    Raises the errors of ``Engine.enrich`` for wrong arguments before anything runs. A task fails
    with DatasetError if the dataset is missing or of another generation; with
    ``on_invalid="raise"`` it fails at the first address without an answer.
    """
    path = None if dataset is None else str(Path(dataset).absolute())
    options: dict[str, Any] = {
        "column": column,
        # Now is the time of this call: Spark runs a plan later. ``Engine.enrich`` refuses a text.
        "at": at if isinstance(at, str) or time_column is not None else instant(at),
        "time_column": time_column,
        "prefix": prefix,
        "on_invalid": on_invalid,
        "clean": clean,
        "threads": 1,  # a task has one core
    }
    with geolookup.open(path) as engine:
        paths = [field.path for field in of_table(fields, schema=engine.snapshot().dataset.schema)]
        schema = _schema(engine, df, paths, options)
        generation = engine.metadata.generation
        archive = _ship(df.sparkSession.sparkContext, engine) if ship else None
    return df.mapInArrow(_task(path, archive, generation, paths, options), schema)


# --- on the driver


def _schema(
    engine: Engine, df: DataFrame, paths: list[str], options: dict[str, Any]
) -> spark_types.StructType:
    """Return the schema of the result; raises errors of arguments before any row is read."""
    present = df.schema.fields
    empty = pa.schema([_arrow_field(field, options) for field in present]).empty_table()
    result = engine.enrich(empty, paths, **options).schema
    new = [
        spark_types.StructField(field.name, _SPARK[_plain_type(field.type)])
        for field in list(result)[len(present) :]
    ]
    return spark_types.StructType([*present, *new])


def _arrow_field(field: spark_types.StructField, options: dict[str, Any]) -> pa.Field:
    """Return a column that is read with the type that a worker receives, any other as nulls."""
    if field.name not in (options["column"], options["time_column"]):
        return pa.field(field.name, pa.null())
    if type(field.dataType) not in _ARROW:
        kind = field.dataType.simpleString()
        raise TypeError(f"column {field.name!r} is of {kind}, not an address or time")
    return pa.field(field.name, _ARROW[type(field.dataType)])


def _task(
    path: str | None,
    archive: str | None,
    generation: str,
    paths: list[str],
    options: dict[str, Any],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    # Spark sends a nested function by value: it also runs on an executor without geolookup.
    def enrich_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            from geolookup.tables.spark import enrich_partition
        except ImportError as error:
            problem = f"{socket.gethostname()}: {sys.executable} has no module {error.name!r}"
            raise ImportError(f"{problem}; install geolookup for the executors") from None
        return enrich_partition(batches, path, archive, generation, paths, options)

    return enrich_batches


def _ship(context: SparkContext, engine: Engine) -> str:
    """Have the executors fetch the dataset as one file, and return the file's name."""
    name = f"geolookup-{engine.metadata.generation}{SUFFIX}"
    # ``listFiles`` returns URLs; they end with the name.
    if not any(sent.endswith(name) for sent in context.listFiles):
        # Spark removes this folder, also on executors, when the session stops.
        folder = Path(SparkFiles.getRootDirectory()) / "geolookup"
        folder.mkdir(exist_ok=True)
        pack(engine.path, folder / name, force=True)
        context.addFile(str(folder / name))
    return name


# --- in a worker


def enrich_partition(
    batches: Iterator[pa.RecordBatch],
    path: str | None,
    archive: str | None,
    generation: str,
    paths: list[str],
    options: dict[str, Any],
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a partition with columns of answers."""
    first = next(batches, None)
    if first is None:
        return
    engine = _engine(path, archive, generation)
    # The first batch is read for its schema, and chained before the others.
    stream = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
    reader = engine.enrich(stream, paths, **options)
    plain = pa.schema([field.with_type(_plain_type(field.type)) for field in reader.schema])
    try:
        for batch in reader:
            yield batch.cast(plain)
    except (ContractError, ValueError) as error:
        error.add_note(f"of partition {_partition()}")
        raise error.with_traceback(None) from None  # Spark would print all of it


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of Spark for an Arrow type: without dictionaries and unsigned integers."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    # Java has no unsigned integers.
    return pa.int64() if pa.types.is_uint32(kind) else kind


def _partition() -> int | None:
    context = TaskContext.get()
    return None if context is None else context.partitionId()


@lru_cache(maxsize=8)
def _engine(path: str | None, archive: str | None, generation: str) -> Engine:
    """Return the engine of this process; raises DatasetError if the driver has another dataset."""
    try:
        folder = path if archive is None else _unpack(Path(SparkFiles.get(archive)))
        engine = geolookup.open(folder)
    except DatasetError as error:
        raise _error(error.path, error.problem) from None
    actual = engine.metadata.generation
    if actual != generation:
        raise _error(engine.path, f"generation {actual} where the driver has {generation}")
    return engine


def _unpack(archive: Path) -> Path:
    """Return the dataset next to its archive: one process of an executor unpacks, others wait."""
    folder = archive.with_name(archive.name.removesuffix(SUFFIX))
    with hold_lock(archive):
        if not folder.is_dir():
            unpack(archive, folder)
    return folder


def _error(path: str | Path, problem: str) -> DatasetError:
    remedy = "put the driver's dataset at this path on every executor, or send it with ship=True"
    return DatasetError(f"{socket.gethostname()}:{path}", problem, remedy)
