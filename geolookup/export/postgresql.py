"""PostgreSQL: a script for psql that creates and fills a table by ``COPY``, in one transaction.

The new table replaces one of the same name at the end: readers see the old rows or the new ones.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import TEXTS
from geolookup.dataset.files import Dataset
from geolookup.errors import ExportError
from geolookup.export.formats import Counts, Values
from geolookup.export.ranges import PREFIXES, RANGES, SPANS, FieldRanges, Form, choose_form, origin
from geolookup.export.text_rows import Syntax, escape, escaped_cells, list_texts, write_rows
from geolookup.progress import Progress


class _Layout(NamedTuple):
    """How addresses are stored: their columns, and in SQL their type and index.

    ``before`` is a statement that the type needs.
    """

    form: Form
    type: str
    indexed: str
    before: str = ""


_LAYOUTS = {
    "cidr": _Layout(PREFIXES, "cidr", "using gist (network inet_ops)"),
    "range": _Layout(RANGES, "inet", "(first)"),
    "ip4r": _Layout(
        SPANS, "iprange", "using gist (range)", "create extension if not exists ip4r;\n"
    ),
}
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()
#: PostgreSQL has no unsigned integers: a uint32 needs bigint.
_TYPES = {
    "double": "double precision",
    "uint32": "bigint",
    "int64": "bigint",
    "bool": "boolean",
    TEXTS: "text[]",
}
#: Bytes of a name; PostgreSQL cuts longer ones.
_LONGEST_NAME = 63
_BEGIN = """\
\\set ON_ERROR_STOP on
begin;
set local client_min_messages = warning;
set local standard_conforming_strings = on;
{before}drop table if exists geolookup_new;
create table geolookup_new ({columns});
comment on table geolookup_new is '{about}';
copy geolookup_new from stdin with (encoding 'UTF8');
"""
_END = """\
\\.
create index geolookup_new_address on geolookup_new {index};
drop table if exists geolookup;
alter table geolookup_new rename to geolookup;
alter index geolookup_new_address rename to geolookup_address;
commit;
analyze geolookup;
"""


def write(dataset: Dataset, target: Any, values: Values, progress: Progress) -> Counts:
    """Write the script; see ``formats.Write``."""
    ranges, layout = FieldRanges(dataset, values, progress), choose_form(values, _LAYOUTS)
    target.write(_begin(layout, ranges, dataset).encode())
    count = write_rows(_SYNTAX, ranges, layout.form, target)
    target.write(_END.format(index=layout.indexed).encode())
    return {layout.form.counted: count}


def _begin(layout: _Layout, ranges: FieldRanges, dataset: Dataset) -> str:
    addresses = [f"{name} {layout.type} not null" for name in layout.form.names]
    fields = [
        f"{field.name} {_TYPES.get(str(field.type), 'text')}" for field in ranges.columns.schema
    ]
    _check_names(ranges.columns.schema.names)
    about = json.dumps(origin(dataset)).replace("'", "''")
    return _BEGIN.format(
        before=layout.before, columns=", ".join([*addresses, *fields]), about=about
    )


def _check_names(names: list[str]) -> None:
    for name in names:
        if len(name) > _LONGEST_NAME:
            remedy = "leave the column out by fields, or give it a shorter name"
            raise ExportError(f"PostgreSQL cuts the name {name} after 63 bytes", remedy)


def _array(column: pa.Array) -> pa.Array:
    """Return lists as array literals; a backslash escapes any character in them."""
    # Twice: once for the literal {"a\"b"}, once for COPY's text format: it unescapes too.
    return escape(list_texts(column, "{", '"', "}"))


def _cells(_names: list[str], columns: list[pa.Array]) -> pa.Array:
    """Return the rows; NUL becomes the replacement character: PostgreSQL stores it in no text."""
    return pc.replace_substring(escaped_cells(columns, _array), b"\0", _REPLACEMENT)


_SYNTAX = Syntax(_cells, b"\t")
