"""Ground truth from range files: any source format, read by the compiler.

Strategy: the compiler makes a temporary dataset with ``explain = "full"``, whose side files
hold each deciding row with its range as stated, and the values of each row.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.comparison.overlay import FAMILIES
from geolookup.comparison.scoring.own_columns import OwnTruth, truth_of_dataset
from geolookup.comparison.scoring.places import (
    COORDINATES,
    NAMES,
    NO_PREFIX,
    Partition,
    Places,
    Truth,
    TruthFile,
    TruthRows,
    first_stating,
    of_table,
)
from geolookup.contract.fields import Field
from geolookup.contract.schema import column_members
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import starts_of
from geolookup.dataset.intervals import lasts
from geolookup.errors import BuildError, near_match
from geolookup.files.row_streams import holds_address
from geolookup.prefixes.aggregate import prefixes_of
from geolookup.prefixes.spans import Halves, Spans

AUTO = "auto"
#: The values of a row of a source that a score compares.
_KINDS = dict.fromkeys(NAMES, pa.string()) | dict.fromkeys(COORDINATES, pa.float64())
#: No limit: rejected rows are counted and left out.
_REJECTS = (1 << 63) - 1
_FEED = "geofeed"
_SOURCE = "sources[0]"  # in messages about its keys
_REMEDY = "name its format by --truth-format"
_NAME_FILES = "name files of ground truth, of one format"


def read_ranges(
    path: str, format_name: str, own: Sequence[Field] = ()
) -> tuple[Truth, OwnTruth | None]:
    """Read range files of a source format, with these own columns.

    Raises BuildError for what cannot be read.
    """
    with TemporaryDirectory(prefix="geolookup-", ignore_cleanup_errors=True) as folder:
        report, output = _compile(path, format_name, own, Path(folder))
        read = sum(source.read for source in report.sources)
        rejected = sum(source.rejected.total() for source in report.sources)
        nulled = sum(source.nulled.total() for source in report.sources)
        rows, places = _rows(output)
        partitions = {family: _partition(output, family, rows.location > 0) for family in FAMILIES}
        file = TruthFile(path, _format(output), read, rejected, nulled)
        of_own = truth_of_dataset(output) if own else None
    return Truth([file], rows, partitions, places), of_own


def _compile(path: str, format_name: str, own: Sequence[Field], folder: Path) -> tuple[Any, Path]:
    """Compile the files into a dataset in a folder; return the report too."""
    from geolookup_builder.calls import build
    from geolookup_builder.sources import FORMATS

    if format_name not in (AUTO, *FORMATS):
        hint = near_match(format_name, FORMATS)
        raise BuildError(path, f"no format {format_name!r}", remedy=hint)
    whole_path, output = os.path.abspath(path), folder / "truth"  # noqa: PTH100 - takes any name
    # Truth is not published: it may hold no answers, and files of several dates.
    source = {**_source(whole_path, format_name), "empty": "ok", "releases": "all"}
    with _own_remedies(path):
        report = build(
            sources=[source],
            output=output,
            columns={field.member: _column(field) for field in own},
            explain="full",
            max_rejects=_REJECTS,
        )
    return report, output


def _source(path: str, format_name: str) -> dict[str, str]:
    """Return format and path of the source that reads the files."""
    pattern = _pattern(path)
    if format_name == AUTO and _are_feeds(pattern):
        format_name = _FEED
    # To a folder the detection knows, other files than data may belong.
    is_folder = format_name == AUTO and os.path.isdir(path)  # noqa: PTH112
    return {"format": format_name, "path": path if is_folder else pattern}


def _column(field: Field) -> dict[str, Any]:
    """Return an own column as a call declares it; a truth may state it in any space."""
    return {"type": column_members(field)["type"], "private": True}


def _pattern(path: str) -> str:
    """Return the glob of a file or of the files in a folder; another text is a glob itself."""
    if os.path.isdir(path):  # noqa: PTH112
        return f"{glob.escape(path)}/**/*"
    return glob.escape(path) if os.path.exists(path) else path  # noqa: PTH110


def _are_feeds(pattern: str) -> bool:
    """Tell whether all files are geofeeds; rows of some fit other formats, too."""
    from geolookup_builder.sources import FORMATS
    from geolookup_builder.sources.reading.inputs import members
    from geolookup_builder.sources.reading.sniffing import opening

    try:
        openings = [opening(member) for member in members(pattern, Path("/"), ("",))]
        return all(map(FORMATS[_FEED].detect, openings))
    except BuildError:
        return False  # the build explains the error


@contextmanager
def _own_remedies(path: str) -> Iterator[None]:
    """Replace what errors say of recipes, and those that quote an address.

    The file may be a list of addresses that were looked up.
    """
    from geolookup_builder.sources.auto import REMEDY

    try:
        yield
    except BuildError as error:
        quotes = holds_address(error.problem)
        problem = "not recognised" if quotes else error.problem
        if quotes or error.remedy == REMEDY or error.path == _SOURCE:
            raise BuildError(path, problem, remedy=_REMEDY) from None
        if "recipe" in error.remedy:
            raise BuildError(path, problem, line=error.line, remedy=_NAME_FILES) from error
        raise


def _format(output: Path) -> str:
    manifest = json.loads((output / fmt.MANIFEST).read_bytes())
    return str(manifest["sources"][0]["format"])


def _table(output: Path, name: str) -> pa.Table:
    # Read, not mapped: the folder is removed afterwards.
    with pa.OSFile(str(output / name)) as file:
        return pa.ipc.open_file(file).read_all().combine_chunks()


def _rows(output: Path) -> tuple[TruthRows, Places]:
    """Return the rows of the sources, and the places that they state."""
    family, first, last = _stated_ranges(output)
    length = _prefix_lengths(family, first, last)
    # IPv4-mapped prefixes decide IPv4 addresses.
    mapped = (family == 6) & (first.high == 0) & (first.low >> np.uint64(32) == 0xFFFF)
    mapped &= length >= 96
    rows = TruthRows(
        np.where(mapped, 4, family).astype(np.uint8),
        np.where(mapped, length - 96, length).astype(np.int16),
        _place_numbers(output),
    )
    return rows, of_table(_values(output))


def _stated_ranges(output: Path) -> tuple[NDArray[np.uint8], Halves, Halves]:
    """Return family, first and last address of each row: as listed, else as its interval."""
    size = int(_table(output, fmt.EXPLAINED_TABLES)["row"][-1].as_py())
    families = np.zeros(size, np.uint8)
    ends = {name: np.zeros(size, np.uint64) for name in fmt.ENDS}
    for family in FAMILIES:
        table = _table(output, fmt.EXPLAINED[family])
        row, starts = table["row"].to_numpy(), starts_of(table)
        families[row] = family
        # Row 0 gets the ends of gaps; it is never read.
        ends["first_low"][row], ends["first_high"][row] = starts.halves()
        ends["last_low"][row], ends["last_high"][row] = lasts(starts).halves()
    ranges = _table(output, fmt.EXPLAINED_RANGES)
    row = ranges["row"].to_numpy()
    families[row] = ranges["family"].to_numpy()
    for name, column in ends.items():
        column[row] = ranges[name].to_numpy()
    first, last = (Halves(ends[f"{end}_high"], ends[f"{end}_low"]) for end in ("first", "last"))
    return families, first, last


def _place_numbers(output: Path) -> NDArray[np.int64]:
    """Return the number of each row's place; 0 if it states none."""
    tables = _table(output, fmt.EXPLAINED_TABLES)
    numbers = _table(output, fmt.EXPLAINED_NUMBERS)["value"].to_numpy()
    rows, begins = tables["row"].to_pylist(), tables["location"].to_pylist()
    places = np.zeros(rows[-1], np.int64)
    # Rows and numbers of table after table; a beginning of 0: its rows state no location.
    for (row, end), begin in zip(pairwise(rows), begins[:-1], strict=True):
        if begin:
            places[row:end] = numbers[begin : begin + end - row]
    return places


