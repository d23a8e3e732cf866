"""The dataset's row tables as Arrow arrays: what ``take`` reads from.

Strategy: the mapped files are read by Arrow as they lie, checked once, and
kept as long as the dataset is open. Texts that are not dictionaries in the
file, those of countries, become ones, for every country repeats.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset
from geolookup.errors import REBUILD, DatasetError
from geolookup.tables.row_major import Packed

#: Where a member of these groups lies: the table, and the column's name in it.
_COUNTRY = {("location", member): member for member in fmt.COUNTRY_MEMBERS}
_COUNTRY |= {("currency", member): f"currency_{member}" for member in fmt.CURRENCY_MEMBERS}
_PLACE = {("location", member): member for member in fmt.PLACE_MEMBERS}
_NETWORK = {("network", member): member for member in fmt.NETWORK_MEMBERS}
_FILES = {"country": fmt.COUNTRY, "location": fmt.LOCATION, "network": fmt.NETWORK}
_MEMBERS = {"country": _COUNTRY, "location": _PLACE, "network": _NETWORK}
#: Columns that lead to another table.
_LINKS = {"location": ("country", "zone")}
_TEXT = pa.dictionary(pa.int32(), pa.string())
#: The types of what is no text, as ``docs/format.md`` says.
_TYPES = {
    "country_languages": pa.list_(pa.string()),
    "country_neighbors": pa.list_(pa.string()),
    "country_area_km2": pa.float64(),
    "country_population": pa.int64(),
    "country_is_eu": pa.bool_(),
    "latitude": pa.float64(),
    "longitude": pa.float64(),
    "asn": pa.uint32(),
    "country": pa.uint16(),
    "zone": pa.uint16(),
}
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
        # Not the dataset itself: what is kept by it must not keep it.
        #: the zones' names by row; the first is None
        self.zones = dataset.zones()
        #: (table, array) by (group, member); an array has a value for each row of its table
        self.columns: dict[tuple[str, str], tuple[str, pa.Array]] = {}
        tables = {table: _Columns(dataset, table) for table in _FILES}
        for table, members in _MEMBERS.items():
            for key, name in members.items():
                self.columns[key] = table, tables[table].values(name)
        self._packed: dict[str, Packed] = {}
        place = tables["location"]
        self._links = {
            "country": place.rows_of("country", tables["country"].count),
            "zone": place.rows_of("zone", len(self.zones)),
        }

    def packed(self, table: str) -> Packed:
        """Return the location or network table row by row; made when it is first asked for."""
        if table not in self._packed:
            names = [*(member for _, member in _MEMBERS[table]), *_LINKS.get(table, ())]
            self._packed[table] = Packed({name: self.values(table, name) for name in names})
        return self._packed[table]

    def values(self, table: str, member: str) -> pa.Array:
        """Return a column of the location or network table, the links of a location besides."""
        return self._links[member] if member in self._links else self.columns[table, member][1]


class _Columns:
    """The columns of one file, checked."""

    def __init__(self, dataset: Dataset, table: str) -> None:
        self._path = f"{dataset.path}/{_FILES[table]}"
        names = [*_MEMBERS[table].values(), *_LINKS.get(table, ())]
        try:
            batch = pa.ipc.open_file(pa.py_buffer(dataset.mapped(_FILES[table]))).get_batch(0)
            batch = batch.select(names)
            batch.validate(full=True)
        # IndexError: no batch; ValueError: a name that is no UTF-8.
        except (pa.ArrowException, OSError, ValueError, KeyError, IndexError) as error:
            raise DatasetError(self._path, "damaged", REBUILD) from error
        self._batch = batch
        self.count: int = batch.num_rows

    def values(self, name: str) -> pa.Array:
        """Return a column of its type, texts as a dictionary."""
        column = self._batch.column(name)
        if column.type == pa.string():
            column = column.dictionary_encode()
        elif pa.types.is_dictionary(column.type):
            # One width, whatever the dataset: what is made of it has one type.
            indices = column.indices.cast(pa.int32())
            column = pa.DictionaryArray.from_arrays(indices, column.dictionary)
        if column.type != _TYPES.get(name, _TEXT) or not self.count:
            raise DatasetError(self._path, f"column {name} is not of its type", REBUILD)
        return column

    def rows_of(self, name: str, count: int) -> pa.Array:
        """Return a column of row numbers of another table, compared with its length."""
        column = self.values(name)
        if column.null_count or pc.max(column).as_py() >= count:
            raise DatasetError(self._path, f"column {name} leads outside its table", REBUILD)
        return column
