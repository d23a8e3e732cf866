"""The tables of the page about fleets: ``python -m tests.docs.fleet_figures`` prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

FLEETS = (300, 3_000, 30_000)
#: Bytes of archives and of the index.
PACK, DELTA, INDEX = 34_600_000, 330_000, 5_000
#: Seconds between polls and seconds that a cache keeps the index; places where a CDN caches.
EVERY, MAX_AGE, PLACES = 300, 30, 50
DAY = 86_400
Row = Sequence[str]


def values() -> Iterable[Row]:
    """What the other tables are computed from."""
    yield ("value", "assumption")
    yield ("pack of a city set of 3.7 million intervals", size(PACK))
    yield ("delta of 1 % changed rows", size(DELTA))
    yield ("index after a change", size(INDEX))
    yield ("time between two polls (`--every 5m`)", f"{EVERY} s")
    yield ("time for which a cache keeps the index", f"{MAX_AGE} s")
    yield ("places where the CDN has a cache", str(PLACES))


def origin() -> Iterable[Row]:
    """What an origin sends without a CDN."""
    yield ("traffic", *(f"{edges:,} edges" for edges in FLEETS))
    yield ("polls per second", *_measurement(lambda edges: f"{edges / EVERY:,.0f}"))
    yield ("deltas of a generation", *_measurement(lambda edges: size(edges * (DELTA + INDEX))))
    yield ("packs of a generation", *_measurement(lambda edges: size(edges * (PACK + INDEX))))
    yield (
        "rate while deltas are fetched",
        *_measurement(lambda edges: rate(edges * DELTA / EVERY)),
    )
    yield ("rate while packs are fetched", *_measurement(lambda edges: rate(edges * PACK / EVERY)))


def cdn() -> Iterable[Row]:
    """What the origin behind a CDN sends: it depends on the places, not on the edges."""
    yield ("caches", "requests for the index, a day", "deltas of a generation", "a pack everywhere")
    for name, places in ((f"{PLACES} places", PLACES), ("one shield before the origin", 1)):
        requests = f"{places * DAY / MAX_AGE:,.0f}"
        yield (name, requests, size(places * DELTA), size(places * PACK))


def size(count: float) -> str:
    """Return bytes in a decimal unit, with three digits."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def rate(bytes_per_second: float) -> str:
    """Return bytes per second in a decimal unit."""
    return f"{size(bytes_per_second)}/s"


def _measurement(of: Callable[[int], str]) -> list[str]:
    return [of(edges) for edges in FLEETS]


def markdown(rows: Iterable[Row]) -> str:
    """Return rows under their header as a table of a page."""
    header, *remainder = rows
    lines = [header, ["---"] * len(header), *remainder]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


TABLES = (values, origin, cdn)

if __name__ == "__main__":
    for table in TABLES:
        print(f"{markdown(table())}\n")
