"""Out of memory: one line and status 2, not the damage of a file."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from geolookup_builder.sources.reading import parquet
from geolookup_builder.sources.reading.inputs import Member

from geolookup import cli
from geolookup.files.row_streams import explain_errors
from geolookup.tables.locate import column_of

_HUGE = 1 << 60
_ALLOCATIONS = (
    pytest.param(lambda: bytearray(_HUGE), id="python"),
    pytest.param(lambda: np.empty(_HUGE, np.uint8), id="numpy"),
    pytest.param(lambda: pa.allocate_buffer(_HUGE), id="arrow"),
)


@pytest.mark.parametrize("allocate", _ALLOCATIONS)
def test_it_is_one_line(allocate: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, cli.one_line_errors():
        allocate()
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("geolookup: out of memory")
    assert "free some, or raise the limit of the process" in line


@pytest.mark.parametrize("allocate", _ALLOCATIONS)
def test_it_is_no_damage_of_a_file(allocate: Callable[[], object]) -> None:
    with pytest.raises(MemoryError), explain_errors("a.parquet", "Parquet"):
        allocate()


@pytest.mark.parametrize("allocate", _ALLOCATIONS)
def test_it_is_no_damage_of_a_source(allocate: Callable[[], object]) -> None:
    class Stream(io.BytesIO):
        def read(self, *_: object) -> bytes:
            allocate()
            return b""

    with pytest.raises(MemoryError):
        parquet.schema(Member("a.parquet", Stream))


class _HugeColumn:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.allocate_buffer(_HUGE)


def test_it_is_no_wrong_type_of_a_column() -> None:
    with pytest.raises(MemoryError):
        column_of(_HugeColumn())
