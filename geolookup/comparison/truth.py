"""Ground truth: files of any source format and tables of single addresses, compiled as one dataset.

Strategy: the files are the sources of a temporary dataset, so the first that states a location for
an address decides. A table of single addresses becomes a source of single ranges, a row an address.
No error quotes one of its cells: it may list addresses that were looked up.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.comparison.joint_intervals import FAMILIES
from geolookup.contract.fields import OWN_PREFIX, Field
from geolookup.contract.schema import column_members
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import Addresses
from geolookup.dataset.metadata import Metadata
from geolookup.errors import BuildError, DiffError, TableFileError, near_match
from geolookup.files.row_streams import ReadOptions, holds_address
from geolookup.files.table_files import column_names, known_file, open_table
from geolookup.prefixes.aggregate import address_texts
from geolookup.tables.locate import parse_column

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
_ADDRESS = "network"
#: By column of a source, the names of columns, in lower case with underscores.
_ALIASES = {
    _ADDRESS: ("ip", "address", "ip_address", "ipaddress", "addr", "ip_addr"),
    "country_code": ("country_code", "country", "country_iso_code", "iso_country", "cc"),
    "region_code": ("region", "region_code", "subdivision", "subdivision_code", "state"),
    "region_name": ("region_name", "subdivision_name", "state_name"),
    "city_name": ("city_name", "city"),
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lon", "lng", "long"),
}
_REGION = r"^(?:[A-Z]{2}-)?[A-Z0-9]{1,3}$"
_NO_TEXT = pa.scalar(None, pa.string())


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
            max_rejected=_REJECTS,
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
    if format_name == ADDRESSES or (format_name == AUTO and _is_table(path)):
        table, unread = _read_addresses(path, own)
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


def _is_table(path: str) -> bool:
    """Return whether a file is a table with a column of addresses, by its suffix and its header."""
    file = known_file(path)
    if file is None:
        return False
    try:
        names = column_names(file)
        return any(_plain(name) in _ALIASES[_ADDRESS] for name in names)
    except TableFileError:
        return False  # the reader of its source format explains the error


def _read_addresses(path: str, own: Sequence[Field]) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the table of a source with own columns, and the columns that are not read.

    Rows without an address have null.

    Of equal addresses the order stays: the last row decides. Raises TableFileError for an unusable
    file.
    """
    file = known_file(path)
    if file is None:
        raise TableFileError(path, "its suffix is not a table's", "name it .csv or .parquet")
    names = column_names(file)
    columns = _columns(path, names, own)
    keys = dict.fromkeys(columns.values(), "")
    with open_table(file, ReadOptions(path, keys, "dropped")) as read:
        rows = pa.Table.from_batches(read.batches(), read.schema).rename_columns(list(columns))
    try:
        addresses = parse_column(rows[_ADDRESS])
    except TypeError as error:
        raise TableFileError(path, str(error), "write the addresses as text") from error
    rows = rows.drop_columns(_ADDRESS)
    _check_texts(path, rows, columns)
    order = np.argsort(addresses.family, kind="stable")
    invalid = pa.nulls(np.count_nonzero(addresses.family == 0), pa.string())
    halves = Addresses(addresses.low, addresses.high)
    texts = [address_texts(family, halves[addresses.family == family]) for family in FAMILIES]
    values = _with_regions(path, rows).take(order)
    unread = tuple(name for name in names if name not in keys)
    return values.append_column(_ADDRESS, pa.concat_arrays([invalid, *texts])), unread


def _check_texts(path: str, rows: pa.Table, columns: Mapping[str, str]) -> None:
    """Raise TableFileError for a column that is not UTF-8: the reader of CSV passes any bytes."""
    for key in rows.column_names:
        try:
            rows[key].validate(full=True)
        except pa.ArrowInvalid:  # its text may quote a cell
            problem = f"column {columns[key]!r} is not UTF-8"
            raise TableFileError(path, problem, "convert the file to UTF-8") from None


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _columns(path: str, names: Sequence[str], own: Sequence[Field]) -> dict[str, str]:
    """Return the column of the file for each of ours that it has, in the order of the file."""
    # An own column by its path, or by its name in an enriched table.
    of_own = {field.path: (field.path, field.name) for field in own}
    ours = {alias: name for name, many in (_ALIASES | of_own).items() for alias in many}
    columns: dict[str, str] = {}
    for name in names:
        key = ours.get(_plain(name))
        if key is None and name.startswith(OWN_PREFIX):
            problem, remedy = f"no dataset has the column {name!r}", "rename or drop it"
            raise TableFileError(path, problem, remedy)
        if key in columns:
            noun = "address" if key == _ADDRESS else key.replace("_", " ")
            problem = f"two columns of the {noun}"
            raise TableFileError(path, problem, "drop one of them")
        if key is not None:
            columns[key] = name
    if _ADDRESS not in columns:
        raise TableFileError(path, "no column of addresses", "name it ip")
    if len(columns) == 1 or ("latitude" in columns) != ("longitude" in columns):
        problem = "no column of a country, a region, a city, or a latitude and a longitude"
        raise TableFileError(path, problem, "name them country, region, city, latitude, longitude")
    return columns


def _with_regions(path: str, rows: pa.Table) -> pa.Table:
    """Split regions into codes and names: one in the form of a code is one, such as CA or US-CA.

    A build nulls and counts a code of another country than the row's.
    """
    if "region_code" not in rows.column_names:
        return rows
    regions, names = (
        _texts(path, rows[name]) if name in rows.column_names else pa.nulls(len(rows), pa.string())
        for name in ("region_code", "region_name")
    )
    is_code = pc.match_substring_regex(regions, _REGION)
    rows = rows.select([name for name in rows.column_names if not name.startswith("region_")])
    rows = rows.append_column("region_code", pc.if_else(is_code, regions, _NO_TEXT))
    name = pc.if_else(is_code, _NO_TEXT, regions)
    return rows.append_column("region_name", pc.coalesce(names, name))


def _texts(path: str, column: pa.ChunkedArray) -> pa.Array:
    """Return a column as trimmed texts, empty as null; raises TableFileError for other types."""
    try:
        texts = pa.concat_arrays(column.cast(pa.string()).chunks or [pa.array([], pa.string())])
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # Arrow's text may quote a cell
        problem = "the column of the region or of its country holds no texts"
        raise TableFileError(path, problem, "write texts") from None
    texts = pc.utf8_trim_whitespace(texts)
    return pc.if_else(pc.equal(texts, ""), _NO_TEXT, texts)
