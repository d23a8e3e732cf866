"""DuckDB: a table for each family, in address order.

For each row group of 122,880 rows DuckDB keeps the least and the greatest value of each column: a
query for an address reads one row group. IPv4 addresses are uinteger, IPv6 addresses
uhugeint; DuckDB compares both as numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from geolookup.contract.fields import TEXTS
from geolookup.dataset.files import Dataset
from geolookup.export.formats import Counts, Values
from geolookup.export.ranges import HALVES, FieldRanges
from geolookup.export.sqlite import add_origin_tables
from geolookup.progress import Progress

_NUMBERS = {4: "uinteger", 6: "uhugeint"}
_ENDS = {
    4: "first_low::uinteger, last_low::uinteger",
    # The halves are uint64; the cast comes first, or the shift would overflow.
    6: "first_high::uhugeint << 64 | first_low, last_high::uhugeint << 64 | last_low",
}
_TYPES = {
    "double": "double",
    "uint32": "uinteger",
    "int64": "bigint",
    "bool": "boolean",
    TEXTS: "varchar[]",
}
#: Rows of a transaction: DuckDB keeps them in memory until it is committed.
_COMMIT = 1 << 19
_LIMITS: dict[str, Any] = {"memory_limit": "256MB"}


def write(dataset: Dataset, target: Path, values: Values, progress: Progress) -> Counts:
    """Write a database; see ``formats.Write``."""
    ranges = FieldRanges(dataset, values, progress)
    with _write_errors(), closing(duckdb.connect(target, config=_LIMITS)) as database:
        database.execute("begin")
        for family in (4, 6):
            database.execute(_table(family, ranges.columns.schema))
        count = sum(_add_ranges(database, ranges, family) for family in ranges.families)
        add_origin_tables(database, dataset)
        database.execute("commit")
        database.execute("checkpoint")  # close does it too, but reports no error
    return {"ranges": count}


@contextmanager
def _write_errors() -> Iterator[None]:
    try:
        yield
    except (duckdb.OperationalError, duckdb.FatalException) as error:  # such as a full disk
        # The text also names the file, under its temporary name.
        raise OSError(str(error).rpartition(": ")[2]) from error


def _table(family: int, schema: pa.Schema) -> str:
    number = _NUMBERS[family]
    ends = [f"first {number} not null", f"last {number} not null"]
    fields = [f"{field.name} {_TYPES.get(str(field.type), 'varchar')}" for field in schema]
    return f"create table ipv{family} ({', '.join([*ends, *fields])})"


def _add_ranges(database: Any, ranges: FieldRanges, family: int) -> int:
    fields = "".join(f", {name}" for name in ranges.columns.schema.names)
    insert = f"insert into ipv{family} select {_ENDS[family]}{fields} from batch"  # noqa: S608
    count = 0
    for batch in ranges.batches(HALVES, family):
        database.register("batch", batch)
        database.execute(insert)
        count += len(batch)
        # True once for each 2^19 rows: batches are smaller.
        if count % _COMMIT < len(batch):
            database.execute("commit")
            database.execute("begin")
    return count
