"""Demands of ``[quality]`` beside the oracle, which looks at one address after another.

Strategy: a value changes only where a row or a special-purpose block begins or ends. So the oracle
resolves one address of each such part of the space; a network has a value if all its parts have it.
"""

from __future__ import annotations

from bisect import bisect_right
from decimal import ROUND_FLOOR, Context, Decimal
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from itertools import chain
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.internals.builder import Demand, Table, read_quality
from tests.internals.builder import demands_check as check
from tests.internals.contract import BITS, BITS_AFTER_IPV4, CONTRACT, PUBLIC, partition, ranges_of
from tests.internals.dataset import Network
from tests.oracle import Address, Source, carried, expected
from tests.prefixes.brute_force import meets
from tests.property.compiled import opened
from tests.range_strategies import addresses, edges, prefix, recipes
from tests.tiers import scaled

_PERCENT = Context(prec=60, rounding=ROUND_FLOOR)
VALUES: dict[str, list[Any]] = {
    "location.country_code": ["US", "DE", "CY"],
    "location.country_neighbors": ["CA", "ES", "PL"],
    "location.city_name": ["A", "B"],
    "location.latitude": [1.5, 90.0, 0.1],
    "currency.code": ["EUR", "USD"],
    "network.asn": [1, 2],
    "network.isp": ["i", "j"],
    "network.user_type": ["hosting", "business"],
}


CARRYING = [ip_network(block) for block in ("::ffff:0:0/96", "2002::/16", "64:ff9b::/96")]
_HOST_BITS = (0, 0, 1, 2, 3, 4, 5, 8, 12, 16, 24, 31, 32, 33, 80, 96, 112, 128)


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """A network of any size around an address where answers of different kinds meet."""
    address, bits = draw(addresses), draw(st.sampled_from(_HOST_BITS))
    length = max(address.max_prefixlen - bits, 0)
    network = ip_network(f"{prefix(address, bits)[0]}/{length}")
    if network.version == 6 and any(network.overlaps(block) for block in CARRYING):
        return ip_network(carried(address))  # a recipe refuses IPv6 networks with IPv4 in them
    return network


class Brute:
    """The answers of the oracle, by part of the space."""

    def __init__(self, listed: list[Source]) -> None:
        starts: dict[int, set[int]] = {f: {part[0] for part in partition(f)} for f in (4, 6)}
        for address in {*edges(listed), *map(carried, edges(listed))}:
            starts[address.version].add(int(address))
        for block, shift in BITS_AFTER_IPV4.items():
            starts[6] |= {block | start << shift for start in starts[4]}
        self.starts = {family: sorted(starts[family]) for family in starts}
        self.answers: dict[Address, Any] = {}
        self.listed = listed

    def answer(self, address: Address) -> Any:
        if address not in self.answers:
            self.answers[address] = expected(self.listed, str(address))
        return self.answers[address]

    def values(self, address: Address, path: str) -> list[Any]:
        """The value of a field, or the items of a list; none if it is unknown."""
        group, _, member = path.partition(".")
        value = (self.answer(address) or {group: {}})[group].get(member)
        return value if isinstance(value, list) else [] if value is None else [value]

    def is_met(self, address: Address, path: str, values: list[Any]) -> bool:
        answer = self.answer(address)
        return not values if answer is None else meets(answer, {path: values or None})

    def parts(self, network: Network) -> list[Address]:
        """The first address of a network, and all at which another part begins in it."""
        starts, kind = self.starts[network.version], type(network[0])
        inside = slice(
            bisect_right(starts, int(network[0])), bisect_right(starts, int(network[-1]))
        )
        return [network[0], *(kind(start) for start in starts[inside])]


def checked(dataset: str, quality: dict[str, Any]) -> list[Demand]:
    recipe = Path("recipe.toml")
    demands = read_quality(Table(recipe, "", {"quality": quality}), CONTRACT)
    return check(demands, recipe, Path(dataset), None, [])


questions = st.sampled_from(sorted(VALUES)).flatmap(
    lambda path: st.tuples(st.just(path), st.lists(st.sampled_from(VALUES[path]), max_size=2))
)


@settings(max_examples=scaled(3, 15), suppress_health_check=list(HealthCheck))
@given(recipes, st.lists(st.tuples(networks(), questions), min_size=24, max_size=24))
def test_expected_answers(listed: list[Source], asked: list[Any]) -> None:
    brute = Brute(listed)
    items = [(network, path, values) for network, (path, values) in asked]
    # Also the values of the first address: a wide network may have them everywhere.
    items += [(network, path, brute.values(network[0], path)) for network, path, _ in items]
    expect = [[str(n), path, *([values] if values else [])] for n, path, values in items]
    with opened(listed) as engine:
        demands = checked(str(engine.path), {"expect": expect})
    for (network, path, values), demand in zip(items, demands, strict=True):
        wrong = [a for a in brute.parts(network) if not brute.is_met(a, path, values)]
        assert demand.is_met is (not wrong), demand
        if wrong:
            observed = ip_address(demand.observed.rpartition(" at ")[2])
            assert observed in (wrong[0], *map(carried, wrong)), demand


def is_known(answer: dict[str, Any]) -> bool:
    groups = (answer[group].values() for group in ("location", "currency", "network"))
    return any(value is not None for value in (answer["zone"], *chain.from_iterable(groups)))


@settings(max_examples=scaled(3, 10), suppress_health_check=list(HealthCheck))
@given(recipes)
def test_floors_of_coverage(listed: list[Source]) -> None:
    brute, counts = Brute(listed), dict[str, tuple[int, int]]()
    for family, kind in ((4, IPv4Address), (6, IPv6Address)):
        of, known = 0, dict.fromkeys(VALUES, 0)
        starts = brute.starts[family]
        for first, after in zip(starts, [*starts[1:], 1 << BITS[family]], strict=True):
            if not any(a <= first <= b for a, b in ranges_of(family, PUBLIC)):
                continue
            answer, size = brute.answer(kind(first)), after - first
            of += size * (family == 4 or is_known(answer))
            for path in VALUES:
                known[path] += size * (not meets(answer, {path: None}))
        counts |= {f"ipv{family}.{path}": (count, of) for path, count in known.items()}
    # The exact share is met, a little more is not.
    shares = {
        key: _PERCENT.divide(100 * count, Decimal(of or 1)) for key, (count, of) in counts.items()
    }
    above = {
        key: _PERCENT.add(share, Decimal("1e-45")) for key, share in shares.items() if share < 100
    }
    with opened(listed) as engine:
        for floors, is_met in ((shares, True), (above, False)):
            texts = {key: f"{share.normalize(_PERCENT):f}%" for key, share in floors.items()}
            demands = checked(str(engine.path), {"min_coverage": texts})
            assert [demand.is_met for demand in demands] == [is_met] * len(floors)
