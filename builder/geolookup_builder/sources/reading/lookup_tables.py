"""Tables that rows refer to by a key: locations, providers, names of autonomous systems.

Each is read whole, once, into Arrow columns; keys are looked up per distinct
value of a batch. A row with the wrong number of cells is an error here: it
would silently remove a value from many ranges.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.reading.delimited import whole_table
from geolookup_builder.sources.reading.dictionary_columns import with_values
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.sniffing import begins_object
from geolookup_builder.sources.reading.text import Layout


@dataclass(frozen=True, slots=True)
class KeyedTable:
    """Columns of texts by key; of equal keys the first row is used."""

    keys: pa.Array
    columns: Mapping[str, pa.Array]

    def rows(self, keys: pa.DictionaryArray) -> pa.Array:
        """Return the row of each key; null where there is none."""
        found = pc.index_in(keys.dictionary.cast(pa.string()), self.keys)
        return found.take(keys.indices)


def concatenated(tables: list[KeyedTable]) -> KeyedTable:
    """Return one table from tables with the same columns; earlier tables take precedence."""
    names = tables[0].columns
    return KeyedTable(
        pa.concat_arrays([each.keys for each in tables]),
        {name: pa.concat_arrays([each.columns[name] for each in tables]) for name in names},
    )


def load_keyed(
    member: Member, names: tuple[str, ...], key: str, columns: tuple[str, ...]
) -> KeyedTable:
    """Read ``columns`` of a CSV with the header ``names``; columns that it lacks are null."""
    layout = Layout(names, frozenset({key, *columns} & set(names)), frozenset())
    table = whole_table(member, layout)
    absent = pa.nulls(len(table), pa.string())
    return KeyedTable(
        _whole(table[key]),
        {name: _whole(table[name]) if name in names else absent for name in columns},
    )


_COUNTRY = r", [A-Z]{2}$"
_REMEDY = "give a JSON object or a CSV of AS number and name"


@dataclass(frozen=True, slots=True)
class AsNames:
    """AS numbers in digits, and the name of each."""

    numbers: pa.Array
    names: pa.Array

    def of(self, asn: pa.DictionaryArray) -> pa.DictionaryArray:
        """Return the name of each AS number; null where there is none."""
        return with_values(asn, self.names.take(pc.index_in(_digits(asn.dictionary), self.numbers)))


def as_fields(asn: pa.DictionaryArray, names: AsNames | None) -> dict[str, pa.DictionaryArray]:
    """Return the fields of AS numbers: the names too, where the recipe states a file of them."""
    return {"asn": asn} if names is None else {"asn": asn, "asn_organization": names.of(asn)}


def load_as_names(spec: SourceSpec) -> AsNames | None:
    """Read the file that the recipe's ``names`` states, JSON or CSV; None where it states none."""
    path = spec.options.get("names")
    if path is None:
        return None
    if not isinstance(path, str) or not path:
        raise BuildError(spec.recipe, "source.names is not a text", remedy="write a file name")
    found = members(path, spec.base, (".json", ".csv"))
    if len(found) > 1:
        raise BuildError(spec.base / path, "more than one file", remedy="name one file of names")
    table = _from_json(found[0]) if begins_object(found[0]) else _from_csv(found[0])
    if not pc.any(pc.match_substring_regex(table.numbers, "^[0-9]+$")).as_py():
        raise BuildError(found[0].label, "no AS numbers in it", remedy=_REMEDY)
    return table


def _from_json(member: Member) -> AsNames:
    with member.open() as stream:
        text = stream.read()
    try:
        listed: dict[str, Any] = json.loads(text.decode("utf-8-sig"))
        names = pa.array(list(listed.values()), pa.string())
        numbers = pa.array(list(listed), pa.string())
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg})"
        raise BuildError(member.label, problem, line=error.lineno, remedy=_REMEDY) from error
    except (
        ValueError,
        TypeError,
        RecursionError,
    ) as error:  # not UTF-8, or names that are not texts
        problem = f"not a JSON object of names ({type(error).__name__})"
        raise BuildError(member.label, problem, remedy=_REMEDY) from error
    # Not in a CSV: there ", SA" may be the end of a company's name.
    return AsNames(_digits(numbers), pc.replace_substring_regex(names, _COUNTRY, ""))


def _from_csv(member: Member) -> AsNames:
    columns = ("asn", "name")
    table = whole_table(member, Layout(columns, frozenset(columns), frozenset(), header=False))
    return AsNames(_digits(_whole(table["asn"])), _whole(table["name"]))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _digits(numbers: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(numbers.cast(pa.string()), r"^\s*[Aa][Ss]", "")
