"""Polars: frames, lazy frames, Series, and ``Expr.geo``; importing this module registers it.

Texts are String, not Categorical: String can be joined with and compared to other columns, and
takes the least time to make from Arrow's dictionaries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import polars as pl
import pyarrow as pa

from geolookup import Engine, GeoLookupError, _default
from geolookup.contract.localtime import instant
from geolookup.contract.types import ColumnNames
from geolookup.kernel.lookups import state_of
from geolookup.tables.dictionaries import in_one
from geolookup.tables.enrich import Enricher
from geolookup.tables.inputs import InputNames, check, select, single
from geolookup.tables.take import of_table


@pl.api.register_expr_namespace("geo")
class GeoNamespace:
    """``expr.geo``: answers for an expression of addresses."""

    def __init__(self, expression: pl.Expr) -> None:
        self._expression = expression

    def lookup(
        self,
        *fields: ColumnNames,
        engine: Engine | None = None,
        at: Any = None,
        clean: bool = False,
    ) -> pl.Expr:
        """Return one field as a column; several fields, a list or a group as a Struct "geo".

        ``fields`` and ``clean`` are as in ``Engine.enrich``. The column, and the members of the
        Struct, are named as its columns. In a row without an answer they are null. ``at`` is
        the instant of all rows, or an expression of timestamps with a time zone or of Unix times;
        None: the time of this call. ``engine`` answers, by default the engine of
        ``geolookup.lookup``. Raises ValueError for an unknown field.
        """
        answering = engine or _default.engine()
        found = of_table(fields, "geo.lookup", state_of(answering).dataset.schema)
        # One field is a value, unless it is in a list; a group has several fields.
        is_value = len(fields) == len(found) == 1 and isinstance(fields[0], str)
        # No field has these names.
        inputs = [self._expression.alias("address")]
        options: dict[str, Any] = {"column": "address", "clean": clean}
        if isinstance(at, pl.Expr):
            inputs.append(at.alias("instant"))
            options["time_column"] = "instant"
        else:
            options["at"] = instant(at)
        lookup = partial(_lookup, answering, tuple(field.path for field in found), options)
        empty = pl.Series(dtype=pl.Struct({"address": pl.String, "instant": pl.Int64}))
        # A Struct: Polars repeats literals in it.
        answers = pl.struct(inputs).map_batches(lookup, lookup(empty).dtype, is_elementwise=True)
        return answers.struct.field(found[0].name) if is_value else answers.alias("geo")


def _lookup(
    engine: Engine, paths: tuple[str, ...], options: dict[str, Any], inputs: pl.Series
) -> pl.Series:
    """Return a Struct of answers; pickled with an expression, the engine as path and generation."""
    frame = inputs.struct.unnest()
    with _raise_as_polars_own():
        answers = engine.enrich(frame, paths, **options)
    new: pl.DataFrame = answers.drop(frame.columns)
    return new.to_struct()


def enrich_frame(enricher: Enricher, frame: pl.DataFrame, names: InputNames) -> pl.DataFrame:
    """Return the frame with columns of answers."""
    check(names, frame.columns, enricher.names)
    return frame.hstack(_answers(enricher, select(names, lambda name: _arrow(frame[name]))))


def enrich_lazy(enricher: Enricher, frame: pl.LazyFrame, names: InputNames) -> pl.LazyFrame:
    """Return the plan with columns of answers; they are computed when it is collected."""
    schema = frame.collect_schema()
    check(names, schema.names(), enricher.names)
    if not enricher.names:
        return frame  # a Struct without fields has no rows
    used = list(dict.fromkeys(names.values()))

    def answer(columns: Sequence[pl.Series]) -> pl.Series:
        inputs = dict(zip(used, map(_arrow, columns), strict=True))
        with _raise_as_polars_own():
            return _answers(enricher, select(names, inputs.__getitem__)).to_struct()

    empty = _answers(enricher, select(names, lambda name: _arrow(pl.Series(dtype=schema[name]))))
    answers = pl.map_batches(
        used, answer, return_dtype=pl.Struct(empty.schema), is_elementwise=True
    )
    # Longer than any name: "ip" and "city" give "city+".
    unused = max(schema.names(), key=len) + "+"
    return frame.with_columns(answers.alias(unused)).unnest(unused)


def enrich_series(enricher: Enricher, series: pl.Series, names: InputNames) -> pl.DataFrame:
    """Return a frame of the answers for a Series."""
    return _answers(enricher, single(_arrow(series), names))


@contextmanager
def _raise_as_polars_own() -> Iterator[None]:
    """Raise ComputeError: Polars recreates exceptions with a longer text, and ours refuse that."""
    try:
        yield
    except GeoLookupError as error:
        raise pl.exceptions.ComputeError(str(error)) from error


def _answers(enricher: Enricher, inputs: pa.Table) -> pl.DataFrame:
    table = enricher.table(inputs)
    return pl.DataFrame([_series(name, table[name]) for name in table.schema.names])


def _arrow(column: pl.Series) -> pa.Array:
    if column.dtype == pl.Object:  # to_arrow would return pointers
        raise TypeError("a column of Python objects holds no addresses; convert it to text")
    return column.to_arrow()


def _series(name: str, column: pa.ChunkedArray) -> pl.Series:
    if not pa.types.is_dictionary(column.type):
        return pl.Series(name, column)
    whole = in_one(column)
    # The texts are taken by index: Categorical is the only dictionary of Polars.
    return pl.Series(name, whole.dictionary).gather(pl.Series(whole.indices))
