"""Ground truth from a table of single addresses: the table of a source, a range an address.

The addresses are kept in memory and in the temporary dataset of the truth; no error quotes a cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.comparison.overlay import FAMILIES
from geolookup.contract.fields import COUNTRY_ALIASES, Field
from geolookup.dataset.arrow_files import without_dictionary
from geolookup.dataset.intervals import I64, MixedAddresses
from geolookup.errors import TableFileError
from geolookup.files.row_streams import ReadOptions
from geolookup.files.table_files import TableFile, column_names, known_kind, open_table
from geolookup.kernel.columns import parse, replace_embedded
from geolookup.prefixes.texts import address_texts
from geolookup.tables.locate import address_reader, column_of, locate_chunk

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
_REGION = r"^(?:(?P<country>[A-Z]{2})-)?(?P<code>[A-Z0-9]{1,3})$"
_NO_TEXT = pa.scalar(None, pa.string())


def is_table(path: str) -> bool:
    """Tell whether a file is a table with a column of addresses, by its suffix and its header."""
    kind = known_kind(path)
    if kind is None:
        return False
    try:
        names = column_names(TableFile(path, kind), path)
        return any(_plain(name) in _ALIASES[_ADDRESS] for name in names)
    except TableFileError:
        return False  # the reader of its source format explains the error


def read_addresses(path: str, own: Sequence[Field]) -> tuple[pa.Table, int]:
    """Return the table of a source, with these own columns, and the number of rows left out.

    These have no valid address, or a later row has it: the last row of an address decides. Raises
    TableFileError for what cannot be used.
    """
    kind = known_kind(path)
    if kind is None:
        raise TableFileError(path, "its suffix is not a table's", "name it .csv or .parquet")
    file = TableFile(path, kind)
    columns = _columns(path, file, own)
    with open_table(file, ReadOptions(path, tuple(columns.values()), "dropped")) as table:
        schema = table.rows.schema
        _check_addresses(path, schema.field(columns[_ADDRESS]).type)
        rows = pa.Table.from_batches(table.rows.batches, schema)
    numbers, texts = _addresses(rows[columns.pop(_ADDRESS)])
    cells = {ours: _text(path, theirs, rows[theirs]) for ours, theirs in columns.items()}
    last = pa.table({"text": texts, "row": numbers}).group_by("text").aggregate([("row", "max")])
    stated = pa.table(cells | _regions(cells)).take(last["row_max"])
    return stated.append_column(_ADDRESS, last["text"]), len(rows) - len(texts)


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
    if _ADDRESS not in columns:
        remedy = f"name it {_ALIASES[_ADDRESS][0]}"
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


def _addresses(column: pa.ChunkedArray) -> tuple[I64, pa.Array]:
    """Return the rows with a valid address, and these addresses as texts, by family.

    An address that carries an IPv4 address is replaced by it.
    """
    parser = _Parser()
    chunks = (without_dictionary(chunk) for chunk in column_of(column).iterchunks() if len(chunk))
    families = [locate_chunk(parser, chunk).families for chunk in chunks]
    none = np.empty(0, np.uint64)
    addresses = replace_embedded(
        MixedAddresses(
            np.concatenate([np.empty(0, np.uint8), *families]),
            np.concatenate([none, *(part.high for part in parser.parsed)]),
            np.concatenate([none, *(part.low for part in parser.parsed)]),
        )
    )
    rows = [np.flatnonzero(addresses.family == family) for family in FAMILIES]
    texts = [
        address_texts(family, addresses.high[of_family], addresses.low[of_family])
        for family, of_family in zip(FAMILIES, rows, strict=True)
    ]
    return np.concatenate(rows), pa.concat_arrays(texts)


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
    return pc.if_else(pc.equal(text, ""), _NO_TEXT, text)


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


def _regions(cells: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """Return codes and names of regions: one in the form of a code is one, such as CA or US-CA.

    A code of another country than the row's is left out.
    """
    if "region_code" not in cells:
        return {}
    regions = cells["region_code"]
    countries = cells.get("country_code", pa.nulls(len(regions), pa.string()))
    country = _iso_codes(pc.utf8_upper(countries))
    # "US-CA" is US and CA, "CA" has an empty country, "California" matches nothing.
    parts = pc.extract_regex(regions, _REGION)
    prefix, code = (pc.struct_field(parts, name) for name in ("country", "code"))
    own = pc.or_kleene(pc.equal(prefix, ""), pc.equal(_iso_codes(prefix), country))
    name = pc.if_else(parts.is_null(), regions, _NO_TEXT)
    names = pc.coalesce(cells["region_name"], name) if "region_name" in cells else name
    return {"region_code": pc.if_else(own, code, _NO_TEXT), "region_name": names}


def _iso_codes(countries: pa.Array) -> pa.Array:
    """Return the codes with aliases replaced by ISO 3166's, such as UK by GB."""
    for alias, code in COUNTRY_ALIASES.items():
        countries = pc.if_else(pc.equal(countries, alias), pa.scalar(code), countries)
    return countries
