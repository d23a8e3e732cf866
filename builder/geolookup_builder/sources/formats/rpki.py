"""Validated ROA payloads (VRPs): CSV and JSON as rpki-client, Routinator and Cloudflare write them.

A VRP says which AS may announce a prefix, not which one does. It describes the whole prefix: the
maximum length limits the announcements, not the addresses. AS 0 states that nobody may announce it
(RFC 6483, section 4); any other VRP of the same prefix overrides that.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset.intervals import I64
from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, concatenate, from_networks
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading import delimited, json_document
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.json_document import texts, value
from geolookup_builder.sources.reading.reader import (
    Batch,
    Meaning,
    SourceFormat,
    SourceTable,
    one_table,
)
from geolookup_builder.sources.reading.routes import (
    deciding_rows,
    with_values_of,
    without_default_routes,
)
from geolookup_builder.sources.reading.sniffing import Detection, Opening, begins_object
from geolookup_builder.sources.reading.stated_dates import in_first_lines
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.vendor_files import AsNames, as_fields, header, load_as_names

_ASN, _PREFIX, _LENGTH = "ASN", "IP Prefix", "Max Length"
#: "0", "AS0", "as00".
_AS0 = "^([Aa][Ss])?0+$"
_KEYS = ("roas", "prefix", "maxLength")


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    names = load_as_names(spec)
    return one_table(
        spec,
        (".csv", ".json"),
        lambda member: _batches(member, _syntax(member), names),
        "maximum length, trust anchor and expiry ignored: no field holds them",
    )


def _syntax(member: Member) -> str:
    """Return whether a file is JSON or CSV; BuildError if it holds no VRPs."""
    if begins_object(member):
        if json_document.has_keys(member, _KEYS):
            return "JSON"
    elif {_ASN, _PREFIX, _LENGTH} <= set(header(member)):
        return "CSV"
    remedy = "name the csv or json output of rpki-client or Routinator, or Cloudflare's rpki.json"
    raise BuildError(member.label, "not a list of VRPs", remedy=remedy)


def _batches(member: Member, syntax: str, names: AsNames | None) -> Iterator[Batch]:
    """Yield the rows of a file, read whole: AS 0 is overridden wherever the other VRP is."""
    all_batches = [*_READERS[syntax](member, partial(_meaning, names=names))]
    batches = [batch for batch in all_batches if len(batch)]
    if batches:
        rank = np.concatenate([_authorises(batch.fields["asn"]) for batch in batches])
        ranges = concatenate([batch.ranges for batch in batches])
        # One prefix with AS 64500, AS 64501 and AS 0: all three rows get the fields of AS 64501.
        # Its rank is 1, the rank of AS 0 is 0. Among equal ranks the last row decides.
        batches = with_values_of(batches, deciding_rows(ranges, rank))
    yield from batches or all_batches


def _of_csv(member: Member, meaning: Meaning) -> Iterator[Batch]:
    layout = Layout(header(member), frozenset({_PREFIX}), frozenset({_ASN}))
    yield from delimited.batches(member, layout, meaning)


def _of_document(member: Member, meaning: Meaning) -> Iterator[Batch]:
    entries = _entries(member)
    columns = {
        _PREFIX: texts(value(entry, "prefix") for entry in entries),
        _ASN: texts(value(entry, "asn") for entry in entries).cast(pa.string()).dictionary_encode(),
    }
    ranges, fields = meaning(pa.RecordBatch.from_pydict(columns))
    yield json_document.batch(member, partial(_entries, member), ranges, fields)


def _entries(member: Member) -> list[Any]:
    return json_document.entries(member, json_document.document(member), "roas")


_READERS = {"CSV": _of_csv, "JSON": _of_document}


def _meaning(
    rows: pa.RecordBatch, names: AsNames | None
) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    ranges = from_networks(rows.column(_PREFIX))
    asn = without_default_routes(ranges, rows.column(_ASN))
    return ranges, as_fields(asn, names)


def _authorises(asn: pa.DictionaryArray) -> I64:
    """Return 1 for an AS that may announce the prefix, 0 for AS 0."""
    none = pc.match_substring_regex(asn.dictionary, _AS0)
    is_denied = pc.fill_null(none.take(asn.indices), True)
    return 1 - np.asarray(is_denied).astype(np.int64)


def _detect(opening: Opening) -> Detection | None:
    return Detection(f"VRPs, {_syntax(opening.start)}")


#: From the metadata of rpki-client and Cloudflare, and of Routinator; their CSV has none.
_DATE = in_first_lines(r'"(?:buildtime|generatedTime)" *: *"([0-9]{4}-[0-9]{2}-[0-9]{2})')
FORMAT = SourceFormat("rpki", frozenset({"names"}), _read, _detect, _DATE)
