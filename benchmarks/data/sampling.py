"""Which prefix has which location and network: by Zipf's law, and like its neighbours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.data.prefixes import Prefixes
from benchmarks.data.records import I64, Bools, Listing

#: How a record comes by its location: the block's own, that of the record before, any other.
_PLACE_SHARES = (0.3, 0.3, 0.4)
_NETWORK_SHARES = (0.7, 0.15, 0.15)


def sample(
    rng: np.random.Generator, families: Sequence[Prefixes], places: Listing, networks: Listing
) -> list[tuple[I64, I64]]:
    """Return the location and network of every prefix, by family.

    All locations and networks are used, and prefixes that touch differ unless
    they are marked as the same.
    """
    fresh = [~each.same for each in families]
    blocks = [each.block[new] for each, new in zip(families, fresh, strict=True)]
    touching = np.concatenate([~each.gap[new] for each, new in zip(families, fresh, strict=True)])
    drawn = [_per_block(rng, block, places, networks) for block in blocks]
    place = np.concatenate([each[0] for each in drawn])
    network = np.concatenate([each[1] for each in drawn])
    _use_all(rng, place, len(places.texts))
    _use_all(rng, network, len(networks.texts))
    _separate(rng, touching, place, network, len(places.texts))
    found, begin = [], 0
    for new in fresh:
        record = begin + np.cumsum(new) - 1
        found.append((place[record], network[record]))
        begin += int(new.sum())
    return found


def sample_one(
    rng: np.random.Generator, families: Sequence[Prefixes], listing: Listing
) -> list[I64]:
    """Return which row of one listing every prefix has, by family; all rows are used.

    Prefixes that touch may be equal, as they are in what vendors deliver.
    """
    fresh = [~each.same for each in families]
    countries = len(listing.begin) - 1
    drawn = []
    for each, new in zip(families, fresh, strict=True):
        country = _ranks(rng, np.full(int(each.block[-1]) + 1, countries))
        home = listing.begin[country] + _ranks(rng, np.diff(listing.begin)[country])
        drawn.append(_drawn(rng, each.block[new], country, listing, home, _PLACE_SHARES))
    together = np.concatenate(drawn)
    _use_all(rng, together, len(listing.texts))
    records = np.split(together, [len(drawn[0])])
    return [each[np.cumsum(new) - 1] for each, new in zip(records, fresh, strict=True)]


def _per_block(
    rng: np.random.Generator, block: I64, places: Listing, networks: Listing
) -> tuple[I64, I64]:
    """Draw a record for each entry of ``block``, which says the block it stands in."""
    countries = len(places.begin) - 1
    country = _ranks(rng, np.full(int(block[-1]) + 1, countries))
    home_place = places.begin[country] + _ranks(rng, np.diff(places.begin)[country])
    home_network = networks.begin[country] + _ranks(rng, np.diff(networks.begin)[country])
    return (
        _drawn(rng, block, country, places, home_place, _PLACE_SHARES),
        _drawn(rng, block, country, networks, home_network, _NETWORK_SHARES),
    )


def _drawn(
    rng: np.random.Generator,
    block: I64,
    country: I64,
    listing: Listing,
    home: I64,
    shares: tuple[float, float, float],
) -> I64:
    how = rng.choice(3, len(block), p=shares)
    chosen = country[block]
    other = listing.begin[chosen] + _ranks(rng, np.diff(listing.begin)[chosen])
    value = np.where(how == 0, home[block], other)
    how[0] = 0
    source = np.maximum.accumulate(np.where(how == 1, 0, np.arange(len(block))))
    return value[source]


def _ranks(rng: np.random.Generator, size: I64) -> I64:
    """Draw a log-uniform rank below each size."""
    return np.minimum((size + 1.0) ** rng.random(len(size)), size).astype(np.int64) - 1


def _use_all(rng: np.random.Generator, drawn: I64, count: int) -> None:
    """Put what was never drawn in places of what was drawn more than once."""
    used, first = np.unique(drawn, return_index=True)
    missing = np.setdiff1d(np.arange(count), used)
    spare = np.delete(np.arange(len(drawn)), first)
    drawn[rng.choice(spare, len(missing), replace=False)] = missing


def _separate(
    rng: np.random.Generator, touching: Bools, place: I64, network: I64, places: int
) -> None:
    """Move records that equal the one they touch; that one keeps the location in use."""
    while True:
        equal = touching.copy()
        equal[1:] &= (place[1:] == place[:-1]) & (network[1:] == network[:-1])
        if not equal[1:].any():
            return
        place[equal] = rng.integers(0, places, int(equal.sum()))
