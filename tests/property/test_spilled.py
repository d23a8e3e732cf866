"""A build in many bands of the address space is, byte for byte, the build in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.conftest import build_at
from tests.internals.builder import MemoryBudget, delimited, layers_module
from tests.oracle import Source
from tests.property.compiled import content
from tests.property.test_resolution import TIES
from tests.range_strategies import as_csv, recipe, recipes
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
