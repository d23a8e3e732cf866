"""RFC 8805 geofeeds: locations that network operators publish for their own prefixes.

Feeds are often written by hand. One pattern splits rows of any width, with blanks,
quotes and comments; a row that does not match it is rejected. A row without a
location is kept: it decides, and hides wider rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder.ranges import ParsedRanges, from_networks
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.delimited import batches
from geolookup_builder.sources.reading.dictionary_columns import without
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable, one_table
from geolookup_builder.sources.reading.sniffing import Detection, Opening, lines_match
from geolookup_builder.sources.reading.text import (
    encoding_option,
    line_layout,
    line_parts,
    transcode,
)

_NOT_UTF8 = 'state its encoding in the recipe, such as encoding = "shift_jis"'
_LAYOUT = replace(line_layout("[ \t]*#"), not_utf8=_NOT_UTF8)
_COLUMNS = ("network", "country", "region", "city", "postal")
# "a ""b"" c", or text without comma, hash and quote.
_QUOTED, _PLAIN = r'"(?:[^"]|"")*"', r'(?:[^,#"\s][^,#]*)?'
_GROUPS = [rf"\s*(?P<{name}>{_QUOTED}|{_PLAIN})\s*" for name in _COLUMNS]
#: Each cell but the first may be missing, with all that follow.
_PATTERN = "^" + "(?:,".join(_GROUPS) + "(?:,.*)?" + ")?" * (len(_GROUPS) - 1) + "(?:#.*)?$"
#: A row as in the RFC, where the region is a code; other vendors state a name there.
#: No repeat of blanks follows another one: that would take quadratic time.
_ROW = re.compile(
    rf'\s*"?({sniffing.ADDRESS.pattern})(/[0-9]+)?"?\s*,\s*(("?[A-Za-z]{{2}}"?|"{{1,2}})\s*)?'
    r'(,\s*(("?[A-Za-z]{2}-[A-Za-z0-9]{0,3}"?|"?[A-Za-z0-9]{1,3}"?|"{1,2})\s*)?([,#].*)?|#.*)?'
)
_NO_COUNTRY = "ZZ"  # "no location" in feeds older than the RFC


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    name = encoding_option(spec)
    return one_table(
        spec,
        (".csv", ".txt"),
        lambda member: batches(transcode(member, name), _LAYOUT, _meaning),
    )


def _meaning(rows: pa.RecordBatch) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    parts = {name: _unquote(part) for name, part in line_parts(rows, _PATTERN).items()}
    country = pc.utf8_upper(parts["country"])
    return from_networks(parts["network"]), {
        "country_code": without(country.dictionary_encode(), _NO_COUNTRY),
        "region_code": parts["region"].dictionary_encode(),
        "city_name": parts["city"].dictionary_encode(),
        "postal_code": parts["postal"].dictionary_encode(),
    }


def _unquote(texts: pa.Array) -> pa.Array:
    # (?s): a cell can hold a line break.
    bare = pc.replace_substring_regex(texts.cast(pa.string()), r'(?s)^"(.*)"$', r"\1")
    return pc.utf8_trim_whitespace(pc.replace_substring(bare, '""', '"'))


def _detect(opening: Opening) -> Detection | None:
    return (
        Detection("a feed") if lines_match(transcode(opening.start, None), _LAYOUT, _ROW) else None
    )


FORMAT = SourceFormat("geofeed", frozenset({"encoding"}), _read, _detect)
