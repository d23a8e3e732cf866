"""The formats of ``export``, a table: names, writers, options and kinds of output.

A format is added by writing its module and adding its entry to ``FORMATS``. Imports nothing heavy:
the command reads the table for ``--help``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from geolookup.filesystem.unpacking import compression

if TYPE_CHECKING:
    from geolookup.dataset.files import Dataset
    from geolookup.progress import Progress

#: The values of options by name, without unset ones.
Values = Mapping[str, Any]
#: The counts of an export, by the name of the things counted, such as ``{"networks": 1200}``.
Counts = Mapping[str, int]


class Option(NamedTuple):
    """An option of one or several formats: ``--name`` of the command, ``name`` of ``export``.

    Its value is a text, one of the ``choices`` if it has any. With ``several`` it is a tuple of
    texts; the command separates them by commas. ``metavar`` is its value in ``--help``.
    """

    name: str
    help: str
    metavar: str = "NAME"
    choices: tuple[str, ...] = ()
    several: bool = False


class ExportFormat(NamedTuple):
    """A format by its name. ``writer`` is a module of this package and its function.

    ``suffixes`` are the ends of names of outputs in this format. ``output`` is a kind of output
    (see ``outputs``): ``file``; ``folder``, whose files have names that the pattern ``holds``
    matches; ``stream``, a file or standard output, compressed by its suffix.
    """

    name: str
    help: str
    writer: str
    options: tuple[Option, ...] = ()
    output: str = "file"
    holds: str = ""
    suffixes: tuple[str, ...] = ()


#: The writer of a format: a function of a dataset, an output of ``outputs.open_target``, the values
#: of the format's own options and a progress. It raises DatasetError if the dataset is damaged, and
#: ExportError for a value that the option does not have.
Write = Callable[["Dataset", Any, Values, "Progress"], Counts]
#: The schema of ``mmdb`` that has fields by their own names.
FLAT = "flat"
_FIELDS = Option(
    "fields",
    "Fields to write, as `geolookup fields` lists them, own.NAME, or groups.",
    metavar="FIELD,...",
    several=True,
)
_COLUMNS = Option(
    "columns",
    "Own columns to write, with the key or path of each if it is not the name: own (all of them),"
    " own.site_id, site=own.site_id.",
    metavar="[KEY=]COLUMN,...",
    several=True,
)
_MMDB = (
    Option(
        "schema",
        "Structure of the records: a database that geoip2 reads, or flat for"
        " `geolookup build`. [default: flat]",
        choices=("city", "country", "asn", "isp", "enterprise", FLAT),
    ),
    _FIELDS,
    _COLUMNS,
)
_RANGES = Option(
    "ranges",
    "Rows are ranges or CIDR prefixes. [default: range]",
    choices=("range", "cidr"),
)
_WITHIN = Option("within", "Only addresses in this network.", metavar="NETWORK")
_FAMILY = Option("family", "Only IPv4 or only IPv6.", choices=("4", "6"))
_ROWS = (_FIELDS, _WITHIN, _FAMILY, _RANGES)
_TABLE = (
    ExportFormat(
        "mmdb",
        "MaxMind DB, for the readers of that format",
        "mmdb:write",
        _MMDB,
        suffixes=(".mmdb",),
    ),
    ExportFormat(
        "csv",
        "CSV, a row for each range",
        "text_rows:write_csv",
        _ROWS,
        "stream",
        suffixes=(".csv",),
    ),
    ExportFormat(
        "jsonl",
        "JSON lines, an object for each range",
        "text_rows:write_jsonl",
        _ROWS,
        "stream",
        suffixes=(".jsonl", ".ndjson"),
    ),
    ExportFormat(
        "parquet",
        "Parquet, a folder of files for each family",
        "parquet:write",
        _ROWS,
        "folder",
        r"ipv[46]/part-\d+\.parquet",
        suffixes=(".parquet",),
    ),
)
#: The formats by name.
FORMATS = {export_format.name: export_format for export_format in _TABLE}


def format_by_suffix(output: str) -> ExportFormat | None:
    """Return the format that the suffix of an output names; None if it names none.

    A stream may have the suffix of a compression after its own: ``networks.csv.gz``.
    """
    name = output.casefold()
    packed = name.removesuffix(compression(name) or "")
    for export_format in FORMATS.values():
        if (packed if export_format.output == "stream" else name).endswith(export_format.suffixes):
            return export_format
    return None


def options_of_formats() -> dict[Option, list[str]]:
    """Return the options of all formats, each with the names of the formats that have it."""
    names: dict[Option, list[str]] = {}
    for export_format in FORMATS.values():
        for option in export_format.options:
            names.setdefault(option, []).append(export_format.name)
    return names
