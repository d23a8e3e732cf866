"""Routing tables reduced to prefix and origin AS: CAIDA's pfx2as and pyasn's files.

The number of cells in the first row tells the two apart. The compiler resolves nested
prefixes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.address import MAX
from geolookup.dataset.intervals import Addresses, Bools
from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, from_networks
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading.delimited import batches, first_record
from geolookup_builder.sources.reading.dictionary_columns import mark, with_values
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable, one_table
from geolookup_builder.sources.reading.sniffing import Detection, Opening
from geolookup_builder.sources.reading.stated_dates import in_first_lines
from geolookup_builder.sources.reading.text import Layout, prefix_texts
from geolookup_builder.sources.reading.vendor_files import AsNames, as_fields, load_as_names

_MASK = re.compile(rb"(?m)^(?:\xef\xbb\xbf)?[;#][^\n]*\n?")
#: By number of cells: "1.0.0.0", "24", "13335" of CAIDA, "1.0.0.0/24", "13335" of pyasn.
_COLUMNS = {3: ("prefix", "length", "asn"), 2: ("network", "asn")}
_ADDRESS = re.compile(r"[0-9A-Fa-f]*[.:][0-9A-Fa-f.:]*(/[0-9]+)?")
#: Several origins (``3356_174``) and AS sets (``10,20``); the first AS is used.
_ORIGINS = r"^\{?([0-9]{1,10})[_,][0-9_,{}]*$"
_AS = re.compile(r"[0-9{][0-9_,{}]*")


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    meaning = partial(_meaning, names=load_as_names(spec))
    suffixes = (".pfx2as", ".dat", ".txt", ".tsv")
    return one_table(spec, suffixes, lambda member: batches(member, _layout(member), meaning))


def _layout(member: Member) -> Layout:
    cells, _ = first_record(member, _layout_of(()))
    if len(cells) not in _COLUMNS or not _ADDRESS.fullmatch(cells[0]):
        remedy = "give prefix, length and AS, or prefix/length and AS, with tabs between"
        raise BuildError(member.label, "not a table of prefixes and origins", remedy=remedy)
    return _layout_of(_COLUMNS[len(cells)])


def _layout_of(names: tuple[str, ...]) -> Layout:
    return Layout(
        names,
        frozenset(names) - {"asn"},
        frozenset({"asn"}),
        header=False,
        delimiter="\t",
        quoted=False,
        mask=_MASK,
    )


def _meaning(
    rows: pa.RecordBatch, names: AsNames | None
) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    ranges = from_networks(_network(rows))
    # A default route says nothing about an address: an invalid value, which is nulled and counted.
    defaults = pa.array(_are_default_routes(ranges))
    asn = mark(_first_origin(rows.column("asn")), defaults, "default route")
    return ranges, as_fields(asn, names)


def _are_default_routes(ranges: ParsedRanges) -> Bools:
    defaults: Bools = np.zeros(len(ranges.family), bool)
    for family in (4, 6):
        ends = Addresses.of(6, [0, MAX[family]])
        is_whole = ranges.first.equals(ends[:1]) & ranges.last.equals(ends[1:])
        defaults |= (ranges.family == family) & is_whole
    return defaults


def _network(rows: pa.RecordBatch) -> pa.Array:
    if "network" in rows.schema.names:
        return rows.column("network")
    return prefix_texts(rows.column("prefix"), rows.column("length"))


def _first_origin(asn: pa.DictionaryArray) -> pa.DictionaryArray:
    return with_values(asn, pc.replace_substring_regex(asn.dictionary, _ORIGINS, r"\1"))


def _detect(opening: Opening) -> Detection | None:
    names = _layout(opening.start).names
    cells, _ = first_record(opening.start, _layout_of(()))
    of_caida = "length" in names
    return Detection("of CAIDA" if of_caida else "of pyasn") if _AS.fullmatch(cells[-1]) else None


#: pyasn names the table that it converted: "; Original file : data/rib.20140513.0600.bz2".
_DATE = in_first_lines(r"(?m)^; Original file *:[^\r\n]{0,200}?\.([0-9]{8})\.[0-9]{4}")
FORMAT = SourceFormat("pfx2as", frozenset({"names"}), _read, _detect, _DATE)
