"""Routing tables reduced to prefix and origin AS: CAIDA's pfx2as and pyasn's files.

The number of cells in the first row tells the two apart. The compiler resolves nested
prefixes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from threading import Lock

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, from_networks
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.headerless import TABS
from geolookup_builder.sources.reading.delimited import batches, first_record
from geolookup_builder.sources.reading.dictionary_columns import mark, with_values
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.plans import Planner
from geolookup_builder.sources.reading.products import Fields, Header, Offer, Product
from geolookup_builder.sources.reading.reader import Batch, SourceFormat, SourceTable, one_table
from geolookup_builder.sources.reading.sniffing import Detection, Opening
from geolookup_builder.sources.reading.stated_dates import in_first_lines
from geolookup_builder.sources.reading.text import Layout, prefix_texts

_MASK = re.compile(rb"(?m)^(?:\xef\xbb\xbf)?[;#][^\n]*\n?")
#: By number of cells: "1.0.0.0", "24", "13335" of CAIDA, "1.0.0.0/24", "13335" of pyasn.
_COLUMNS = {3: ("prefix", "length", "asn"), 2: ("network", "asn")}
_ADDRESS = re.compile(r"[0-9A-Fa-f]*[.:][0-9A-Fa-f.:]*(/[0-9]+)?")
#: Several origins (``3356_174``) and AS sets (``10,20``); the first AS is used.
_ORIGINS = r"^\{?([0-9]{1,10})[_,][0-9_,{}]*$"
_FURTHER = "further origins"
_AS = re.compile(r"[0-9{][0-9_,{}]*")


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    planner = Planner(spec)
    ranges = tuple(columns[:-1] for columns in _COLUMNS.values())
    emptied, lock = Counter[str](), Lock()

    def first_origin(asn: pa.DictionaryArray) -> pa.DictionaryArray:
        several = pc.match_substring_regex(asn.dictionary, _ORIGINS).take(asn.indices)
        with lock:  # batches are parsed in several threads
            emptied[_FURTHER] += several.true_count
        return with_values(asn, pc.replace_substring_regex(asn.dictionary, _ORIGINS, r"\1"))

    values = {"asn": Offer(("asn",), first_origin)}
    product = Product("origins", ranges, values, parse=_parse, finish=_finish)

    def batches_of(member: Member) -> Iterator[Batch]:
        layout, _ = _beginning(member)
        reading = planner.plan(Header(member.label, layout.names), product, layout)
        return batches(member, reading.layout, reading.meaning)

    (table,) = one_table(spec, (".pfx2as", ".dat", ".txt", ".tsv"), batches_of)
    yield replace(table, emptied=emptied)


def _beginning(member: Member) -> tuple[Layout, str]:
    """Return the layout of a file, and its first AS number; BuildError for another file."""
    layout = replace(TABS, mask=_MASK)
    cells, _ = first_record(member, layout)
    if len(cells) not in _COLUMNS or not _ADDRESS.fullmatch(cells[0]):
        remedy = "give prefix, length and AS, or prefix/length and AS, with tabs between"
        raise BuildError(member.label, "not a table of prefixes and origins", remedy=remedy)
    return replace(layout, names=_COLUMNS[len(cells)]), cells[-1]


def _parse(*ends: pa.Array) -> ParsedRanges:
    return from_networks(prefix_texts(*ends) if len(ends) > 1 else ends[0])


def _finish(rows: pa.RecordBatch, fields: Fields) -> Fields:
    """Return the AS numbers; those of default routes are invalid, to be nulled and counted.

    A default route says nothing about an address.
    """
    prefixes = rows.column("length" if "length" in rows.schema.names else "network")
    defaults = pc.fill_null(pc.match_substring_regex(prefixes, r"(^|/)\s*0\s*$"), False)
    return {**fields, "asn": mark(fields["asn"], defaults, "default route")}


def _detect(opening: Opening) -> Detection | None:
    layout, asn = _beginning(opening.start)
    if not _AS.fullmatch(asn):
        return None
    return Detection("of CAIDA" if "length" in layout.names else "of pyasn")


#: pyasn names the table that it converted: "; Original file : data/rib.20140513.0600.bz2".
_DATE = in_first_lines(r"(?m)^; Original file *:[^\r\n]{0,200}?\.([0-9]{8})\.[0-9]{4}")
FORMAT = SourceFormat("pfx2as", frozenset(), _read, _detect, _DATE)
