"""Out of memory: one line and status 2, not the damage of a file."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import geolookup
from tests.cli.program import refusal
from tests.internals.builder import Member, parquet
from tests.internals.files import explain_errors

_HUGE = 1 << 60
_ALLOCATIONS = (
    pytest.param(lambda: bytearray(_HUGE), id="python"),
    pytest.param(lambda: np.empty(_HUGE, np.uint8), id="numpy"),
    pytest.param(lambda: pa.allocate_buffer(_HUGE), id="arrow"),
)


@pytest.mark.parametrize("allocate", _ALLOCATIONS)
def test_it_is_one_line(allocate: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(geolookup, "open", lambda *_arguments, **_options: allocate())
    line = refusal("lookup", "8.8.8.8")
    assert line.startswith("out of memory")
    assert "free some, or raise the limit of the process" in line


@pytest.mark.parametrize("allocate", _ALLOCATIONS)
def test_it_is_no_damage_of_a_file(allocate: Callable[[], object]) -> None:
    with pytest.raises(MemoryError), explain_errors("a.parquet", "Parquet"):
        allocate()


@pytest.mark.parametrize("allocate", _ALLOCATIONS)
def test_it_is_no_damage_of_a_source(allocate: Callable[[], object]) -> None:
    class Source(io.BytesIO):
        def read(self, _size: int | None = -1) -> Any:
            return allocate()

    with pytest.raises(MemoryError):
        parquet.schema(Member("a.parquet", lambda: Source(b"PAR1" * 9)))


class _HugeColumn:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.allocate_buffer(_HUGE)


def test_it_is_no_wrong_type_of_a_column(sample: geolookup.Engine) -> None:
    with pytest.raises(MemoryError):
        sample.enrich(_HugeColumn())
