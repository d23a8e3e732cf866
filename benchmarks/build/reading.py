"""The floor of a compilation: Arrow reads the cells of the same files, and nothing else.

It dictionary-encodes every cell, as the compiler has it do, in blocks as large as the compiler's.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv

from benchmarks.harness import measure
from benchmarks.harness.processes import result_of, say

_BLOCK = 4 << 20
_ENCODED = pa.dictionary(pa.int32(), pa.string())


def reading_seconds(folder: Path, cores: int) -> float:
    """Return the seconds that Arrow needs for the CSV files of a folder, in a child process."""
    return float(result_of("benchmarks.build.reading", folder, cores)["seconds"])


def _read(folder: Path, cores: int) -> float:
    pa.set_memory_pool(pa.system_memory_pool())
    with measure.on_cores(cores):
        pa.set_cpu_count(cores)
        began = time.perf_counter()
        for path in sorted(folder.glob("*.csv")):
            with path.open(encoding="utf-8") as file:
                names = file.readline().rstrip("\n").split(",")
            types = dict.fromkeys(names[1:], _ENCODED)
            pacsv.read_csv(
                path,
                pacsv.ReadOptions(block_size=_BLOCK),
                pacsv.ParseOptions(newlines_in_values=True),
                pacsv.ConvertOptions(column_types={names[0]: pa.string(), **types}),
            )
        return time.perf_counter() - began


if __name__ == "__main__":
    say({"seconds": _read(Path(sys.argv[1]), int(sys.argv[2]))})
