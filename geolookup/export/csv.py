"""CSV (RFC 4180): a row for each range or prefix, null as an empty cell."""

from __future__ import annotations

from typing import Any

from geolookup.dataset.files import Dataset
from geolookup.export.format import Counts, Values
from geolookup.export.ranges import TEXT_FORMS, FieldRanges, chosen
from geolookup.export.text_rows import Syntax, write_rows
from geolookup.files.delimited import CellSink, joined_cells
from geolookup.progress import Progress

_SYNTAX = Syntax(lambda _names, columns: joined_cells(columns, ","), b",")


def write(dataset: Dataset, place: Any, values: Values, progress: Progress) -> Counts:
    """Write a header and the rows; see ``format.Write``."""
    ranges, form = FieldRanges(dataset, values, progress), chosen(values, TEXT_FORMS)
    CellSink(place, ranges.schema(form), ",", header=True).close()
    return {form.counted: write_rows(_SYNTAX, ranges, form, place)}
