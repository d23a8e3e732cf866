"""Which prefix has which location and network: by Zipf's law, and like its neighbours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.data.prefixes import Prefixes
from benchmarks.data.records import I64, Bools, Listing

#: How a record comes by its location: the block's own, the one of the record before, any other.
_PLACE_SHARES = (0.3, 0.3, 0.4)
_NETWORK_SHARES = (0.7, 0.15, 0.15)


def sample(
    rng: np.random.Generator, families: Sequence[Prefixes], locations: Listing, networks: Listing
) -> list[tuple[I64, I64]]:
    """Return the location and network of every prefix, by family.

    All locations and networks are used, and prefixes that touch differ unless
    they are marked as the same.
    """
    fresh = [~family.same for family in families]
    blocks = [family.block[new] for family, new in zip(families, fresh, strict=True)]
    touches = np.concatenate(
        [~family.gap[new] for family, new in zip(families, fresh, strict=True)]
    )
    draws = [_per_block(rng, block, locations, networks) for block in blocks]
    location = np.concatenate([draw[0] for draw in draws])
    network = np.concatenate([draw[1] for draw in draws])
    _use_all(rng, location, len(locations.texts))
    _use_all(rng, network, len(networks.texts))
    _separate(rng, touches, location, network, len(locations.texts))
    samples, begin = [], 0
    for new in fresh:
        record = begin + np.cumsum(new) - 1
        samples.append((location[record], network[record]))
        begin += int(new.sum())
    return samples


def sample_one(
    rng: np.random.Generator, families: Sequence[Prefixes], listing: Listing
) -> list[I64]:
    """Return which row of one listing every prefix has, by family; all rows are used.

    Prefixes that touch may be equal, as in vendors' files.
    """
    fresh = [~family.same for family in families]
    countries = len(listing.begin) - 1
    draws = []
    for family, new in zip(families, fresh, strict=True):
        country = _ranks(rng, np.full(int(family.block[-1]) + 1, countries))
        home = listing.begin[country] + _ranks(rng, np.diff(listing.begin)[country])
        draws.append(_draw(rng, family.block[new], country, listing, home, _PLACE_SHARES))
    together = np.concatenate(draws)
    _use_all(rng, together, len(listing.texts))
    records = np.split(together, [len(draws[0])])
    return [record[np.cumsum(new) - 1] for record, new in zip(records, fresh, strict=True)]


def _per_block(
    rng: np.random.Generator, block: I64, locations: Listing, networks: Listing
) -> tuple[I64, I64]:
    """Draw a record for each entry of ``block``, the number of its block."""
    countries = len(locations.begin) - 1
    country = _ranks(rng, np.full(int(block[-1]) + 1, countries))
    home_location = locations.begin[country] + _ranks(rng, np.diff(locations.begin)[country])
    home_network = networks.begin[country] + _ranks(rng, np.diff(networks.begin)[country])
    return (
        _draw(rng, block, country, locations, home_location, _PLACE_SHARES),
        _draw(rng, block, country, networks, home_network, _NETWORK_SHARES),
    )


def _draw(
    rng: np.random.Generator,
    block: I64,
    country: I64,
    listing: Listing,
    home: I64,
    shares: tuple[float, float, float],
) -> I64:
    how = rng.choice(3, len(block), p=shares)
    countries = country[block]
    other = listing.begin[countries] + _ranks(rng, np.diff(listing.begin)[countries])
    value = np.where(how == 0, home[block], other)
    how[0] = 0
    source = np.maximum.accumulate(np.where(how == 1, 0, np.arange(len(block))))
    return value[source]


def _ranks(rng: np.random.Generator, size: I64) -> I64:
    """Draw a log-uniform rank below each size."""
    return np.minimum((size + 1.0) ** rng.random(len(size)), size).astype(np.int64) - 1


def _use_all(rng: np.random.Generator, draws: I64, count: int) -> None:
    """Replace repeated draws by records that were never drawn."""
    used, first = np.unique(draws, return_index=True)
    missing = np.setdiff1d(np.arange(count), used)
    spare = np.delete(np.arange(len(draws)), first)
    draws[rng.choice(spare, len(missing), replace=False)] = missing


def _separate(
    rng: np.random.Generator, touches: Bools, location: I64, network: I64, count: int
) -> None:
    """Move records that equal the one they touch; that one keeps the location in use."""
    while True:
        equal = touches.copy()
        equal[1:] &= (location[1:] == location[:-1]) & (network[1:] == network[:-1])
        if not equal[1:].any():
            return
        location[equal] = rng.integers(0, count, int(equal.sum()))
