"""The sections on networks: the AS with the most addresses, and prefixes by their length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from geolookup.contract.fields import NETWORK
from geolookup.dataset.intervals import F64, I64, UNITS
from geolookup.errors import count_text
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, bars, histogram
from geolookup.reports.dataset.facts import Facts, KnownSpace, prefix_counts
from geolookup.reports.dataset.row_names import system_names, systems
from geolookup.reports.section import Section, Table, charts_section, counts_to_hide, pairs_section

#: So many AS have a row, and so many of these a bar.
_LISTED, _SHOWN = 50, 20
_NOTE = (
    "Share: of all known addresses. Prefixes: the fewest that hold the "
    "addresses of the AS and no others. IPv6 is counted in /64 networks."
)


@dataclass(frozen=True, slots=True)
class Systems:
    """n autonomous systems, those with most addresses first."""

    numbers: I64
    names: list[str]  # of the row with most addresses
    space: F64
    prefixes: I64


def networks_section(facts: Facts) -> Section:
    """Return bars and tables of the AS with the most addresses, by family."""
    by_family = [(space, per_system(facts, space)) for space in facts.space.values()]
    pairs = [(_chart(space, systems), _table(space, systems)) for space, systems in by_family]
    return pairs_section("networks", "Networks", _NOTE, pairs)


def per_system(facts: Facts, space: KnownSpace) -> Systems:
    """Return the known AS of one family."""
    networks = facts.tables[NETWORK]
    numbers, of_row = systems(networks)
    sums = np.bincount(of_row, space.networks.space, len(numbers)).astype(np.float64)
    prefixes = prefix_counts(facts.dataset, space.family, of_row)
    names = system_names(networks, of_row, space.networks.space)
    # Place 0, the rows without an AS, has the number 0 and is left out.
    order = [at for at in np.argsort(-sums, kind="stable").tolist() if numbers[at] and sums[at]]
    return Systems(numbers[order], [names[at] for at in order], sums[order], prefixes[order])


def _chart(space: KnownSpace, systems: Systems) -> Chart:
    family, shares = space.family, systems.space / (space.space or 1.0)
    labels = [
        f"AS{number} {name}" for number, name in zip(systems.numbers, systems.names, strict=True)
    ]
    values = list(zip(labels, shares.tolist(), strict=True))[:_SHOWN]
    title = f"AS by IPv{family} {UNITS[family]}"
    if space.space:
        title += f", {wording.percent(float(shares.sum()))} have an AS"
    head = f"share of known {UNITS[family]}"
    return bars(f"networks-ipv{family}", title, head, values, form=wording.percent, head="AS")


def _table(space: KnownSpace, systems: Systems) -> Table:
    unit = UNITS[space.family]
    rows = list(islice(_rows(systems, space.space), _LISTED))
    hidden = counts_to_hide(space.family, 2)
    caption = f"IPv{space.family}: {len(rows):,} of {len(systems.numbers):,} AS, by {unit}"
    return Table(caption, ("AS", "organization", unit, "share", "prefixes"), rows, (1,), hidden)


def _rows(systems: Systems, of: float) -> Iterator[tuple[str, ...]]:
    columns = (
        systems.numbers.tolist(),
        systems.names,
        systems.space.tolist(),
        systems.prefixes.tolist(),
    )
    for number, name, space, prefixes in zip(*columns, strict=True):
        yield (
            f"AS{number}",
            wording.name(name),
            wording.count(space),
            wording.percent(space / of),
            wording.count(prefixes),
        )


_LENGTHS_NOTE = (
    "An interval is a range of addresses with one answer. The charts count the fewest prefixes "
    "that make up the known intervals."
)


def prefix_lengths_section(facts: Facts) -> Section:
    """Return the number of prefixes of each length, by family."""
    charts = [_length_chart(space) for space in facts.space.values()]
    return charts_section("prefix-lengths", "Prefix lengths", _LENGTHS_NOTE, charts)


def _length_chart(space: KnownSpace) -> Chart:
    used = np.flatnonzero(space.lengths)
    lengths = range(used[0], used[-1] + 1) if len(used) else range(0)
    values = [(f"/{length}", int(space.lengths[length])) for length in lengths]
    family, total = space.family, int(space.lengths.sum())
    title = f"IPv{family}: {count_text(total, 'prefix', 'prefixes')} by length"
    return histogram(f"prefix-lengths-ipv{family}", title, "prefix length", "prefixes", values)
