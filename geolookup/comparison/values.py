"""The values of two datasets' tables as numbers: equal numbers are equal values.

Strategy: Arrow reads each member that does not depend on the instant from both datasets and makes
one dictionary. Comparing values is then comparing integers: if "Wien" is number 3 of the common
dictionary, it is 3 in the columns of both sides. A value is kept by row of its own table: a
location refers to its country and zone by a link, a pair of columns like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.display import fold
from geolookup.contract.fields import COUNTRY, FIELDS, LOCATION, NETWORK, ZONE, in_table
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import with_items
from geolookup.dataset.files import Dataset
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import REBUILD, DatasetError

CODE = "location.country_code"
#: The fields that are names of places.
NAMES = ("location.region_name", "location.city_name")

#: The contract paths of the fields that a location row decides, and of the fields of a network.
LOCATION_FIELDS = tuple(field.path for field in FIELDS if field.layer == LOCATION)
NETWORK_FIELDS = tuple(field.path for field in in_table(NETWORK))
COMPARED = (*LOCATION_FIELDS, *NETWORK_FIELDS)

Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Pair:
    """The values of one member, or the rows of a link, by row in both datasets; -1 is null.

    ``values`` are the distinct values of a member by number; None for a link.
    """

    old: Codes
    new: Codes
    values: Any = None


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """A table that locations refer to: fields by its own rows, and its row by location row."""

    fields: Mapping[str, Pair]
    link: Pair


@dataclass(frozen=True)
class Values:
    """Fields by contract path, and coordinates in degrees (NaN is null) by location row."""

    location: Mapping[str, Pair]  # by location row, with the code of the country
    network: Mapping[str, Pair]  # by network row
    linked: tuple[LinkedTable, ...]  # country and zone
    old_coordinates: NDArray[np.float64]  # (2, rows): latitude, longitude
    new_coordinates: NDArray[np.float64]
    new_networks: pa.Table

    @cached_property
    def folded(self) -> Mapping[str, Pair]:
        """The pairs of ``NAMES``, with equal numbers for names that are equal folded."""
        return {path: _folded(self.location[path]) for path in NAMES}


def read_values(old: Dataset, new: Dataset) -> Values:
    """Read the tables of two datasets; raises DatasetError for a damaged one."""
    sides = [read_tables(dataset) for dataset in (old, new)]

    def of_table(table: str) -> dict[str, Pair]:
        return {
            field.path: in_common(*(side[table][field.column] for side in sides))
            for field in in_table(table)
        }

    def link(table: str) -> LinkedTable:
        links = [side[LOCATION][table].to_numpy().astype(np.int32) for side in sides]
        return LinkedTable(of_table(table), Pair(links[0], links[1]))

    country = link(COUNTRY)
    location = {CODE: _through(country, CODE), **of_table(LOCATION)}
    before, after = (coordinates(side[LOCATION]) for side in sides)
    return Values(
        location=location,
        network=of_table(NETWORK),
        linked=(country, link(ZONE)),
        old_coordinates=before,
        new_coordinates=after,
        new_networks=sides[1][NETWORK],
    )


def _through(linked: LinkedTable, path: str) -> Pair:
    """Return a field of a linked table by location row."""
    values, link = linked.fields[path], linked.link
    return Pair(values.old[link.old], values.new[link.new], values.values)


def read_tables(dataset: Dataset) -> dict[str, pa.Table]:
    """Read the tables of a dataset, checked; DatasetError for a damaged or replaced one."""
    tables = {
        COUNTRY: read_table(dataset, COUNTRY),
        ZONE: pa.table({ZONE: pa.array(dataset.zones(), pa.string())}),
        LOCATION: read_table(dataset, LOCATION, *fmt.LINKS),
        NETWORK: read_table(dataset, NETWORK),
    }
    for link in fmt.LINKS:
        rows = tables[LOCATION][link]
        if rows.null_count or (pc.max(rows).as_py() or 0) >= len(tables[link]):
            raise DatasetError(dataset.path, f"a {link} points outside its table", REBUILD)
    # Read again after the tables: another dataset may have replaced this one meanwhile.
    if read_manifest(dataset.path).generation != dataset.manifest.generation:
        problem = "replaced by another dataset since it was opened"
        raise DatasetError(dataset.path, problem, "compare it again")
    return tables


def read_table(dataset: Dataset, table: str, *links: str) -> pa.Table:
    """Read the fields of a table, and columns of links; DatasetError if it is damaged."""
    path = Path(dataset.path, fmt.TABLES[table])
    columns = [*(field.column for field in dataset.schema.in_table(table)), *links]
    try:
        with pa.memory_map(str(path)) as file:
            rows = pa.ipc.open_file(file).read_all().select(columns)
        rows.validate(full=True)
    except MemoryError:  # Arrow's is an ArrowException too
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise DatasetError(path, "damaged", REBUILD) from error
    return rows


def in_common(old: pa.ChunkedArray, new: pa.ChunkedArray) -> Pair:
    """Return the values of a column of both datasets, as codes of one dictionary."""
    # One dictionary for both columns, so their codes compare.
    both = pa.chunked_array([_encode(old), _encode(new)]).unify_dictionaries()
    codes = [chunk.indices.fill_null(-1).to_numpy() for chunk in both.chunks]
    return Pair(codes[0], codes[1], both.chunk(0).dictionary)


def _folded(names: Pair) -> Pair:
    """Return names in their folded form; a name that folds to nothing, such as "?", stays."""
    texts = [fold(name) or name for name in names.values.to_pylist()]
    folded = pa.array(texts, pa.string()).dictionary_encode()
    # The last item is the number of null: -1 takes it.
    numbers = np.append(folded.indices.to_numpy(), np.int32(-1))
    return Pair(numbers[names.old], numbers[names.new], folded.dictionary)


def _encode(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a column as one dictionary, of one width of indices; lists become texts."""
    values = column.combine_chunks()
    if pa.types.is_list(values.type):
        values = _list_texts(values)
    if not pa.types.is_dictionary(values.type):
        return values.dictionary_encode()
    return pa.DictionaryArray.from_arrays(values.indices.cast(pa.int32()), values.dictionary)


def _list_texts(lists: pa.Array) -> pa.Array:
    """Return texts that are equal where lists are: their items, escaped, in lines."""
    items = pc.replace_substring(lists.flatten(), "\\", "\\\\")
    items = pc.replace_substring(items, "\n", "\\n")
    return pc.binary_join(with_items(lists, items), "\n")


def coordinates(locations: pa.Table) -> NDArray[np.float64]:
    """Return latitude and longitude by row, shape (2, rows); NaN is null."""
    columns: list[Any] = [
        locations[name].combine_chunks().to_numpy(zero_copy_only=False)
        for name in ("latitude", "longitude")
    ]
    return np.array(columns, np.float64)
