"""Ground truth from a table of single addresses with their locations.

The addresses are kept in memory as long as the call runs, and nowhere else; no error quotes a cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.comparison.overlay import FAMILIES
from geolookup.comparison.scoring.own_columns import OwnTruth, own_column_values
from geolookup.comparison.scoring.places import (
    ADDRESSES,
    COORDINATES,
    NAMES,
    Partition,
    Truth,
    TruthFile,
    TruthRows,
    of_table,
)
from geolookup.contract.address import BITS
from geolookup.contract.fields import COUNTRY_ALIASES, DEGREES, Field
from geolookup.dataset.arrow_files import without_dictionary
from geolookup.dataset.intervals import I64, Addresses, Bools, MixedAddresses, concat
from geolookup.errors import TableFileError
from geolookup.files.row_streams import ReadOptions
from geolookup.files.table_files import TableFile, column_names, known_kind, open_table
from geolookup.kernel.columns import parse, replace_embedded
from geolookup.tables.locate import address_reader, column_of, locate_chunk

#: The names of columns, in lower case with underscores.
_ALIASES = {
    "address": ("ip", "address", "ip_address", "ipaddress", "addr", "ip_addr"),
    "country_code": ("country_code", "country", "country_iso_code", "iso_country", "cc"),
    "region": ("region", "region_code", "subdivision", "subdivision_code", "state"),
    "region_name": ("region_name", "subdivision_name", "state_name"),
    "city_name": ("city_name", "city"),
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lon", "lng", "long"),
}
_REGION = r"^(?:(?P<country>[A-Z]{2})-)?(?P<code>[A-Z0-9]{1,3})$"
_COUNTRY = r"^[A-Z]{2}$"
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"


def is_table(path: str) -> bool:
    """Tell whether a file is a table with a column of addresses, by its suffix and its header."""
    kind = known_kind(path)
    if kind is None:
        return False
    try:
        names = column_names(TableFile(path, kind), path)
        return any(_plain(name) in _ALIASES["address"] for name in names)
    except TableFileError:
        return False  # the reader of its source format explains the error


def read_addresses(path: str, own: Sequence[Field] = ()) -> tuple[Truth, OwnTruth | None]:
    """Read a table of addresses, with these own columns.

    A row states the location of one address; of several rows of an address the last decides.
    Raises TableFileError for what cannot be used.
    """
    kind = known_kind(path)
    if kind is None:
        raise TableFileError(path, "its suffix is not a table's", "name it .csv or .parquet")
    file = TableFile(path, kind)
    columns = _columns(path, file, own)
    with open_table(file, ReadOptions(path, tuple(columns.values()), "dropped")) as table:
        schema = table.rows.schema
        _check_addresses(path, schema.field(columns["address"]).type)
        rows = pa.Table.from_batches(table.rows.batches, schema)
    addresses = rows[columns.pop("address")]
    texts = {ours: _text(path, theirs, rows[theirs]) for ours, theirs in columns.items()}
    return _truth(path, addresses, texts, own)


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _columns(path: str, file: TableFile, own: Sequence[Field]) -> dict[str, str]:
    """Return the column of the file for each of ours that it has."""
    names = column_names(file, path)
    if not names:
        raise TableFileError(path, "has no columns", "give a table, such as CSV")
    columns: dict[str, str] = {}
    # An own column by its path, or by its name in an enriched table.
    of_own = {field.path: (field.path, field.name) for field in own}
    for ours, aliases in (_ALIASES | of_own).items():
        theirs = [name for name in names if _plain(name) in aliases]
        if len(theirs) > 1:
            problem = f"two columns of the {ours.replace('_', ' ')}"
            raise TableFileError(path, problem, "drop one of them")
        if theirs:
            columns[ours] = theirs[0]
    if "address" not in columns:
        remedy = f"name it {_ALIASES['address'][0]}"
        raise TableFileError(path, "no column of addresses", remedy)
    if len(columns) == 1 or ("latitude" in columns) != ("longitude" in columns):
        problem = "no column of a country, a region, a city, or a latitude and a longitude"
        raise TableFileError(path, problem, "name them country, region, city, latitude, longitude")
    return columns


def _check_addresses(path: str, kind: pa.DataType) -> None:
    try:
        address_reader(kind)
    except TypeError as error:
        raise TableFileError(path, str(error), "write the addresses as text") from error


def _truth(
    path: str, column: pa.ChunkedArray, texts: Mapping[str, pa.Array], own: Sequence[Field]
) -> tuple[Truth, OwnTruth | None]:
    addresses = _addresses(column)
    valid = np.flatnonzero(addresses.family)
    places, nulled = _places(len(column), texts)
    numbered = TruthRows(
        np.append(np.uint8(0), addresses.family),
        np.append(0, np.where(addresses.family == 4, BITS[4], BITS[6])).astype(np.int16),
        np.where(_states(places), np.arange(len(places)), 0),
    )
    partitions = {family: _partition(addresses, family) for family in FAMILIES}
    rejected = len(column) - len(valid)
    of_own = {
        field.path: own_column_values(field, texts[field.path])
        for field in own
        if field.path in texts
    }
    nulled += sum(invalid for _, invalid in of_own.values())
    truth = Truth(
        [TruthFile(path, ADDRESSES, len(column), rejected, nulled)],
        numbered,
        partitions,
        of_table(places),
    )
    values = {name: value for name, (value, _) in of_own.items()}
    return truth, OwnTruth(partitions, values) if values else None


def _states(places: pa.Table) -> Bools:
    """Mark the places that state anything."""
    marks: Bools = np.logical_or.reduce(
        [np.asarray(column.combine_chunks().is_valid()) for column in places.columns]
    )
    return marks


class _Parser:
    """Keeps the addresses of a column, where an engine would locate them."""

    def __init__(self) -> None:
        self.parsed: list[MixedAddresses] = []

    def locate_texts(self, data: Any, offsets: I64, _ids: Any, families: Any) -> None:
        parsed = parse(data, offsets[:-1], np.diff(offsets))
        families[:] = parsed.family
        self.parsed.append(parsed)

    def locate_numbers(self, families: Any, highs: Any, lows: Any, _ids: Any) -> None:
        self.parsed.append(MixedAddresses(families.copy(), highs, lows))


def _addresses(column: pa.ChunkedArray) -> MixedAddresses:
    """Return the addresses of a column; one that carries an IPv4 address is replaced by it."""
    parser = _Parser()
    chunks = (without_dictionary(chunk) for chunk in column_of(column).iterchunks() if len(chunk))
    families = [locate_chunk(parser, chunk).families for chunk in chunks]
    none = np.empty(0, np.uint64)
    return replace_embedded(
        MixedAddresses(
            np.concatenate([np.empty(0, np.uint8), *families]),
            np.concatenate([none, *(part.high for part in parser.parsed)]),
            np.concatenate([none, *(part.low for part in parser.parsed)]),
        )
    )


def _partition(addresses: MixedAddresses, family: int) -> Partition:
    """Return the partition at each address of a family and after it."""
    rows = np.flatnonzero(addresses.family == family)
    singles = Addresses(addresses.low[rows], addresses.high[rows])
    if family == 4:
        singles = Addresses(singles.low.astype(np.uint32))
    order = singles.order()
    singles, rows = singles[order], rows[order]
    # Of equal addresses the last row; the order is stable.
    last = np.append(~singles[1:].equals(singles[:-1]), True)[: len(rows)]
    singles, rows = singles[last], rows[last] + 1
    # 8.8.8.8 gives the starts 0.0.0.0, 8.8.8.8 and 8.8.8.9: the address is an interval of its own.
    starts = concat([Addresses.of(family, [0]), singles, singles[~singles.is_last()].successor()])
    starts = starts[starts.order()]
    starts = starts[np.append(True, ~starts[1:].equals(starts[:-1]))]
    if not len(singles):
        return Partition(starts, np.zeros(len(starts), np.int64))
    at = np.maximum(singles.search(starts) - 1, 0)
    # Only an interval that begins with a listed address is decided.
    return Partition(starts, np.where(singles[at].equals(starts), rows[at], 0))


def _places(rows: int, cells: Mapping[str, pa.Array]) -> tuple[pa.Table, int]:
    """Return the places of the rows after place 0, and the number of invalid values.

    A row with an invalid value states nothing.
    """
    texts = {name: cells.get(name, pa.nulls(rows, pa.string())) for name in _ALIASES}
    country = _iso_codes(pc.utf8_upper(texts["country_code"]))
    code, name = _regions(country, texts)
    coordinates = {name: _degrees(texts[name], DEGREES[name]) for name in COORDINATES}
    bad = [pc.invert(pc.match_substring_regex(country, _COUNTRY))]
    bad += [pc.and_(texts[name].is_valid(), coordinates[name].is_null()) for name in COORDINATES]
    masks = [np.asarray(mask.fill_null(False)) for mask in bad]
    silent = pa.array(np.logical_or.reduce(masks))
    values = [country, code, name, texts["city_name"], *coordinates.values()]
    columns = {
        key: pa.concat_arrays(
            [pa.nulls(1, column.type), pc.if_else(silent, pa.scalar(None, column.type), column)]
        )
        for key, column in zip((*NAMES, *COORDINATES), values, strict=True)
    }
    return pa.table(columns), int(sum(mask.sum() for mask in masks))


def _text(path: str, name: str, column: pa.ChunkedArray) -> pa.Array:
    """Return a column as trimmed text, empty as null; raises TableFileError for other types."""
    try:
        text = _values(column).cast(pa.string())
        text.validate(full=True)  # the reader of CSV passes any bytes
    except pa.ArrowNotImplementedError:
        problem = f"column {name!r} holds neither texts nor numbers"
        raise TableFileError(path, problem, "write texts") from None
    except pa.ArrowInvalid:  # Arrow's text may quote a cell
        problem = f"column {name!r} is not UTF-8"
        raise TableFileError(path, problem, "convert the file first") from None
    text = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def _values(column: pa.ChunkedArray) -> pa.Array:
    """Return the values of a column as one plain array; NaN is null, as pandas means it."""
    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # of no chunk, or of more than one array can hold
        column = pa.concat_arrays(column.chunks) if column.chunks else pa.nulls(0, pa.string())
    column = without_dictionary(column)
    if pa.types.is_floating(column.type):
        column = column.cast(pa.float64())
        return pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
    return column


def _iso_codes(countries: pa.Array) -> pa.Array:
    """Return the codes with aliases replaced by ISO 3166's, such as UK by GB."""
    for alias, code in COUNTRY_ALIASES.items():
        countries = pc.if_else(pc.equal(countries, alias), pa.scalar(code), countries)
    return countries


def _regions(country: pa.Array, texts: Mapping[str, pa.Array]) -> tuple[pa.Array, pa.Array]:
    """Return codes and names: a region in the form of a code is one, such as CA or US-CA."""
    # "US-CA" is US and CA, "CA" has an empty country, "California" matches nothing.
    parts = pc.extract_regex(texts["region"], _REGION)
    prefix, code = (pc.struct_field(parts, name) for name in ("country", "code"))
    own = pc.or_kleene(pc.equal(prefix, ""), pc.equal(_iso_codes(prefix), country))
    nothing = pa.scalar(None, pa.string())
    name = pc.if_else(parts.is_null(), texts["region"], nothing)
    return pc.if_else(own, code, nothing), pc.coalesce(texts["region_name"], name)


def _degrees(texts: pa.Array, limit: float) -> pa.Array:
    numeric = pc.match_substring_regex(texts, _NUMBER)
    numbers = pc.if_else(numeric, texts, pa.scalar(None, pa.string())).cast(pa.float64())
    return pc.if_else(pc.less_equal(pc.abs(numbers), limit), numbers, pa.scalar(None, pa.float64()))
