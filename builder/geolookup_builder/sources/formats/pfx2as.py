"""Routing tables reduced to prefix and origin AS: CAIDA's pfx2as and pyasn's files.

The compiler resolves nested prefixes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from threading import Lock

import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder.ranges import ParsedRanges, from_networks
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.lists import Lines
from geolookup_builder.sources.reading.dictionary_columns import mark, with_values
from geolookup_builder.sources.reading.products import Fields, Offer, Product
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening
from geolookup_builder.sources.reading.stated_dates import in_first_lines
from geolookup_builder.sources.reading.text import line_layout, prefix_texts

#: Several origins (``3356_174``) and AS sets (``10,20``); the first AS is used.
_ORIGINS = r"^\{?([0-9]{1,10})[_,][0-9_,{}]*$"
_FURTHER = "further origins"
_ROW = re.compile(r"[0-9A-Fa-f]*[.:][0-9A-Fa-f.:]*[\t/][0-9]+\t[0-9{][0-9_,{}]*")


def _parse(addresses: pa.Array, lengths: pa.Array) -> ParsedRanges:
    return from_networks(prefix_texts(addresses, lengths))


def _finish(rows: pa.RecordBatch, fields: Fields) -> Fields:
    """Return the AS numbers; those of default routes are invalid, to be nulled and counted.

    A default route says nothing about an address.
    """
    defaults = pc.fill_null(pc.match_substring_regex(rows.column("length"), r"^\s*0\s*$"), False)
    return {**fields, "asn": mark(fields["asn"], defaults, "default route")}


_ROUTES = Lines(
    Product("origins", (("prefix", "length"),), {}, parse=_parse, finish=_finish),
    # "1.0.0.0", "24", "13335" of CAIDA, "1.0.0.0/24", "13335" of pyasn.
    r"^(?P<prefix>[^\t/]*)[\t/](?P<length>[^\t/]*)\t(?P<asn>[^\t]*)$",
    line_layout("[;#]"),
    (".pfx2as", ".dat", ".txt", ".tsv"),
    first=re.compile(r"[0-9A-Fa-f]*[.:][0-9A-Fa-f.:]*[\t/][^\t/]*\t[^\t]*"),
    remedy="give prefix, length and AS, or prefix/length and AS, with tabs between",
)


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    emptied, lock = Counter[str](), Lock()

    def first_origin(asn: pa.DictionaryArray) -> pa.DictionaryArray:
        several = pc.match_substring_regex(asn.dictionary, _ORIGINS).take(asn.indices)
        with lock:  # batches are parsed in several threads
            emptied[_FURTHER] += several.true_count
        return with_values(asn, pc.replace_substring_regex(asn.dictionary, _ORIGINS, r"\1"))

    product = replace(_ROUTES.product, values={"asn": Offer(("asn",), first_origin)})
    for table in replace(_ROUTES, product=product).read(spec):
        yield replace(table, emptied=emptied)


def _detect(opening: Opening) -> Detection | None:
    return Detection("routes") if _ROUTES.match(opening, _ROW) else None


#: pyasn names the table that it converted: "; Original file : data/rib.20140513.0600.bz2".
_DATE = in_first_lines(r"(?m)^; Original file *:[^\r\n]{0,200}?\.([0-9]{8})\.[0-9]{4}")
FORMAT = SourceFormat("pfx2as", frozenset(), _read, _detect, _DATE)
