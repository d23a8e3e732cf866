"""iptoasn.com: tab-separated ranges, as text or integers, with the AS that announces them.

All four files have one layout. Quotes in descriptions are plain characters. The
country is where the AS holder is registered; it is read as a location only with
``countries = true``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, from_pairs
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.dictionary_columns import without
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.own_values import Offers, words
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.vendor_files import Plan, planned_tables, stated_fields

_RANGE = ("range_start", "range_end")
_NAMES = (*_RANGE, "AS_number", "country_code", "AS_description")
_FIELDS = {"AS_number": "asn", "AS_description": "asn_organization"}
_COUNTRY = {"country_code": "country_code"}
_END = re.compile(rf"{sniffing.ADDRESS.pattern}|{sniffing.INTEGER.pattern}")
_CONTENT = {
    "range_start": _END,
    "range_end": _END,
    "AS_number": sniffing.AS_NUMBER,
    "country_code": sniffing.ALPHA2,
}
#: The words for "unknown" in rows without an AS.
_NOTHING = {"country_code": "None", "asn_organization": "Not routed"}
_OFFERS: Offers = {"asn_country_code": words("country_code", {"None": None})}


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    countries = spec.options.get("countries", False)
    if not isinstance(countries, bool):
        problem = "source.countries is neither true nor false"
        raise BuildError(spec.recipe, problem, remedy="write countries = true")
    fields = _FIELDS | _COUNTRY if countries else _FIELDS
    yield from planned_tables(
        spec, (".tsv",), ("asn",), lambda member: _plan(member, fields), _OFFERS
    )


def _plan(member: Member, fields: dict[str, str]) -> Plan:
    rows = sniffing.sample(member, "\t", quoted=False)
    label, remedy = "a file of iptoasn", "name one of its .tsv files"
    sniffing.check_width(rows, len(_NAMES), label, remedy)
    sniffing.check_content(rows, _NAMES, _CONTENT, label, "None")
    layout = Layout(
        _NAMES, frozenset(_RANGE), frozenset(fields), header=False, delimiter="\t", quoted=False
    )
    meaning = partial(_meaning, fields=fields, family=sniffing.integer_family(rows))
    return Plan("asn", layout, meaning)


def _meaning(
    rows: pa.RecordBatch, fields: dict[str, str], family: int
) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    columns = stated_fields(rows, fields)
    for name, word in _NOTHING.items():
        if name in columns:
            columns[name] = without(columns[name], word)
    return from_pairs(rows.column("range_start"), rows.column("range_end"), family), columns


def _detect(opening: Opening) -> Detection | None:
    return Detection(_plan(opening.start, _FIELDS).table)


FORMAT = SourceFormat(
    "iptoasn", frozenset({"countries"}), _read, _detect, offers=frozenset(_OFFERS)
)
