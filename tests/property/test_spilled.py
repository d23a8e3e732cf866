"""A build in many bands of the address space is, byte for byte, the build in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from geolookup_builder import gather
from geolookup_builder.build_report import BuildReport
from geolookup_builder.memory import MemoryBudget
from geolookup_builder.sources.reading import delimited
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import geolookup
from tests.conftest import build_at
from tests.oracle import Address, Source, SourceRow
from tests.property.test_previous import content
from tests.property.test_resolution import TIES, compare
from tests.range_strategies import addresses, as_csv, edges, recipe, recipes
from tests.tiers import scaled

_LARGE = 1 << 40


@contextmanager
def tiny_memory(rows: int = 1, band: int = 400) -> Iterator[None]:
    """In the block, builds have memory for so many bytes of rows, and bands of so many bytes."""
    budget = MemoryBudget(_LARGE, _LARGE, rows, band, _LARGE)
    with (
        mock.patch.object(MemoryBudget, "of", return_value=budget),
        mock.patch.object(delimited, "BLOCK_BYTES", 256),
    ):
        yield


@contextmanager
def tiny_bands(band: int) -> Iterator[None]:
    """In the block, builds in memory have bands of so many bytes."""
    with (
        mock.patch.object(gather, "_BAND", band),
        mock.patch.object(delimited, "BLOCK_BYTES", 256),
    ):
        yield


def _both(
    folder: Path, listed: list[Source], bands: AbstractContextManager[None]
) -> Iterator[tuple[Path, BuildReport]]:
    """Build the sources in one band and in ``bands``, each in a folder of its own."""
    files: dict[str, str | bytes] = {f"{n}.csv": as_csv(item) for n, item in enumerate(listed)}
    for name, context in (("whole", nullcontext()), ("bands", bands)):
        (folder / name).mkdir()
        with context:
            yield build_at(folder / name, files, recipe(listed))


@example(TIES, [], 1)
@settings(max_examples=scaled(8, 120), suppress_health_check=list(HealthCheck), deadline=None)
@given(recipes, st.lists(addresses, min_size=5, max_size=20), st.sampled_from([1, 300, 2000]))
def test_bands_equal_memory_and_the_oracle(
    listed: list[Source], probes: list[Address], rows: int
) -> None:
    with TemporaryDirectory() as folder:
        (in_memory, report), (in_bands, of_bands) = _both(Path(folder), listed, tiny_memory(rows))
        assert content(in_bands) == content(in_memory)
        assert of_bands.sources == report.sources
        with geolookup.open(in_bands) as engine:
            compare(engine, listed, [*probes, *edges(listed)])


def _sorted(rows: list[SourceRow]) -> list[SourceRow]:
    return sorted(rows, key=lambda row: (row.first.version, int(row.first)))


@example(TIES, [], 400)
@settings(max_examples=scaled(8, 120), suppress_health_check=list(HealthCheck), deadline=None)
@given(recipes, st.lists(addresses, min_size=5, max_size=20), st.sampled_from([200, 400, 2000]))
def test_bands_in_memory(listed: list[Source], probes: list[Address], band: int) -> None:
    """Also of files whose rows are sorted: they are taken band by band."""
    listed = [replace(source, rows=_sorted(source.rows)) for source in listed]
    with TemporaryDirectory() as folder:
        (whole, report), (in_bands, of_bands) = _both(Path(folder), listed, tiny_bands(band))
        assert content(in_bands) == content(whole)
        assert of_bands.sources == report.sources
        with geolookup.open(in_bands) as engine:
            compare(engine, listed, [*probes, *edges(listed)])
