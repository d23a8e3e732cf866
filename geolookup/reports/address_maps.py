"""The section on the addresses of one family: views of them on a Hilbert curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from geolookup.contract.address import BITS
from geolookup.pictures.address_map import AddressMap, address_map
from geolookup.pictures.address_space import View
from geolookup.pictures.map_picture import map_pictures
from geolookup.pictures.packing import pack_within
from geolookup.reports.section import Section

#: In the order in which they need each other: data, drawing, then the actions of a reader.
_VIEWER = ("curve", "texts", "ranges", "raster", "window", "overlay", "legend", "input", "viewer")
_SCRIPTS = (
    "page_data.js",
    "unpack.js",
    "gestures.js",
    "keys.js",
    "sizes.js",
    "shares.js",
    *(f"address_map/{name}.js" for name in _VIEWER),
)
#: The most characters of a map: a page must stay small enough to send and to open.
_LIMITS = {4: 4_550_000, 6: 870_000}


def address_map_section(views: Sequence[View], spare: int = 0) -> Section | None:
    """Return the map of views of one family; None if they know no address.

    ``spare`` is how many characters less than usual it may take.
    """
    whole = address_map(views)
    if not whole.space.blocks:
        return None
    fitting, data = pack_within(whole, _LIMITS[whole.space.family] - spare)
    name = f"ipv{fitting.space.family}"
    values = {
        "name": name,
        "family": f"IPv{fitting.space.family}",
        "source": f"{name}-map",
        "notes": list(_notes(fitting)),
    }
    return Section(
        name,
        f"IPv{fitting.space.family} address map",
        "address_map.html",
        values,
        data={f"{name}-map": data},
        scripts=_SCRIPTS,
        styles=("address_map.css",),
        pictures=map_pictures(whole),
    )


def _notes(fitting: AddressMap) -> Iterator[str]:
    space = fitting.space
    whole = BITS[space.family]
    if space.family == 6:
        yield (
            f"The map shows the {len(space.blocks):,} prefixes of /{whole - space.block_bits} that "
            "hold known addresses, in the order of their addresses."
        )
    if space.cell_bits:
        yield (
            f"A cell is a /{whole - space.cell_bits}. A cell with several answers "
            "shows the answer of its first address."
        )
    yield "A pixel with several ranges shows the range of its first cell."
