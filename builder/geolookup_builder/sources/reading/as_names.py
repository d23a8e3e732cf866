"""Names of autonomous systems for tables that have numbers only.

Strategy: one object of JSON or a CSV of two columns to two Arrow columns, in
which the distinct AS numbers of a batch are looked up.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from geolookup.errors import BuildError
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.reading.damage import arrow_failure
from geolookup_builder.sources.reading.dictionary_cells import Cells, with_values
from geolookup_builder.sources.reading.inputs import Member, members

_COUNTRY = r", [A-Z]{2}$"
_REMEDY = "give a JSON object or a CSV of AS number and name"


@dataclass(frozen=True, slots=True)
class AsNames:
    """AS numbers in digits, and the name of each."""

    numbers: pa.Array
    names: pa.Array

    def of(self, asn: Cells) -> Cells:
        """Return the names of AS numbers; null where there is none."""
        return with_values(asn, self.names.take(pc.index_in(_digits(asn.dictionary), self.numbers)))


def load(spec: SourceSpec) -> AsNames | None:
    """Read the table that ``names`` of a source states; None where it states none."""
    path = spec.options.get("names")
    if path is None:
        return None
    if not isinstance(path, str) or not path:
        raise BuildError(spec.recipe, "source.names is not a text", remedy="name a file")
    found = members(path, spec.base, (".json", ".csv"))
    if len(found) > 1:
        raise BuildError(spec.base / path, "more than one file", remedy="name one file of names")
    table = _json(found[0]) if _begins_object(found[0]) else _csv(found[0])
    if not pc.any(pc.match_substring_regex(table.numbers, "^[0-9]+$")).as_py():
        raise BuildError(found[0].label, "no AS numbers in it", remedy=_REMEDY)
    return table


def _begins_object(member: Member) -> bool:
    with member.open() as stream:
        return stream.read(1 << 10).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def _json(member: Member) -> AsNames:
    with member.open() as stream:
        text = stream.read()
    try:
        listed: dict[str, Any] = json.loads(text.decode("utf-8-sig"))
        names = pa.array(list(listed.values()), pa.string())
        numbers = pa.array(list(listed), pa.string())
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg})"
        raise BuildError(member.label, problem, line=error.lineno, remedy=_REMEDY) from error
    except (ValueError, TypeError, RecursionError) as error:  # not UTF-8, names that are no texts
        problem = f"not a JSON object of names ({type(error).__name__})"
        raise BuildError(member.label, problem, remedy=_REMEDY) from error
    # Only here: in a CSV, ", SA" may be the end of a company's name.
    return AsNames(_digits(numbers), pc.replace_substring_regex(names, _COUNTRY, ""))


def _csv(member: Member) -> AsNames:
    columns = {"asn": pa.string(), "name": pa.string()}
    try:
        with member.open() as stream:
            table = pacsv.read_csv(
                stream,
                pacsv.ReadOptions(use_threads=False, column_names=list(columns)),
                convert_options=pacsv.ConvertOptions(column_types=columns),
            ).combine_chunks()
    except pa.ArrowInvalid as error:
        raise arrow_failure(member, error) from error
    return AsNames(_digits(_whole(table["asn"])), _whole(table["name"]))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _digits(numbers: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(numbers.cast(pa.string()), r"^\s*[Aa][Ss]", "")
