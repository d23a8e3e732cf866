"""pandas: frames, Series, and the accessor ``Series.geo``; importing this module registers it.

Strategy: only the addresses and the instants go through Arrow. The new columns are appended to the
frame; its own columns, dtypes and index are unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd
import pyarrow as pa

from geolookup import Engine, InvalidAddressError, _default
from geolookup.contract.address import canonical, parse
from geolookup.kernel.lookups import state_of
from geolookup.tables.dictionaries import in_one, used_values
from geolookup.tables.enrich import Enricher
from geolookup.tables.inputs import InputNames, check, select, single
from geolookup.tables.take import of_table

if TYPE_CHECKING:
    from geolookup.contract.types import ColumnNames, EnrichOptions

#: Integers and booleans become nullable pandas types; in floats NaN is the missing value.
_TYPES = {
    pa.uint32(): pd.UInt32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}


@pd.api.extensions.register_series_accessor("geo")
class GeoAccessor:
    """``series.geo``: answers for a Series of addresses."""

    def __init__(self, series: pd.Series) -> None:
        self._series = series

    def lookup(
        self,
        *fields: ColumnNames,
        engine: Engine | None = None,
        **options: Unpack[EnrichOptions],
    ) -> pd.Series | pd.DataFrame:
        """Return one field as a Series, several fields or a group as a frame.

        The index is the Series' own. ``engine`` answers, by default the engine of
        ``geolookup.lookup``. ``options`` are as in ``Engine.enrich``.
        """
        answering = engine or _default.engine()
        schema = state_of(answering).dataset.schema
        paths = [field.path for field in of_table(fields, "geo.lookup", schema)]
        frame: pd.DataFrame = answering.enrich(self._series, paths, **options)
        # One field is a value, unless it is in a list.
        is_value = len(fields) == len(paths) == 1 and isinstance(fields[0], str)
        return frame.iloc[:, 0] if is_value else frame


def enrich_frame(enricher: Enricher, frame: pd.DataFrame, names: InputNames) -> pd.DataFrame:
    """Return the frame with columns of answers; its index, columns and dtypes are unchanged.

    The names are labels: tuples if columns have several levels.
    """
    labels = _labels(frame.columns, enricher.names)
    check(names, frame.columns, labels)
    table = enricher.table(select(names, lambda name: _arrow(frame[name])))
    answers = _frame(table, frame.index)
    answers.columns, answers.attrs = labels, frame.attrs
    return pd.concat([frame, answers], axis=1)


def enrich_series(enricher: Enricher, series: pd.Series, names: InputNames) -> pd.DataFrame:
    """Return a frame of the answers for a Series, with its index."""
    return _frame(enricher.table(single(_arrow(series), names)), series.index)


def _labels(columns: pd.Index, names: list[str]) -> pd.Index:
    """Return the names as labels among ``columns``: on the first level, if there are several."""
    if columns.nlevels == 1:
        return pd.Index(names)
    # Two levels: the name "network_asn" becomes ("network_asn", "").
    padding = ("",) * (columns.nlevels - 1)
    return pd.MultiIndex.from_tuples([(name, *padding) for name in names], names=columns.names)


def _arrow(values: pd.Series | pd.Index) -> Any:
    """Return a column of addresses or instants as an Arrow array."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return _categories(pd.Categorical(values))
    if values.dtype == object or isinstance(values.dtype, pd.StringDtype):
        return _texts(values)
    array = pa.array(values, from_pandas=True)
    # A column without values is read as floats, a type that is refused.
    empty = pa.types.is_floating(array.type) and array.null_count == len(array)
    return pa.nulls(len(array), pa.string()) if empty else array


def _categories(values: pd.Categorical) -> pa.DictionaryArray:
    array = _arrow(values.categories)
    dictionary = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    # The code of a missing value is -1.
    return pa.DictionaryArray.from_arrays(pa.array(values.codes, mask=values.codes < 0), dictionary)


def _texts(values: pd.Series | pd.Index) -> Any:
    """Read a column of texts at once; other objects among them are parsed one by one."""
    if pd.api.types.infer_dtype(values, skipna=True) != "string":
        return _one_by_one(values)
    try:
        return pa.array(values, from_pandas=True)
    except (UnicodeEncodeError, pa.ArrowInvalid):  # a lone surrogate: not UTF-8
        return _one_by_one(values)


def _one_by_one(values: Iterable[object]) -> pa.Array:
    return pa.array([_text(value) for value in values], pa.string())


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # a lone surrogate is in no address
    try:
        return canonical(*parse(value))
    except InvalidAddressError:
        return None


def _frame(table: pa.Table, index: pd.Index) -> pd.DataFrame:
    columns = {name: _values(table[name]) for name in table.schema.names}
    return pd.DataFrame(columns, index=index)


def _values(column: pa.ChunkedArray) -> Any:
    if pa.types.is_dictionary(column.type):
        return _categorical(in_one(column))
    return column.to_pandas(types_mapper=_TYPES.get).array


def _categorical(column: pa.DictionaryArray) -> pd.Categorical:
    """Return a column with only the categories that occur: a count by city lists no others."""
    used = used_values(column)
    return pd.Categorical.from_codes(used.indices.fill_null(-1), used.dictionary.to_pandas())
