"""The ranges of a dataset as rows: their addresses in one of several forms, and their fields.

Adjacent ranges with the same values of the fields are one range. A range without a known value has
no row. Own columns are known in special-purpose space too.

``prefixes.spans`` has the strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import STORED, Field
from geolookup.contract.paths import resolve_fields
from geolookup.contract.schema import CONTRACT, Schema
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import I64, Addresses
from geolookup.dataset.networks import limits_of
from geolookup.dataset.public_ranges import public_ranges
from geolookup.errors import ExportError
from geolookup.export.formats import Values
from geolookup.prefixes.aggregate import address_texts, cidr_texts, prefixes_of
from geolookup.prefixes.spans import FieldColumns, Spans, join
from geolookup.progress import Progress

#: The contract's fields that sources state. The others follow from the country.
DEFAULT = tuple(field for field in STORED if field.source_column)
#: The attributes of a source that exports write.
SOURCE = ("name", "date", "licence", "attribution", "url")
#: Ranges that become rows at a time: one of IPv6 can be 254 prefixes.
_BATCH = 1 << 15
_IPV6 = pa.binary(16)


def origin(dataset: Dataset) -> dict[str, Any]:
    """Return the dataset's name and generation, and its sources and credits, null if unknown."""
    about = dataset.manifest.metadata()
    sources = [{name: getattr(source, name) for name in SOURCE} for source in about.sources]
    credits_ = [{name: credit.get(name) for name in SOURCE} for credit in about.credits]
    return {"name": about.name, "generation": about.generation, "sources": [*sources, *credits_]}


def fields_of(paths: str | Iterable[str] | None, schema: Schema = CONTRACT) -> tuple[Field, ...]:
    """Return the fields that paths name, groups expanded, each once.

    None: ``DEFAULT``, then the own columns. Raises ExportError for a path of no stored field.
    """
    if paths is None:
        return (*DEFAULT, *schema.own)
    with export_errors():
        return resolve_fields(paths, schema.stored, "export")


@contextmanager
def export_errors() -> Iterator[None]:
    """Turn a ValueError of a path or a network into an ExportError."""
    try:
        yield
    except ValueError as error:
        problem, _, remedy = str(error).partition("; ")
        raise ExportError(problem, remedy) from None


class Rows(NamedTuple):
    """The columns with the addresses of n rows, and ``of``, the number of each row's range."""

    columns: list[pa.Array]
    of: I64


class Form(NamedTuple):
    """How the addresses of rows are written: the columns, and the function that makes them."""

    names: tuple[str, ...]
    types: Mapping[int, pa.DataType]  # of these columns, by family
    rows: Callable[[Spans], Rows]
    counted: str  # the noun of a count of rows: ranges or networks


def as_texts(spans: Spans) -> Rows:
    """Return the ends of ranges as texts."""
    ends = spans.first, spans.last
    return Rows([address_texts(spans.family, end) for end in ends], np.arange(len(spans)))


def as_prefixes(spans: Spans) -> Rows:
    """Return the prefixes of ranges as texts."""
    prefixes, of = prefixes_of(spans)
    return Rows([cidr_texts(prefixes)], of)


def as_values(spans: Spans) -> Rows:
    """Return the ends of ranges: of IPv4 uint32, of IPv6 16 bytes in network order."""
    ends = [values_of(spans.family, end) for end in (spans.first, spans.last)]
    return Rows(ends, np.arange(len(spans)))


def values_of(family: int, addresses: Addresses) -> pa.Array:
    """Return addresses of a family: of IPv4 uint32, of IPv6 16 bytes in network order."""
    low, high = addresses.halves()
    if family == 4:
        return pa.array(low.astype(np.uint32))
    # Halves high and low, big-endian: 16 bytes in network order.
    data = np.stack([high, low], axis=1).astype(">u8")
    return pa.Array.from_buffers(_IPV6, len(high), [None, pa.py_buffer(data)])


_ENDS, _TEXTS = ("first", "last"), {4: pa.string(), 6: pa.string()}
RANGES = Form(_ENDS, _TEXTS, as_texts, "ranges")
PREFIXES = Form(("network",), _TEXTS, as_prefixes, "networks")
TYPED = Form(_ENDS, {4: pa.uint32(), 6: _IPV6}, as_values, "ranges")
#: The forms of rows by the option ``ranges``, in text and in files with types.
TEXT_FORMS = {"range": RANGES, "cidr": PREFIXES}
TYPED_FORMS = {"range": TYPED, "cidr": PREFIXES}


class FieldRanges:
    """The ranges of a dataset within the limits of the options, with the values of the fields.

    ``form`` is the one of ``forms`` that the option ``ranges`` names.
    """

    def __init__(
        self, dataset: Dataset, values: Values, progress: Progress, forms: Mapping[str, Form]
    ) -> None:
        self.form = forms[values.get("ranges", "range")]
        self.fields = fields_of(values.get("fields"), dataset.schema)
        self.columns = FieldColumns(dataset, self.fields)
        self._dataset, self.progress = dataset, progress
        self._within = values.get("within")
        self.families = (int(values["family"]),) if "family" in values else (4, 6)
        with export_errors():
            limits_of(self._within)

    def spans(self, family: int) -> Iterator[Spans]:
        """Yield the ranges of a family; ``columns.tables`` has the tables of their codes."""
        ranges = public_ranges(
            self._dataset, family, self._within, self.columns.has_any, self.columns.tables
        )
        for spans in join(map(self.columns.spans, ranges)):
            for begin in range(0, len(spans), _BATCH):
                yield spans.take(slice(begin, begin + _BATCH))

    def schema(self, family: int = 4) -> pa.Schema:
        """Return the columns of the rows of a family."""
        ends = [pa.field(name, self.form.types[family]) for name in self.form.names]
        return pa.schema([*ends, *self.columns.schema])

    def batches(self, family: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a family: the columns of the form, then of the fields."""
        schema = self.schema(family)
        for spans in self.spans(family):
            rows = self.form.rows(spans)
            values = self.columns.take([code[rows.of] for code in spans.codes])
            arrays: list[Any] = [*rows.columns, *values]
            self.progress.rows(len(rows.of))
            yield pa.record_batch(arrays, schema=schema)
