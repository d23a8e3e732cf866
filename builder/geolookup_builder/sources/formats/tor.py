"""Exit addresses of Tor: the bulk list, an address a line, and the exit-addresses file.

In the second each relay has a few lines; ``ExitAddress`` states an address that it
was seen to connect. Format: https://2019.www.torproject.org/tordnsel/exitlist-spec.txt
"""

from __future__ import annotations

import re
from functools import partial

from geolookup_builder.sources.formats.lines import line_table, plan_lines
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.product_files import offered_columns
from geolookup_builder.sources.reading.products import ALWAYS, Offer, Product
from geolookup_builder.sources.reading.reader import SourceFormat
from geolookup_builder.sources.reading.sniffing import Detection, Opening, lines_match
from geolookup_builder.sources.reading.stated_dates import in_first_lines
from geolookup_builder.sources.reading.text import line_layout

#: Lines about a relay or the list; of an exit only the address has a field.
_LAYOUT = line_layout("[ \t]*#", "@type ", "Downloaded ", "ExitNode ", "Published ", "LastStatus ")
#: "ExitAddress 1.2.3.4 2026-01-31 12:00:00" -> "1.2.3.4"; also a plain address.
_PATTERN = r"^\s*(?:ExitAddress\s+)?(?P<address>[^\s/]+)(?:\s+[0-9-]{10} [0-9:]{8})?\s*$"
_EXIT = re.compile(rf"ExitAddress\s+({sniffing.ADDRESS.pattern})\s.*")
_ADDRESS = re.compile(rf"\s*({sniffing.ADDRESS.pattern})\s*")
_NAME = re.compile(r"(tor[-_]?(bulk)?[-_]?exit|exit[-_]addresses)", re.IGNORECASE)
_PRODUCT = Product(
    "exits",
    (("address",),),
    {"user_type": Offer(constant="consumer_privacy_network"), "is_tor": ALWAYS},
)
_PLAN = partial(plan_lines, product=_PRODUCT, pattern=_PATTERN, lines=_LAYOUT)


def _detect(opening: Opening) -> Detection | None:
    if lines_match(opening.start, _LAYOUT, _EXIT):
        return Detection("exit addresses", has_own_name=True)
    has_list_name = any(_NAME.match(name) for name in opening.member.file_names)
    is_list = has_list_name and lines_match(opening.start, _LAYOUT, _ADDRESS)
    return Detection("bulk exit list", has_own_name=True) if is_list else None


#: "Downloaded 2026-01-31 12:00:00", before the lists that are archived.
_DATE = in_first_lines(r"(?m)^Downloaded ([0-9]{4}-[0-9]{2}-[0-9]{2})")
FORMAT = SourceFormat(
    "tor",
    frozenset(),
    partial(line_table, suffixes=("",), plan=_PLAN),
    _detect,
    _DATE,
    offered_columns([_PRODUCT]),
)
