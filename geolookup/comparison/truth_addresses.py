"""Ground truth from a table of single addresses, as the table of a source: a row an address.

No error quotes a cell: the table may list addresses that were looked up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.comparison.joint_intervals import FAMILIES
from geolookup.contract.fields import OWN_PREFIX, Field
from geolookup.dataset.intervals import Addresses
from geolookup.errors import TableFileError
from geolookup.files.row_streams import ReadOptions
from geolookup.files.table_files import column_names, known_file, open_table
from geolookup.prefixes.aggregate import address_texts
from geolookup.tables.locate import parse_column

_ADDRESS = "network"
#: By column of a source, the names of columns, in lower case with underscores.
_ALIASES = {
    _ADDRESS: ("ip", "address", "ip_address", "ipaddress", "addr", "ip_addr"),
    "country_code": ("country_code", "country", "country_iso_code", "iso_country", "cc"),
    "region_code": ("region", "region_code", "subdivision", "subdivision_code", "state"),
    "region_name": ("region_name", "subdivision_name", "state_name"),
    "city_name": ("city_name", "city"),
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lon", "lng", "long"),
}
_REGION = r"^(?:[A-Z]{2}-)?[A-Z0-9]{1,3}$"
_NO_TEXT = pa.scalar(None, pa.string())


def is_table(path: str) -> bool:
    """Return whether a file is a table with a column of addresses, by its suffix and its header."""
    file = known_file(path)
    if file is None:
        return False
    try:
        names = column_names(file)
        return any(_plain(name) in _ALIASES[_ADDRESS] for name in names)
    except TableFileError:
        return False  # the reader of its source format explains the error


def read_addresses(path: str, own: Sequence[Field]) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the table of a source with own columns, and the columns that are not read.

    Rows without an address have null.

    Of equal addresses the order stays: the last row decides. Raises TableFileError for an unusable
    file.
    """
    file = known_file(path)
    if file is None:
        raise TableFileError(path, "its suffix is not a table's", "name it .csv or .parquet")
    names = column_names(file)
    columns = _columns(path, names, own)
    keys = tuple(columns.values())
    with open_table(file, ReadOptions(path, keys, "dropped")) as read:
        rows = pa.Table.from_batches(read.batches, read.schema).rename_columns(list(columns))
    try:
        addresses = parse_column(rows[_ADDRESS])
    except TypeError as error:
        raise TableFileError(path, str(error), "write the addresses as text") from error
    rows = rows.drop_columns(_ADDRESS)
    _check_texts(path, rows, columns)
    order = np.argsort(addresses.family, kind="stable")
    invalid = pa.nulls(np.count_nonzero(addresses.family == 0), pa.string())
    halves = Addresses(addresses.low, addresses.high)
    texts = [address_texts(family, halves[addresses.family == family]) for family in FAMILIES]
    values = _with_regions(path, rows).take(order)
    unread = tuple(name for name in names if name not in keys)
    return values.append_column(_ADDRESS, pa.concat_arrays([invalid, *texts])), unread


def _check_texts(path: str, rows: pa.Table, columns: Mapping[str, str]) -> None:
    """Raise TableFileError for a column that is not UTF-8: the reader of CSV passes any bytes."""
    for key in rows.column_names:
        try:
            rows[key].validate(full=True)
        except pa.ArrowInvalid:  # its text may quote a cell
            problem = f"column {columns[key]!r} is not UTF-8"
            raise TableFileError(path, problem, "convert the file to UTF-8") from None


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _columns(path: str, names: Sequence[str], own: Sequence[Field]) -> dict[str, str]:
    """Return the column of the file for each of ours that it has, in the order of the file."""
    # An own column by its path, or by its name in an enriched table.
    of_own = {field.path: (field.path, field.name) for field in own}
    ours = {alias: name for name, many in (_ALIASES | of_own).items() for alias in many}
    columns: dict[str, str] = {}
    for name in names:
        key = ours.get(_plain(name))
        if key is None and name.startswith(OWN_PREFIX):
            problem, remedy = f"no dataset has the column {name!r}", "rename or drop it"
            raise TableFileError(path, problem, remedy)
        if key in columns:
            noun = "address" if key == _ADDRESS else key.replace("_", " ")
            problem = f"two columns of the {noun}"
            raise TableFileError(path, problem, "drop one of them")
        if key is not None:
            columns[key] = name
    if _ADDRESS not in columns:
        raise TableFileError(path, "no column of addresses", "name it ip")
    if len(columns) == 1 or ("latitude" in columns) != ("longitude" in columns):
        problem = "no column of a country, a region, a city, or a latitude and a longitude"
        raise TableFileError(path, problem, "name them country, region, city, latitude, longitude")
    return columns


def _with_regions(path: str, rows: pa.Table) -> pa.Table:
    """Split regions into codes and names: one in the form of a code is one, such as CA or US-CA.

    A build nulls and counts a code of another country than the row's.
    """
    if "region_code" not in rows.column_names:
        return rows
    regions, names = (
        _texts(path, rows[name]) if name in rows.column_names else pa.nulls(len(rows), pa.string())
        for name in ("region_code", "region_name")
    )
    is_code = pc.match_substring_regex(regions, _REGION)
    rows = rows.select([name for name in rows.column_names if not name.startswith("region_")])
    rows = rows.append_column("region_code", pc.if_else(is_code, regions, _NO_TEXT))
    name = pc.if_else(is_code, _NO_TEXT, regions)
    return rows.append_column("region_name", pc.coalesce(names, name))


def _texts(path: str, column: pa.ChunkedArray) -> pa.Array:
    """Return a column as trimmed texts, empty as null; raises TableFileError for other types."""
    try:
        texts = pa.concat_arrays(column.cast(pa.string()).chunks or [pa.array([], pa.string())])
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # Arrow's text may quote a cell
        problem = "the column of the region or of its country holds no texts"
        raise TableFileError(path, problem, "write texts") from None
    texts = pc.utf8_trim_whitespace(texts)
    return pc.if_else(pc.equal(texts, ""), _NO_TEXT, texts)
