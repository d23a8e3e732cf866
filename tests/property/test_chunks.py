"""A build gives the same bytes whatever the size of its chunks, in memory and in files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geolookup.errors import BuildError
from tests.internals.builder import Columns, columns
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
    (own, listed), keys = drawn
    with TemporaryDirectory() as target:
        folder = Path(target)
        try:
            whole = content(built(folder / "whole", listed, keys=keys, columns=own))
        except BuildError:  # no source states a kept field
            return
        for name, in_files in (("memory", False), ("files", True)):
            with (
                patch.object(columns, "CHUNK", chunk),
                patch.object(Columns, "in_files", in_files),
            ):
                dataset = built(folder / name, listed, keys=keys, columns=own)
            assert content(dataset) == whole
