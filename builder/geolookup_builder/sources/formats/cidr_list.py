"""Plain lists of prefixes, one a line: block lists, the ranges of hosters or of a country.

A list holds addresses only. The recipe states their fields. These are checked
here: a misspelt value would be nulled in all rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa

from geolookup.contract.fields import OWN_PREFIX
from geolookup.errors import BuildError
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.names import source_column
from geolookup_builder.sources.formats.lines import line_table, plan_lines
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.products import Offer, Product
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, lines_match
from geolookup_builder.sources.reading.stated_dates import in_first_lines
from geolookup_builder.sources.reading.text import line_layout
from geolookup_builder.values import Reference, clean, load_reference

_LAYOUT = line_layout("[ \t]*[#;]")
#: "1.2.3.0/24 ; SBL123" -> "1.2.3.0/24"
_PATTERN = r"^\s*(?P<network>[^\s#;]+)\s*(?:[#;].*)?$"
# "1.2.3.4;1.2.3.9;CH" is a row of a CSV, not a prefix with a comment.
_ROW = re.compile(rf"\s*({sniffing.ADDRESS.pattern})(/[0-9]+)?(\s*#.*|\s+;.*|\s*)")


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    values = {
        name.removeprefix(OWN_PREFIX): Offer(constant=text) for name, text in _fields(spec).items()
    }
    product = Product("list", (("network",),), values)
    plan = partial(plan_lines, product=product, pattern=_PATTERN, lines=_LAYOUT)
    return line_table(spec, (".txt", ".list", ".zone", ".cidr", ".netset", ".csv"), plan)


def _fields(spec: SourceSpec) -> dict[str, str]:
    """Return the fields that the recipe states for all rows."""
    fields = spec.options.get("values")
    if not isinstance(fields, dict) or not fields:
        remedy = 'write values = { user_type = "hosting" }'
        raise BuildError(spec.recipe, "source.values is missing or not a table", remedy=remedy)
    reference = load_reference()
    columns = {
        source_column(spec.recipe, "source.values", name, spec.schema): name for name in fields
    }
    return {
        column: _value(spec, reference, column, fields[name]) for column, name in columns.items()
    }


def _value(spec: SourceSpec, reference: Reference, name: str, value: Any) -> str:
    # In Python True is an int; in TOML it is a Boolean only.
    plain = isinstance(value, int | float | str) and not isinstance(value, bool)
    text = str(value) if plain else ""
    field = spec.schema.by_source_column[name]
    # The recipe may replace the table of countries, so country codes are checked with the rows.
    if name != "country_code" and not clean(field, pa.array([text]), reference)[0][0].is_valid:
        problem = f"source.values.{name} cannot be {value!r}"
        raise BuildError(spec.recipe, problem, remedy="correct the value in the recipe")
    return text


def _detect(opening: Opening) -> Detection | None:
    return Detection("prefixes, one a line") if lines_match(opening.start, _LAYOUT, _ROW) else None


#: Comments of Spamhaus, and of the lists that FireHOL collects.
_DATE = in_first_lines(r"(?m)^[;#] *(?:Last-Modified|Source File Date) *:([^\r\n]{1,60})")
FORMAT = SourceFormat("cidr-list", frozenset({"values"}), _read, _detect, _DATE)
