"""A build gives the same bytes in chunks of any size, in files, and in many bands of the space."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from geolookup.errors import BuildError
from tests.conftest import build_at
from tests.internals.builder import Columns, MemoryBudget, columns, delimited, layers_module
from tests.oracle import FIELDS, OwnColumn, Source
from tests.property.compiled import built, content
from tests.property.test_resolution import TIES
from tests.range_strategies import as_csv, own_recipes, recipe, recipes
from tests.tiers import scaled

_LARGE = 1 << 40


@contextmanager
def tiny_memory(rows: int = 1, band: int = 400) -> Iterator[None]:
    """In the block, builds have memory for so many bytes of rows, and bands of so many bytes."""
    budget = MemoryBudget(_LARGE, rows, band, _LARGE)
    with (
        mock.patch.object(MemoryBudget, "of", return_value=budget),
        mock.patch.object(delimited, "BLOCK_BYTES", 256),
    ):
        yield


@contextmanager
def tiny_bands(band: int) -> Iterator[None]:
    """In the block, builds in memory have bands of so many bytes."""
    with (
        mock.patch.object(layers_module, "BAND", band),
        mock.patch.object(delimited, "BLOCK_BYTES", 256),
    ):
        yield


@example(TIES, 1, 400)
@settings(max_examples=scaled(2, 40), suppress_health_check=list(HealthCheck), deadline=None)
@given(recipes, st.sampled_from([1, 300, 2000]), st.sampled_from([200, 400, 2000]))
def test_bands_equal_memory(listed: list[Source], rows: int, band: int) -> None:
    """Of rows in files and in memory."""
    text = recipe(listed)
    files: dict[str, str | bytes] = {f"{n}.csv": as_csv(item) for n, item in enumerate(listed)}
    for bands in (tiny_memory(rows, band), tiny_bands(band)):
        with TemporaryDirectory() as name:
            whole, report = build_at(Path(name), files, text)
            before = content(whole)
            with bands:
                in_bands, of_bands = build_at(Path(name), files, text)
            assert content(in_bands) == before
            assert of_bands.sources == report.sources


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
    with TemporaryDirectory() as name:
        folder = Path(name)
        try:
            whole = content(built(folder / "whole", listed, keys=keys, columns=own))
        except BuildError:  # no source states a kept field
            return
        for kind, in_files in (("memory", False), ("files", True)):
            with (
                mock.patch.object(columns, "CHUNK", chunk),
                mock.patch.object(Columns, "in_files", in_files),
            ):
                dataset = built(folder / kind, listed, keys=keys, columns=own)
            assert content(dataset) == whole
