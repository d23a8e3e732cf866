"""The dataset's row tables as Arrow arrays: what ``take`` reads from.

Strategy: the mapped files are read by Arrow as they lie, checked once, and
kept as long as the dataset is open. Texts that are not dictionaries in the
file, those of countries, become ones, for every country repeats.
"""

from __future__ import annotations

from functools import cached_property
from weakref import WeakKeyDictionary

import pyarrow as pa
import pyarrow.compute as pc

from geolookup import format as fmt
from geolookup.dataset import Dataset
from geolookup.errors import DatasetError

_REBUILD = "build it again with 'geolookup build'"
#: Where a member of these groups lies: the table, and the column's name in it.
_COUNTRY = {("location", member): member for member in fmt.COUNTRY_MEMBERS}
_COUNTRY |= {("currency", member): f"currency_{member}" for member in fmt.CURRENCY_MEMBERS}
_PLACE = {("location", member): member for member in fmt.PLACE_MEMBERS}
_NETWORK = {("network", member): member for member in fmt.NETWORK_MEMBERS}
_FILES = {"country": fmt.COUNTRY, "location": fmt.LOCATION, "network": fmt.NETWORK}
_opened: WeakKeyDictionary[Dataset, RowTables] = WeakKeyDictionary()


def row_tables(dataset: Dataset) -> RowTables:
    """Return the row tables of an open dataset, read when they are first asked for."""
    found = _opened.get(dataset)
    if found is None:
        found = _opened[dataset] = RowTables(dataset)
    return found


class RowTables:
    """Columns by the group and member of the contract that they hold."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        tables = {name: _read(dataset, file) for name, file in _FILES.items()}
        #: (table, array) by (group, member); an array has a value for each row of its table
        self.columns: dict[tuple[str, str], tuple[str, pa.Array]] = {}
        for table, members in (("country", _COUNTRY), ("location", _PLACE), ("network", _NETWORK)):
            for key, name in members.items():
                values = _column(tables[table], name, dataset, _FILES[table])
                is_text = pa.types.is_string(values.type)
                self.columns[key] = table, values.dictionary_encode() if is_text else values
        place = tables["location"]
        self.country_of = _index(place, "country", tables["country"].num_rows, dataset)
        self.zone_of = _index(place, "zone", len(self.zones), dataset)

    @cached_property
    def zones(self) -> list[str | None]:
        """The zones' names by row; the first is None."""
        return self._dataset.zones()


def _read(dataset: Dataset, file: str) -> pa.RecordBatch:
    try:
        table = pa.ipc.open_file(pa.py_buffer(dataset.mapped(file))).get_batch(0)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise DatasetError(f"{dataset.path}/{file}", "damaged", _REBUILD) from error
    return table


def _column(table: pa.RecordBatch, name: str, dataset: Dataset, file: str) -> pa.Array:
    if name not in table.schema.names or not table.num_rows:
        raise DatasetError(f"{dataset.path}/{file}", f"no column {name}", _REBUILD)
    return table.column(name)


def _index(table: pa.RecordBatch, name: str, rows: int, dataset: Dataset) -> pa.Array:
    """Return a column of row numbers of another table, compared with its length."""
    found = _column(table, name, dataset, fmt.LOCATION)
    if found.type != pa.uint16() or found.null_count or pc.max(found).as_py() >= rows:
        problem = f"column {name} leads outside its table"
        raise DatasetError(f"{dataset.path}/{fmt.LOCATION}", problem, _REBUILD)
    return found
