"""JSON lines: an object for each range or prefix, with a member for each field."""

from __future__ import annotations

from typing import Any

from geolookup.dataset.files import Dataset
from geolookup.export.format import Counts, Values
from geolookup.export.ranges import TEXT_FORMS, FieldRanges, chosen
from geolookup.export.text_rows import Syntax, write_rows
from geolookup.files.json_lines import joined_members
from geolookup.progress import Progress

_SYNTAX = Syntax(joined_members, b",", b"{", b"}\n")


def write(dataset: Dataset, place: Any, values: Values, progress: Progress) -> Counts:
    """Write the objects; see ``format.Write``."""
    ranges, form = FieldRanges(dataset, values, progress), chosen(values, TEXT_FORMS)
    return {form.counted: write_rows(_SYNTAX, ranges, form, place)}
