"""Sources with ``only``, ``families`` and ``within``: answers and explanations of the oracle."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.oracle import Address, Source, carried, is_public
from tests.property import test_explained, test_resolution
from tests.property.compiled import opened
from tests.range_strategies import addresses, edges, restricted_recipes
from tests.tiers import scaled


@settings(max_examples=scaled(4, 60), suppress_health_check=list(HealthCheck))
@given(restricted_recipes, st.lists(addresses, min_size=20, max_size=40))
def test_answers_equal_the_oracle(listed: list[Source], probes: list[Address]) -> None:
    with opened(listed) as engine:
        test_resolution.compare(engine, listed, [*probes, *edges(listed)])


@settings(max_examples=scaled(2, 30), suppress_health_check=list(HealthCheck))
@given(restricted_recipes, st.lists(addresses, min_size=20, max_size=40))
def test_explanations_equal_the_oracle(listed: list[Source], probes: list[Address]) -> None:
    asked = {item for item in (*probes, *edges(listed)) if is_public(carried(item))}
    asked |= {carried(request) for request in asked}
    with opened(listed, 'explain = "full"') as engine:
        ordered = sorted(asked, key=lambda address: (address.version, int(address)))
        test_explained.compare(engine, listed, ordered)