def _values(output: Path) -> pa.Table:
    """Return the values of the rows that a score compares, as columns."""
    table = _table(output, fmt.EXPLAINED_VALUES)
    columns = {
        name: table[name] if name in table.column_names else pa.nulls(len(table), kind)
        for name, kind in _KINDS.items()
    }
    return pa.table(columns)


def _prefix_lengths(families: NDArray[np.uint8], first: Halves, last: Halves) -> NDArray[np.int64]:
    """Return the lengths of the prefixes that ranges are; NO_PREFIX for other ranges."""
    lengths = np.full(len(families), NO_PREFIX, np.int64)
    for family in FAMILIES:
        rows = np.flatnonzero(families == family)
        prefixes, of = prefixes_of(Spans(family, first.take(rows), last.take(rows)))
        # A range that is one prefix occurs once among the ranges of the prefixes.
        is_single = np.bincount(of, minlength=len(rows))[of] == 1
        lengths[rows[of[is_single]]] = prefixes.lengths[is_single]
    return lengths


def _partition(output: Path, family: int, states: NDArray[np.bool_]) -> Partition:
    """Return the partition of a family: of the source's tables, the first with a place decides."""
    table = _table(output, fmt.EXPLAINED[family])
    row, starts = table["row"].to_numpy().astype(np.int64), starts_of(table)
    begins = _table(output, fmt.EXPLAINED_TABLES)[fmt.EXPLAINED_STARTS[family]].to_pylist()
    tables = [slice(*bounds) for bounds in pairwise(begins)]
    return first_stating(states, [Partition(starts[part], row[part]) for part in tables])
