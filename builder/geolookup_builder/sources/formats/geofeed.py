"""RFC 8805 geofeeds: locations that network operators publish for their own prefixes.

Feeds are often written by hand. One pattern splits rows of any width, with blanks,
quotes and comments; a row that does not match it is rejected. A row without a
location is kept: it decides, and hides wider rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.lines import line_table, plan_lines
from geolookup_builder.sources.formats.vendor_values import known
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.products import Product, stated
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, lines_match
from geolookup_builder.sources.reading.text import encoding_option, line_layout, transcode

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
_PRODUCT = Product(
    "feed",
    (("network",),),
    {
        # "No location" in feeds older than the RFC.
        "country_code": known("country", missing="(?i:ZZ)"),
        "region_code": stated("region"),
        "city_name": stated("city"),
        "postal_code": stated("postal"),
    },
)


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    name = encoding_option(spec)
    plan = partial(plan_lines, product=_PRODUCT, pattern=_PATTERN, lines=_LAYOUT, clean=_unquote)
    return line_table(spec, (".csv", ".txt"), plan, lambda member: transcode(member, name))


def _unquote(texts: pa.Array) -> pa.Array:
    # (?s): a cell can hold a line break.
    bare = pc.replace_substring_regex(texts.cast(pa.string()), r'(?s)^"(.*)"$', r"\1")
    return pc.utf8_trim_whitespace(pc.replace_substring(bare, '""', '"'))


def _detect(opening: Opening) -> Detection | None:
    return (
        Detection("a feed") if lines_match(transcode(opening.start, None), _LAYOUT, _ROW) else None
    )


FORMAT = SourceFormat("geofeed", frozenset({"encoding"}), _read, _detect)
