"""Random sources: ranges that nest, overlap, touch and repeat, with sparse and bad cells.

Strategy: ends are drawn from windows of a few dozen addresses (ranges collide), laid where the
rules change: ends of a family's space, special-purpose blocks, and the edges of the space that
carries IPv4 addresses.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

from hypothesis import strategies as st

from tests.oracle import LAYERS, Address, OwnColumn, Restriction, Source, SourceRow

WINDOW = 40
_WINDOWS_IPV4 = (
    *("8.8.8.0", "8.8.8.0", "0.0.0.1", "0.255.255.240", "9.255.255.240", "192.0.0.0"),
    *("192.88.98.240", "192.88.99.0", "223.255.255.240", "239.255.255.240", "255.255.255.216"),
)
_WINDOWS_IPV6 = (
    *("2a00::", "2a00::ffff:ffff:ffff:fff0", "::ffff:8.8.8.0", "::ffff:8.8.8.0", "::"),
    *("::fffe:ffff:fff0", "::fffe:ffff:ffff:fff0", "::ffff:ffff:fff0", "64:ff9a:ffff:ffff::"),
    *("64:ff9b::8.8.8.0", "64:ff9b::ffff:fff0", "2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:0:0"),
    *("2001:ffff:ffff:ffff:ffff:ffff:ffff:fff0", "2002::", "2002:808:808::"),
    *("2002:ffff:ffff:ffff:ffff:ffff:ffff:fff0", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:fff0"),
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffd8",
)
CELLS: dict[str, tuple[str, ...]] = {
    "continent_code": ("EU", "AS", "OC", "AF", "XX"),
    "country_code": ("US", "DE", "CY", "SE", "ES", "AQ", "QQ"),
    "region_code": ("BE", "09", "X-1"),
    "region_name": ("Norr", 'a "b", c'),
    "city_name": ("A", "B", "Malmö\n2", "a\u2028b"),
    "postal_code": ("00501", "SW1A 1AA", "1e5", "10117"),
    "weather_code": ("GMXX0007", "0012", "é"),
    "latitude": ("1.5", "-0.0", "90", "0.1", "-33.8688", "2", "90.1", "north"),
    "longitude": ("1e-7", "-180", "9.25", "0", "181"),
    "time_zone": ("Europe/Berlin", "Asia/Nicosia", "Etc/UTC", "Mars/Dome"),
    "asn": ("1", "AS2", "0", "4294967295", "4294967296", "AS"),
    "asn_organization": ("One", "Two"),
    "isp": ("i", "j"),
    "organization": ("o", "p"),
    "connection_type": ("Mobile", "Dialup", "Warp"),
    "user_type": ("hosting", "business", "wizard"),
}


def _point(start: str) -> st.SearchStrategy[Address]:
    first = ip_address(start)
    # Not all windows are of one size: some end at the end of the space.
    return st.integers(0, WINDOW - 1).map(lambda offset: first + offset)


#: Where the ranges of one recipe lie: one or two windows (they collide), or all.
_PLACES: tuple[tuple[str, ...], ...] = (
    *[("8.8.8.0", "::ffff:8.8.8.0")] * 6,
    ("9.255.255.240", "::ffff:9.255.255.240"),
    *((window,) for window in (*_WINDOWS_IPV4, *_WINDOWS_IPV6)),
    *[(*_WINDOWS_IPV4, *_WINDOWS_IPV6)] * 6,
)
addresses = st.sampled_from(_PLACES[-1]).flatmap(_point)


@st.composite
def ranges(draw: st.DrawFn, windows: tuple[str, ...]) -> tuple[Address, Address]:
    """A range: within one window, from one to another, a prefix, or a number of /64 networks."""
    kind = draw(st.sampled_from(("window", "window", "window", "across", "prefix", "high")))
    window = draw(st.sampled_from(windows))
    one = draw(_point(window))
    if kind == "prefix":
        bits = (0, 0, 1, 2, 3, 5, 8, 12, 16, 31, 32, 33, 63, 64, 65, 128)
        return prefix(one, draw(st.sampled_from(bits)))
    if kind == "high" and one.version == 6:
        return high_range(one, draw(st.integers(0, 2)), draw(st.sampled_from((-1, 0, 1))))
    if kind == "across":
        same_family = [item for item in windows if (":" in item) == (":" in window)]
        other = draw(st.sampled_from(same_family).flatmap(_point))
    else:
        bound = type(one)((1 << one.max_prefixlen) - 1)
        other = type(one)(min(int(one) + draw(st.integers(0, 7)), int(bound)))
    first, last = sorted((int(one), int(other)))
    return type(one)(first), type(one)(last)


def prefix(address: Address, host_bits: int) -> tuple[Address, Address]:
    """The aligned range of 2 ** host_bits addresses around an address."""
    bits = min(host_bits, address.max_prefixlen)
    first = int(address) >> bits << bits
    return type(address)(first), type(address)(first | (1 << bits) - 1)


def high_range(address: Address, networks: int, more: int) -> tuple[Address, Address]:
    """From a multiple of 2 ** 64: so many and one more networks of /64, and some addresses."""
    first = int(address) >> 64 << 64
    last = min(first + (networks + 1 << 64) - 1 + more, (1 << 128) - 1)
    return type(address)(first), type(address)(last)


@st.composite
def sources(
    draw: st.DrawFn,
    windows: tuple[str, ...],
    most_rows: int = 24,
    cells: Mapping[str, tuple[str, ...]] = CELLS,
) -> Source:
    """A source with some columns; each row fills some of these."""
    columns = draw(st.lists(st.sampled_from(tuple(cells)), min_size=2, max_size=7, unique=True))
    row = st.builds(
        lambda ends, filled: SourceRow(ends[0], ends[1], {n: c for n, c in filled.items() if c}),
        ranges(windows),
        st.fixed_dictionaries(
            {name: st.sampled_from(("", "", *cells[name])) for name in sorted(columns)}
        ),
    )
    size = draw(st.integers(0, most_rows))  # plain lists would mostly be short
    rows = draw(st.lists(row, min_size=size, max_size=size))
    repeated = draw(st.lists(st.sampled_from(rows), max_size=3)) if rows else []
    fields = draw(st.none() | st.frozensets(st.sampled_from(columns), min_size=1))
    return Source([*rows, *repeated], fields)


@st.composite
def rows_within(
    draw: st.DrawFn, windows: Mapping[str, int], cells: st.SearchStrategy[dict[str, str]]
) -> SourceRow:
    """A row within one of some windows; of each, the number of its addresses is given."""
    window = draw(st.sampled_from(list(windows)))
    begin, end = sorted(draw(st.tuples(*[st.integers(0, windows[window] - 1)] * 2)))
    return SourceRow(ip_address(window) + begin, ip_address(window) + end, draw(cells))


def any_cells(cells: Mapping[str, tuple[str, ...]]) -> st.SearchStrategy[dict[str, str]]:
    """A text, or an empty one, for each column."""
    return st.fixed_dictionaries(
        {name: st.sampled_from(("", *texts)) for name, texts in cells.items()}
    )


def addresses_in(windows: Mapping[str, int]) -> list[Address]:
    """Every address of some windows."""
    return [ip_address(start) + at for start, size in windows.items() for at in range(size)]


#: The sources of a recipe, in the same windows.
recipes = st.sampled_from(_PLACES).flatmap(
    lambda windows: st.lists(sources(windows), min_size=1, max_size=3)
)


#: Conditions, by the layer that they are on.
_CONDITIONS: dict[str, list[dict[str, Any]]] = {
    "location": [
        {"location.country_code": ["DE", "US"]},
        {"location.country_name": "Germany"},
        {"location.continent_code": "EU"},
        {"location.country_is_eu": True},
        {"location.latitude>=": 1},
        {"location~": [1.5, 9.25, 500]},
        {"currency.code": "EUR"},
        {"time.zone": ["Europe/Berlin", "Etc/UTC"]},
        {"not": {"location.country_code": "DE"}},
        {"location.city_name^=": "A"},
    ],
    "asn": [{"network.asn": [1, 2]}, {"network.asn>": 1}],
    "isp": [{"network.isp": "i"}, {"not": {"network.isp": "i"}}],
    "user_type": [{"network.user_type": "hosting"}],
}
_NETWORKS = (
    *("8.8.8.0/28", "8.8.8.8/29", "8.8.8.16/28", "0.0.0.0/0", "192.0.0.0/8", "8.8.8.5/32"),
    *("2a00::/124", "2a00::/64", "::/0", "2001::/23", "::ffff:8.8.8.0/120"),
)


@st.composite
def restrictions(draw: st.DrawFn, fields: frozenset[str] | None) -> Restriction:
    """A restriction whose conditions are on layers that the source keeps."""
    listed = [
        condition
        for layer, conditions in _CONDITIONS.items()
        for condition in conditions
        if fields is None or fields.intersection(LAYERS[layer])
    ]
    conditions = draw(st.lists(st.sampled_from(listed), max_size=2)) if listed else []
    networks = st.lists(st.sampled_from(_NETWORKS), min_size=1, max_size=3).map(tuple)
    return Restriction(
        {key: value for condition in conditions for key, value in condition.items()},
        draw(st.sampled_from(((4, 6), (4, 6), (4,), (6,)))),
        draw(st.none() | networks),
    )


@st.composite
def _restricted(draw: st.DrawFn, listed: list[Source]) -> list[Source]:
    return [
        replace(source, restriction=draw(st.none() | restrictions(source.fields)))
        for source in listed
    ]


#: Recipes of which some sources are restricted.
restricted_recipes = recipes.flatmap(_restricted)


#: Cells of own columns by type, some of them bad.
OWN_CELLS: dict[str, tuple[str, ...]] = {
    "text": ("a", "B b", 'ü "q"\\', "[x]"),
    "integer": ("1", "-7", "007", str(2**63 - 1), str(-(2**63)), str(2**63), "1.5"),
    "real": ("0.5", "-0.0", "1e300", "10000000000", "12345678901.25", "1e-7", "1e999", "x"),
    "boolean": ("true", "No", "1", "maybe"),
    "texts": (
        *("a;b", " a ; ;ü", ";", "[]", '["x;y", "q\\"", 1]', '["b", "", null, true]'),
        *("[broken", '[["a"]]', '["\\ud800"]'),
    ),
}
_NAMES = ("site_id", "risk", "is_vpn", "tags", "share")


@st.composite
def own_columns(draw: st.DrawFn) -> list[OwnColumn]:
    """Columns of any types, some in groups; all columns of a group are private, or none."""
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=1, unique=True))
    private = {group: draw(st.booleans()) for group in ("one", "two")}
    columns = []
    for name in names:
        group = draw(st.sampled_from(("", "", *private)))
        is_private = private[group] if group else draw(st.booleans())
        columns.append(OwnColumn(name, draw(st.sampled_from([*OWN_CELLS])), group, is_private))
    return columns


@st.composite
def own_recipes(draw: st.DrawFn) -> tuple[list[OwnColumn], list[Source]]:
    """Own columns, and sources that state some of them beside other fields."""
    columns, windows = draw(own_columns()), draw(st.sampled_from(_PLACES))
    cells = {
        "country_code": CELLS["country_code"],
        "isp": CELLS["isp"],
        **{f"own.{column.name}": OWN_CELLS[column.type] for column in columns},
    }
    listed = draw(st.lists(sources(windows, 24, cells), min_size=1, max_size=3))
    return columns, [
        replace(source, restriction=draw(st.none() | restrictions(frozenset())))
        for source in listed
    ]


def as_csv(source: Source) -> str:
    """The generic CSV of a source; every other row states its ends as integers."""
    stated = {name for row in source.rows for name in row.cells}
    halves = {"latitude", "longitude"}  # a file has both or none
    names = sorted(stated | halves if stated & halves else stated)
    stream = io.StringIO(newline="")
    out = csv.writer(stream)
    out.writerow(["first", "last", *names])
    for number, row in enumerate(source.rows):
        ends = [_end(end, number) for end in (row.first, row.last)]
        out.writerow([*ends, *(row.cells.get(name, "") for name in names)])
    return stream.getvalue()


def _end(address: Address, number: int) -> Any:
    """Integers below 2 ** 32 are IPv4, so small IPv6 addresses are written as text."""
    small = isinstance(address, IPv6Address) and int(address) < 1 << 32
    return str(address) if number % 2 or small else int(address)


def recipe(listed: list[Source], columns: Sequence[OwnColumn] = ()) -> str:
    """The recipe that names source 0.csv, 1.csv … in order."""
    text = '[dataset]\nname = "random"\n' + "[columns]\n" * bool(columns)
    for column in columns:
        private = str(column.private).lower()
        group = f', group = "{column.group}"' if column.group else ""
        text += f'{column.name} = {{ type = "{column.type}", private = {private}{group} }}\n'
    for number, source in enumerate(listed):
        text += f'[[source]]\nformat = "csv"\npath = "{number}.csv"\n'
        if source.fields is not None:
            text += f"fields = {sorted(source.fields)}\n"
        if source.restriction is not None:
            text += source_keys(source.restriction)
    return text


def source_keys(kept: Restriction) -> str:
    """The keys of a source that restrict it."""
    lines = [f"families = {list(kept.families)}"]
    if kept.only:
        lines.append(f"only = {_inline(kept.only)}")
    if kept.within is not None:
        lines.append(f"within = {list(kept.within)}")
    return "\n".join(lines) + "\n"


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(k)} = {_inline(v)}' for k, v in value.items())} }}"
    return json.dumps(value)


def edges(listed: list[Source]) -> set[Address]:
    """First - 1, first, last, last + 1 of every range, both as stated and as IPv4-mapped."""
    result: set[Address] = set()
    for row in (row for source in listed for row in source.rows):
        space = 1 << row.first.max_prefixlen
        for end in (int(row.first) - 1, int(row.first), int(row.last), int(row.last) + 1):
            if 0 <= end < space:
                result.add(type(row.first)(end))
    return result | {_mapped(item) for item in result if isinstance(item, IPv4Address)}


def _mapped(address: IPv4Address) -> IPv6Address:
    return IPv6Address(int(address) | 0xFFFF << 32)
