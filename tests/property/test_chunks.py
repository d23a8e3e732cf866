"""A build gives the same bytes whatever the size of its chunks, in memory and in files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from geolookup_builder import overlaid_sources
from geolookup_builder.columns import Columns
from geolookup_builder.memory import MemoryBudget
from geolookup_builder.spill import Spill
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geolookup.errors import BuildError
from tests.oracle import FIELDS, OwnColumn, Source
from tests.property.test_previous import built, content
from tests.range_strategies import own_recipes, recipes
from tests.tiers import scaled

_CHUNKS = st.integers(1, 9)


@contextmanager
def in_chunks(size: int, files: Spill | None = None) -> Iterator[None]:
    with patch.object(overlaid_sources, "IN_MEMORY", Columns(files, size)):
        yield


def _same(
    chunk: int, old: list[Source], new: list[Source], keys: str, columns: list[OwnColumn]
) -> None:
    with TemporaryDirectory() as target:
        folder = Path(target)
        before = built(folder / "before", old, keys=keys, columns=columns)
        whole = content(built(folder / "whole", new, before, keys, columns))
        spill = Spill(MemoryBudget.of("1GB"), folder / "spilled")
        for name, files in (("memory", None), ("files", spill)):
            with closing(spill), in_chunks(chunk, files):
                first = built(folder / f"first-{name}", old, keys=keys, columns=columns)
                assert content(first) == content(before)
                dataset = built(folder / name, new, before, keys, columns)
            assert content(dataset) == whole


@settings(max_examples=scaled(4, 60), suppress_health_check=list(HealthCheck))
@given(_CHUNKS, recipes, recipes, st.sampled_from(("explain = 'full'", "")))
def test_any_chunk_gives_the_same_bytes(
    chunk: int, old: list[Source], new: list[Source], keys: str
) -> None:
    _same(chunk, old, new, keys, [])


@pytest.mark.long
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(_CHUNKS, own_recipes())
def test_own_columns_too(chunk: int, drawn: tuple[list[OwnColumn], list[Source]]) -> None:
    columns, listed = drawn
    _same(chunk, listed[:1], listed, "", columns)


@pytest.mark.long
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(_CHUNKS, recipes, st.frozensets(st.sampled_from(FIELDS), min_size=1))
def test_fewer_fields_too(chunk: int, listed: list[Source], fields: frozenset[str]) -> None:
    keys = f"explain = 'full'\nfields = {sorted(fields)}"
    with suppress(BuildError):  # no source states one of the fields
        _same(chunk, listed, listed, keys, [])
