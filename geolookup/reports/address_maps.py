"""The section on the addresses of one family: views of them on a Hilbert curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from geolookup.contract.address import BITS
from geolookup.pictures.address_map import AddressMap, address_map
from geolookup.pictures.packing import packed
from geolookup.pictures.views import View
from geolookup.reports.section import Section

_SCRIPTS = ("inflate.js", "unpack.js")


def address_map_section(views: Sequence[View]) -> Section | None:
    """Return the map of views of one family; None where they know no address."""
    shown = address_map(views)
    if not shown.space.blocks:
        return None
    name = f"ipv{shown.space.family}"
    values = {
        "name": name,
        "family": f"IPv{shown.space.family}",
        "source": f"{name}-map",
        "notes": list(_notes(shown)),
    }
    data = {f"{name}-map": packed(shown)}
    title = f"The addresses of IPv{shown.space.family}"
    return Section(name, title, "address_map.html", values, data, _SCRIPTS)


def _notes(shown: AddressMap) -> Iterator[str]:
    space = shown.space
    whole = BITS[space.family]
    if space.family == 6:
        yield (
            f"The map shows the {len(space.blocks):,} networks of /{whole - space.block_bits} in "
            "which anything is known, one after the other in the order of their addresses."
        )
    if space.cell_bits:
        yield (
            f"A cell is a /{whole - space.cell_bits}. Where it has several answers, it shows that "
            "of its first address."
        )
    yield "A pixel with several ranges shows the one that holds its first cell."
