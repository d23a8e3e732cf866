"""RFC 8805 geofeeds: what networks say of themselves.

Strategy: feeds are written by hand, so rows of any width, with blanks, quotes
and comments, are taken apart by one pattern; what it does not fit is rejected.
A row without a location is kept, for it hides what a wider row says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder.ranges import ParsedRanges, from_networks
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.reading import lines, sniff
from geolookup_builder.sources.reading.delimited import batches
from geolookup_builder.sources.reading.detection import Claim, Opening, lines_fit
from geolookup_builder.sources.reading.dictionary_cells import Cells, without
from geolookup_builder.sources.reading.inputs import members
from geolookup_builder.sources.reading.reader import Format, SourceTable
from geolookup_builder.sources.reading.transcoded import encoding, transcoded

_NOT_UTF8 = 'state its encoding in the recipe, such as encoding = "shift_jis"'
_LAYOUT = replace(lines.layout("[ \t]*#"), not_utf8=_NOT_UTF8)
_COLUMNS = ("network", "country", "region", "city", "postal")
_QUOTED, _PLAIN = r'"(?:[^"]|"")*"', r'(?:[^,#"\s][^,#]*)?'
_CELLS = [rf"\s*(?P<{name}>{_QUOTED}|{_PLAIN})\s*" for name in _COLUMNS]
#: Each cell but the first may be missing with all behind it.
_PATTERN = "^" + "(?:,".join(_CELLS) + "(?:,.*)?" + ")?" * (len(_CELLS) - 1) + "(?:#.*)?$"
_REGION = r"^(?:(?P<country>[A-Z]{2})-)?(?P<code>[A-Z0-9]{1,3})$"
#: A row as the RFC has it, whose region is a code: other vendors have a name there.
_ROW = re.compile(
    rf'\s*"?({sniff.ADDRESS.pattern})(/[0-9]+)?"?\s*,\s*"?([A-Za-z]{{2}})?"?\s*'
    r'(,\s*"?([A-Za-z]{2}-)?[A-Za-z0-9]{0,3}"?\s*(,.*)?)?(#.*)?'
)
_NO_COUNTRY = "ZZ"  # how feeds said "no location" before the RFC


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    name = encoding(spec)
    found = [transcoded(each, name) for each in members(spec.path, spec.base, (".csv", ".txt"))]
    yield SourceTable(
        spec.name, (batch for member in found for batch in batches(member, _LAYOUT, _meaning))
    )


def _meaning(rows: pa.RecordBatch) -> tuple[ParsedRanges, dict[str, Cells]]:
    cells = {name: _unquoted(part) for name, part in lines.parts(rows, _PATTERN).items()}
    country = pc.utf8_upper(cells["country"])
    return from_networks(cells["network"]), {
        "country_code": without(country.dictionary_encode(), _NO_COUNTRY),
        "region_code": _region_code(country, pc.utf8_upper(cells["region"])).dictionary_encode(),
        "city_name": cells["city"].dictionary_encode(),
        "postal_code": cells["postal"].dictionary_encode(),
    }


def _unquoted(cells: pa.Array) -> pa.Array:
    bare = pc.replace_substring_regex(cells.cast(pa.string()), r'(?s)^"(.*)"$', r"\1")
    return pc.utf8_trim_whitespace(pc.replace_substring(bare, '""', '"'))


def _region_code(country: pa.Array, region: pa.Array) -> pa.Array:
    """Return the codes without the country before them; null for regions of another country."""
    found = pc.extract_regex(region, _REGION)
    prefix, code = (pc.struct_field(found, name) for name in ("country", "code"))
    own = pc.or_(pc.equal(prefix, ""), pc.equal(prefix, country))
    return pc.if_else(own, code, pa.scalar(None, pa.string()))


def _claims(read: Opening) -> Claim | None:
    return Claim("a feed") if lines_fit(transcoded(read.start, None), _LAYOUT, _ROW) else None


FORMAT = Format("geofeed", frozenset({"encoding"}), _read, _claims)
