"""A build gives the same bytes whatever the size of its chunks, in memory and in files."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geolookup.errors import BuildError
from tests.internals.builder import Columns, MemoryBudget, Spill, overlaid_sources
from tests.oracle import FIELDS, OwnColumn, Source
from tests.property.compiled import built, content
from tests.range_strategies import own_recipes, recipes
from tests.tiers import scaled

_KEPT = st.frozensets(st.sampled_from(FIELDS), min_size=1)
_KEYS = st.just("") | _KEPT.map(lambda kept: f"fields = {sorted(kept)}")


@settings(max_examples=scaled(3, 15), suppress_health_check=list(HealthCheck))
@given(
    st.integers(1, 9),
    st.tuples(recipes.map(lambda listed: ([], listed)), _KEYS)
    | st.tuples(own_recipes(), st.just("")),
)
def test_any_chunk_gives_the_same_bytes(
    chunk: int, drawn: tuple[tuple[list[OwnColumn], list[Source]], str]
) -> None:
    (columns, listed), keys = drawn
    with TemporaryDirectory() as target:
        folder = Path(target)
        try:
            whole = content(built(folder / "whole", listed, keys=keys, columns=columns))
        except BuildError:  # no source states a kept field
            return
        with closing(Spill(MemoryBudget.of("1GB"), folder / "spilled")) as files:
            for name, spill in (("memory", None), ("files", files)):
                with patch.object(overlaid_sources, "IN_MEMORY", Columns(spill, chunk)):
                    dataset = built(folder / name, listed, keys=keys, columns=columns)
                assert content(dataset) == whole
