"""iptoasn.com: tab-separated ranges with the AS that announces them, as text or integers.

Strategy: one layout for all four files. Descriptions hold quotes that quote nothing. The
country is where the AS holder is registered, so it is a location only if the recipe says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, from_pairs
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.reading import sniff
from geolookup_builder.sources.reading.detection import Claim, Opening
from geolookup_builder.sources.reading.dictionary_cells import without
from geolookup_builder.sources.reading.headerless import Plan, stated, tables
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.layout import Layout
from geolookup_builder.sources.reading.reader import Format, SourceTable

_RANGE = ("range_start", "range_end")
_NAMES = (*_RANGE, "AS_number", "country_code", "AS_description")
_FIELDS = {"AS_number": "asn", "AS_description": "asn_organization"}
_COUNTRY = {"country_code": "country_code"}
_END = re.compile(rf"{sniff.ADDRESS.pattern}|{sniff.INTEGER.pattern}")
_CONTENT = {
    "range_start": _END,
    "range_end": _END,
    "AS_number": sniff.AS_NUMBER,
    "country_code": sniff.ALPHA2,
}
#: What stands in a row without an AS.
_NOTHING = {"country_code": "None", "asn_organization": "Not routed"}


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    countries = spec.options.get("countries", False)
    if not isinstance(countries, bool):
        problem = "source.countries is neither true nor false"
        raise BuildError(spec.recipe, problem, remedy="write countries = true")
    fields = _FIELDS | _COUNTRY if countries else _FIELDS
    yield from tables(spec, (".tsv",), ("asn",), lambda member: _plan(member, fields))


def _plan(member: Member, fields: dict[str, str]) -> Plan:
    found = sniff.sample(member, "\t", quoted=False)
    shown, remedy = "a file of iptoasn", "name one of its .tsv files"
    sniff.check_width(found, len(_NAMES), shown, remedy)
    sniff.check_content(found, _NAMES, _CONTENT, shown, "None")
    layout = Layout(
        _NAMES, frozenset(_RANGE), frozenset(fields), header=False, delimiter="\t", quoted=False
    )
    meaning = partial(_meaning, fields=fields, family=sniff.integer_family(found))
    return Plan("asn", layout, meaning)


def _meaning(
    rows: pa.RecordBatch, fields: dict[str, str], family: int
) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    cells = stated(rows, fields)
    for name, word in _NOTHING.items():
        if name in cells:
            cells[name] = without(cells[name], word)
    return from_pairs(rows.column("range_start"), rows.column("range_end"), family), cells


def _claims(read: Opening) -> Claim | None:
    return Claim(_plan(read.start, _FIELDS).table)


FORMAT = Format("iptoasn", frozenset({"countries"}), _read, _claims)
