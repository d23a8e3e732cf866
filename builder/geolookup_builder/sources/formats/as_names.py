"""The names of AS numbers, from a file of JSON or CSV that the recipe states."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.names import file_option
from geolookup_builder.sources.reading.delimited import whole_table
from geolookup_builder.sources.reading.dictionary_columns import with_values
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.sniffing import begins_object
from geolookup_builder.sources.reading.text import Layout

#: The end of "CLOUDFLARENET - Cloudflare, Inc., US".
_COUNTRY = r", [A-Z]{2}$"
_REMEDY = "give a JSON object or a CSV of AS number and name"


@dataclass(frozen=True, slots=True)
class AsNames:
    """AS numbers in digits, and the name of each."""

    numbers: pa.Array
    names: pa.Array

    def of(self, asn: pa.DictionaryArray) -> pa.DictionaryArray:
        """Return the name of each AS number; null if there is none."""
        return with_values(asn, self.names.take(pc.index_in(_digits(asn.dictionary), self.numbers)))


def as_fields(asn: pa.DictionaryArray, names: AsNames | None) -> dict[str, pa.DictionaryArray]:
    """Return the fields of AS numbers: the names too, if the recipe states a file of them."""
    return {"asn": asn} if names is None else {"asn": asn, "asn_organization": names.of(asn)}


def load_as_names(spec: SourceSpec) -> AsNames | None:
    """Read the file that the recipe's ``names`` states, JSON or CSV; None if it states none."""
    path = file_option(spec, "names")
    if path is None:
        return None
    files = members(path, spec.base, (".json", ".csv"))
    if len(files) > 1:
        raise BuildError(spec.base / path, "more than one file", remedy="name one file of names")
    table = _from_json(files[0]) if begins_object(files[0]) else _from_csv(files[0])
    if not pc.any(pc.match_substring_regex(table.numbers, "^[0-9]+$")).as_py():
        raise BuildError(files[0].label, "no AS numbers in it", remedy=_REMEDY)
    return table


def _from_json(member: Member) -> AsNames:
    with member.open() as stream:
        text = stream.read()
    try:
        document: dict[str, Any] = json.loads(text.decode("utf-8-sig"))
        names = pa.array(list(document.values()), pa.string())
        numbers = pa.array(list(document), pa.string())
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
    return AsNames(_digits(table["asn"].combine_chunks()), table["name"].combine_chunks())


def _digits(numbers: pa.Array) -> pa.Array:
    # "AS13335" -> "13335".
    return pc.replace_substring_regex(numbers.cast(pa.string()), r"^\s*[Aa][Ss]", "")
