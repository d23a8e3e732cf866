"""The size of a dataset, predicted: a recipe is compiled in memory, and nothing is written.

The bytes of each file are counted as they would be written. Only the manifest, of about 20 kB, and
a signature are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import counts
from geolookup.progress import Progress
from geolookup_builder.compile import compiled_tables
from geolookup_builder.output_files import write_table
from geolookup_builder.overlaid_sources import Options
from geolookup_builder.recipe.document import Recipe

#: The files of a dataset by their kind.
_KINDS = {
    "intervals": (fmt.IPV4, fmt.IPV4_JUMP, fmt.IPV6, fmt.IPV6_SPARSE_INDEX),
    "rows": tuple(fmt.TABLES.values()),
    "provenance": tuple(fmt.PROVENANCE.values()),
}


@dataclass(frozen=True, slots=True)
class SizeReport:
    """The predicted bytes of each file, the counts of the dataset, and its memory.

    ``mapped`` are the bytes of the files that lookups read: a process maps them, and all processes
    share them.
    """

    files: Mapping[str, int]
    counts: Mapping[str, int]
    bytes: int
    mapped: int

    def lines(self) -> Iterator[str]:
        """Yield the report, one line of text each."""
        yield f"about {self.bytes:,} bytes"
        for kind, names in _KINDS.items():
            if size := sum(self.files.get(name, 0) for name in names):
                yield f"  {kind:<11} {size:,} bytes"
        yield "  " + ", ".join(f"{count:,} {name}" for name, count in self.counts.items())
        yield f"  memory      {self.mapped:,} bytes at most, shared by all processes"


def predicted_size(recipe: Recipe, options: Options, progress: Progress) -> SizeReport:
    """Return the size of the dataset of a recipe."""
    tables = compiled_tables(recipe, options, progress)
    files = {name: _bytes(table) for name, table in tables.items()}
    mapped = sum(files.get(name, 0) for name in (*fmt.ANSWERING, fmt.OWN))
    return SizeReport(files, counts(tables), sum(files.values()), mapped)


def _bytes(table: pa.Table) -> int:
    """Return the bytes of a file; the stream counts them only."""
    with pa.MockOutputStream() as stream:
        write_table(stream, table)
        written: int = stream.size()
    return written
