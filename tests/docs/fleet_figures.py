"""The tables of the page about fleets: ``python -m tests.docs.fleet_figures`` prints them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

FLEETS = (300, 3_000, 30_000)
#: Bytes; ``UNCHANGED`` and ``INDEX`` are answers to polls.
PACK, DELTA, UNCHANGED, INDEX = 34_600_000, 330_000, 500, 5_000
#: Seconds between polls and seconds that a cache keeps the index; places where a CDN caches.
EVERY, MAX_AGE, PLACES = 300, 30, 50
#: The share of failed requests that the simulation of the fleet has.
LOST = 0.04
DAY, YEAR = 86_400, 365.25 * 86_400
#: The seconds of a year in which a service of 99.99 % may fail.
BUDGET = YEAR / 10_000
#: Rows per second of one core of Spark: half of the measured rate on two.
SPARK = 3_310_000 / 2
Row = Sequence[str]


def values() -> Iterable[Row]:
    """What the other tables are computed from."""
    yield ("value", "is")
    yield ("pack of a city set of 3.7 million intervals", size(PACK))
    yield ("delta of 1 % changed rows", size(DELTA))
    yield ("answer to a poll without a change, its headers included", size(UNCHANGED))
    yield ("index after a change", size(INDEX))
    yield ("time between two polls (`--every 5m`)", f"{EVERY} s")
    yield ("time for which a cache keeps the index", f"{MAX_AGE} s")
    yield ("places where the CDN has a cache", str(PLACES))
    yield ("share of polls that fail", percent(LOST, 0))


def origin() -> Iterable[Row]:
    """What an origin sends without a CDN, for a generation and for the polls of a day."""
    yield ("", *(f"{edges:,} edges" for edges in FLEETS))
    yield ("polls per second", *_measurement(lambda edges: f"{edges / EVERY:,.0f}"))
    yield ("polls of a day", *_measurement(lambda edges: size(edges * DAY / EVERY * UNCHANGED)))
    yield ("deltas of a generation", *_measurement(lambda edges: size(edges * (DELTA + INDEX))))
    yield ("packs of a generation", *_measurement(lambda edges: size(edges * (PACK + INDEX))))
    yield (
        "rate while deltas are fetched",
        *_measurement(lambda edges: rate(edges * DELTA / EVERY)),
    )
    yield ("rate while packs are fetched", *_measurement(lambda edges: rate(edges * PACK / EVERY)))


def cdn() -> Iterable[Row]:
    """What the origin behind a CDN sends: it depends on the places, not on the edges."""
    yield ("", "requests for the index, a day", "deltas of a generation", "a pack everywhere")
    for name, places in ((f"{PLACES} places", PLACES), ("one shield before the origin", 1)):
        requests = f"{places * DAY / MAX_AGE:,.0f}"
        yield (name, requests, size(places * DELTA), size(places * PACK))


def staggering() -> Iterable[Row]:
    """The polls that arrive in one second."""
    yield ("polls in a second", *(f"{edges:,} edges" for edges in FLEETS))
    yield ("mean", *_measurement(lambda edges: f"{edges / EVERY:,.0f}"))
    yield ("exceeded in one second of 10,000", *_measurement(lambda edges: f"{most(edges):,}"))
    yield ("all at the full minute", *_measurement(lambda edges: f"{edges:,}"))


def failures() -> Iterable[Row]:
    """Edges whose polls fail so often in a row, and how late these are."""
    yield ("failed polls in a row", "late by", *(f"{edges:,} edges" for edges in FLEETS))
    late = 0.0
    for polls in (1, 2, 3, 4):
        late += min(EVERY, EVERY / 10 * 2 ** (polls - 1))
        failed = [f"{edges * LOST**polls:,.2f}" for edges in FLEETS]
        yield (str(polls), f"{late:,.0f} s", *failed)


def budget() -> Iterable[Row]:
    """What share of a year's budget an event costs, by the share of the edges that it reaches."""
    yield ("event", "minutes", "share of the edges", "share of the budget of a year")
    for event, minutes, share in (
        ("the mirror, or a follower, is down for a day", 0, 1.0),
        ("a generation is installed", 0, 1.0),
        ("the only worker of each edge dies and starts again", 5 / 60, 1.0),
        ("a bad generation, noticed after 10 minutes, left within two polls", 20, 1.0),
        ("the same, at one edge of a hundred first", 20, 0.01),
        ("one edge of 300 is down for a day", 1440, 1 / 300),
    ):
        cost = minutes * 60 * share / BUDGET
        yield (
            event,
            f"{minutes:,.2g}" if minutes < 1 else f"{minutes:,}",
            percent(share, 2),
            percent(cost, 1),
        )


def whole_tables() -> Iterable[Row]:
    """How long the rows of a table take at the rate that Spark has on two cores, by cores."""
    yield ("rows", "2 cores", "64 cores", "1,000 cores")
    for exponent in (7, 9, 11, 12):
        seconds = 10**exponent / SPARK
        yield (f"10^{exponent}", *(duration(seconds / cores) for cores in (2, 64, 1000)))


def most(edges: int) -> int:
    """Return the polls in a second that only one second of 10,000 exceeds."""
    return quantile(edges / EVERY, 0.9999)


def quantile(mean: float, share: float) -> int:
    """Return the least k with P(X <= k) >= share, of Poisson's distribution."""
    chance = total = math.exp(-mean)
    k = 0
    while total < share:
        k += 1
        chance *= mean / k
        total += chance
    return k


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


def percent(share: float, digits: int) -> str:
    return f"{share * 100:.{digits}f} %"


def duration(seconds: float) -> str:
    """Return seconds in the unit of their magnitude, with two digits."""
    for unit, length in (("d", DAY), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds:.2g} s"


def _measurement(of: Callable[[int], str]) -> list[str]:
    return [of(edges) for edges in FLEETS]


def markdown(rows: Iterable[Row]) -> str:
    """Return rows under their header as a table of a page."""
    header, *remainder = rows
    lines = [header, ["---"] * len(header), *remainder]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


TABLES = (values, origin, cdn, staggering, failures, budget, whole_tables)

if __name__ == "__main__":
    for table in TABLES:
        print(f"{markdown(table())}\n")
