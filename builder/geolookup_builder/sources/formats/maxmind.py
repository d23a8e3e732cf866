"""MaxMind GeoLite2 and GeoIP2 CSV: Blocks files, joined to their Locations and providers.

Each file is identified by its columns. These are read by name, since their order has
changed over the years. Ids are looked up per distinct id of a batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from geolookup.errors import BuildError
from geolookup_builder.ranges import from_hexadecimal_pairs
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.maxmind_joins import Joins
from geolookup_builder.sources.formats.maxmind_products import HEXADECIMAL, PRODUCTS, RANGES
from geolookup_builder.sources.reading import delimited
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.plans import Planner, Reading, parse_range
from geolookup_builder.sources.reading.product_files import (
    PlannedFile,
    csv_header,
    declaration_hint,
    offered_columns,
    tables,
)
from geolookup_builder.sources.reading.products import Header, Product
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening

_NAME = "maxmind"
#: Columns of Blocks that no other format has.
_OWN = frozenset(
    {
        *("registered_country_geoname_id", "autonomous_system_number", "is_anonymous_vpn"),
        *("ip_risk", "static_ip_score", "ipv4_24", "anonymizer_confidence"),
    }
)
_NAMED = re.compile("geoip2|geoip-|geolite2", re.IGNORECASE)
_FAMILY = re.compile(r"ipv([46])", re.IGNORECASE)


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    planner, joins = Planner(spec), Joins(_locale(spec))
    blocks = list[tuple[Product, Member, Header]]()
    for member in members(spec.path, spec.base, (".csv",)):
        header = csv_header(member)
        if _range(header) is None:
            joins.add(member, header.names)
        else:
            blocks.append((_product(header), member, header))
    notes, files, offered = dict[str, None](), list[tuple[str, PlannedFile]](), list[str]()
    for product, member, header in blocks:
        reading = _plan(planner, product, member, header, joins)
        if reading.values:
            files.append((product.name, (delimited, member, reading)))
        else:
            notes[f"{product.name} ignored: no field holds it"] = None
            offered += reading.layout.offered
        if "isp_id" in header and not joins.has_providers:
            notes["Enterprise without its ISP file: providers are unknown"] = None
    if not files:
        problem = "; ".join(["no Blocks file that can be used", *notes])
        remedy = f"name other files{declaration_hint(offered)}"
        raise BuildError(spec.base / spec.path, problem, remedy=remedy)
    planner.check()
    yield from tables(spec, [product.name for product in PRODUCTS], files, [*notes])


def _locale(spec: SourceSpec) -> str:
    locale = spec.options.get("locale", "en")
    if not isinstance(locale, str) or not locale:
        remedy = 'write a language code, such as locale = "en"'
        raise BuildError(spec.recipe, f"source.locale is {locale!r}", remedy=remedy)
    return locale


def _range(header: Header) -> tuple[str, ...] | None:
    return next((ends for ends in RANGES if all(end in header for end in ends)), None)


def _product(header: Header) -> Product:
    """Return the first product that a file with a range is of."""
    product = next((product for product in PRODUCTS if product.fits(header)), None)
    if product is None:
        problem = f"no MaxMind product has the columns {header.text}"
        raise BuildError(header.label, problem, line=1, remedy="name other files")
    return product


def _plan(
    planner: Planner, product: Product, member: Member, header: Header, joins: Joins
) -> Reading:
    ends, family = _range(header) or (), _family(member)
    parse = from_hexadecimal_pairs if ends == HEXADECIMAL else parse_range
    product = replace(product, ranges=(ends,), parse=partial(parse, family=family))
    names = (*header.names, *joins.columns(header.names))
    reading = planner.plan(replace(header, names=names), product)
    layout = reading.layout
    own = layout.fields.intersection(header.names).union(joins.ids(header.names))
    joined = joins.tables(member, header.names, layout.fields.difference(header.names))
    layout = replace(layout, names=header.names, fields=own)
    return replace(reading, layout=layout, prepare=joined.extend)


def _family(member: Member) -> int | None:
    """Return the family in the file's name: ranges in integers do not show it."""
    match = _FAMILY.search(re.split(r"[/\\!]", member.label)[-1])
    return int(match[1]) if match else None


def _detect(opening: Opening) -> Detection | None:
    """Return a detection for columns that no other vendor has, or for this vendor's file names."""
    header = csv_header(opening.start)
    has_name = any(map(_NAMED.search, opening.member.file_names))
    ends = _range(header)
    if ends is None:
        is_joined_table = {"geoname_id", "locale_code"} <= {*header.names} or (
            header.names[:1] == ("isp_id",)
        )
        return Detection("tables of Blocks", has_name) if is_joined_table else None
    if not (has_name or ends != RANGES[0] or _OWN.intersection(header.names)):
        return None
    planner = Planner(opening.spec)
    found = planner.detection(header, _product(header), _NAME, has_own_name=has_name)
    return replace(found, reason=f"{found.reason} blocks")


FORMAT = SourceFormat(
    _NAME, frozenset({"locale", "columns"}), _read, _detect, offers=offered_columns(PRODUCTS)
)
