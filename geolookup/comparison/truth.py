"""Ground truth: files of any source format and tables of single addresses, compiled as one dataset.

Strategy: the files are the sources of a temporary dataset, so the first that states a location for
an address decides. A table of single addresses becomes a source of single ranges; no error quotes
one of its cells.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geolookup.comparison.truth_addresses import is_table, read_addresses
from geolookup.contract.fields import Field
from geolookup.contract.schema import column_members
from geolookup.dataset.files import Dataset
from geolookup.dataset.metadata import Metadata
from geolookup.errors import BuildError, DiffError, near_match
from geolookup.files.row_streams import holds_address

AUTO = "auto"
#: The format of a table of addresses.
ADDRESSES = "addresses"
#: No limit: rejected rows are counted and left out.
_REJECTS = (1 << 63) - 1
#: Truth is not published: it may have no answers, and files of several dates.
_LENIENT = {"empty": "ok", "releases": "all", "max_nulled": "100%"}
#: The tables whose rows answers have, in counts of metadata.
_TABLES = ("locations", "networks", "own")
_FEED = "geofeed"
#: Perhaps an address as a number, such as 3325256704; 0.152.150.128 is the least of eight digits.
_NUMBER = re.compile(r"[0-9]{8}")
_REMEDY = "correct the path or the file, or name its format by --truth-format"


@dataclass(frozen=True, slots=True)
class TruthFile:
    """One file of ground truth, and its rows."""

    path: str
    format: str  # a source format of recipes, or "addresses"
    rows: int
    rejected: int  # rows without a valid range or address
    nulled: int  # invalid values, read as null
    unread: tuple[str, ...] = ()  # columns that nothing reads


@dataclass(frozen=True, slots=True)
class Truth:
    """Files of ground truth as a dataset."""

    dataset: Dataset
    files: Sequence[TruthFile]
    fields: Sequence[Field]  # with a value in any file; others only follow from the country


def compile_truth(
    paths: Sequence[str], format_name: str, own: Sequence[Field], folder: Path
) -> Truth:
    """Compile files of ground truth with own columns into a dataset in a new folder.

    Raises BuildError or TableFileError for an unusable file, DiffError if no row reaches a lookup.
    """
    from geolookup_builder.calls import build
    from geolookup_builder.sources import FORMATS

    if format_name not in (AUTO, ADDRESSES, *FORMATS):
        hint = near_match(format_name, (ADDRESSES, *FORMATS))
        raise BuildError(paths[0], f"no format {format_name!r}", remedy=hint)
    named = {f"truth {number}": path for number, path in enumerate(paths, 1)}
    sources, unread = list[dict[str, Any]](), dict[str, tuple[str, ...]]()
    for name, path in named.items():
        source, unread[name] = _source(path, format_name, own)
        sources.append({"name": name, **_LENIENT, **source})
    with _own_remedies(paths):
        report = build(
            sources=sources,
            output=folder,
            columns={
                of.member: {"type": column_members(of)["type"], "private": of.private} for of in own
            },
            max_rejects=_REJECTS,
        )
    dataset = Dataset(folder)
    about = dataset.manifest.metadata()
    if not any(about.counts.get(table) for table in _TABLES):
        problem = f"{', '.join(paths)}: no row states a value for a public address"
        raise DiffError(problem, "name others")
    files = [_file(path, name, report.sources, about, unread[name]) for name, path in named.items()]
    fields = [
        field
        for column, field in dataset.schema.by_source_column.items()
        if field.path in about.fields and column not in report.unstated
    ]
    return Truth(dataset, files, fields)


def _source(
    path: str, format_name: str, own: Sequence[Field]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the source that reads a file, and the columns that it leaves out."""
    if format_name == ADDRESSES or (format_name == AUTO and is_table(path)):
        table, unread = read_addresses(path, own)
        return {"table": table}, unread
    whole_path = os.path.abspath(path)  # noqa: PTH100 - takes any name
    pattern = _pattern(whole_path)
    if format_name == AUTO and _are_feeds(pattern):
        format_name = _FEED
    # A folder of a known format can have other files than data.
    is_folder = format_name == AUTO and os.path.isdir(whole_path)  # noqa: PTH112
    return {"format": format_name, "path": whole_path if is_folder else pattern}, ()


def _pattern(path: str) -> str:
    """Return the glob of a file or of the files in a folder; another text is a glob itself."""
    if os.path.isdir(path):  # noqa: PTH112
        return f"{glob.escape(path)}/**/*"
    return glob.escape(path) if os.path.exists(path) else path  # noqa: PTH110


def _are_feeds(pattern: str) -> bool:
    """Return whether all files are geofeeds: some have rows that fit other formats too."""
    from geolookup_builder.sources import FORMATS
    from geolookup_builder.sources.reading.inputs import members
    from geolookup_builder.sources.reading.sniffing import opening

    try:
        openings = [opening(member) for member in members(pattern, Path("/"), ("",))]
        return all(map(FORMATS[_FEED].detect, openings))
    except BuildError:
        return False  # the build explains the error


@contextmanager
def _own_remedies(paths: Sequence[str]) -> Iterator[None]:
    """Replace errors about recipes, and those that quote an address.

    The file may be a list of addresses that were looked up.
    """
    from geolookup_builder.sources.auto import REMEDY

    labels = {f"sources[{number}]": path for number, path in enumerate(paths)}
    try:
        yield
    except BuildError as error:
        of_recipe_only = "source." in error.problem  # an option that only a recipe can state
        quotes = holds_address(error.problem) or _NUMBER.search(error.problem) is not None
        of_recipe = str(error.path) in labels or "recipe" in error.remedy or error.remedy == REMEDY
        if not (quotes or of_recipe):
            raise
        path = labels.get(str(error.path), error.path)
        problem = "not recognised" if quotes or of_recipe_only else error.problem
        raise BuildError(path, problem, line=error.line, remedy=_REMEDY) from None


def _file(
    path: str, name: str, reports: Iterable[Any], about: Metadata, unread: tuple[str, ...]
) -> TruthFile:
    """Return the rows of a file; one of a vendor can have several tables."""
    tables = [
        report for report in reports if report.name == name or report.name.startswith(f"{name} (")
    ]
    formats = [of.format for of in about.sources if name in (of.name, of.dataset)]
    is_table = formats[:1] == ["table"]
    return TruthFile(
        path=path,
        format=ADDRESSES if is_table else formats[0],
        rows=sum(report.read for report in tables),
        rejected=sum(report.rejected.total() for report in tables),
        nulled=sum(report.nulled.total() for report in tables),
        unread=(*unread, *(name for report in tables for name in report.unread)),
    )
