"""Formats of plain files: rows of text, columns, and the tables of databases.

Imports nothing heavy: the command reads it for ``--help``.
"""

from __future__ import annotations

from geolookup.export.format import FIELDS, Format, Option

_RANGES = Option(
    "ranges",
    "Rows are ranges or CIDR prefixes; ip4r, only for postgresql, is the type of that extension."
    " [default: range; for postgresql, cidr]",
    choices=("range", "cidr", "ip4r"),
)
_WITHIN = Option("within", "Only addresses in this network.", metavar="NETWORK")
_FAMILY = Option("family", "Only IPv4 or only IPv6.", choices=("4", "6"))
_SERVER_FOLDER = Option(
    "folder",
    "Folder in which the server reads what is written."
    " [default: /var/lib/clickhouse/user_files/geolookup]",
    metavar="PATH",
)
_PART = (FIELDS, _WITHIN, _FAMILY)
FORMATS = (
    Format("csv", "CSV, a row for each range", "csv", (*_PART, _RANGES), "stream"),
    Format("jsonl", "JSON lines, an object for each range", "jsonl", (*_PART, _RANGES), "stream"),
    Format(
        "parquet",
        "Parquet, a folder of files for each family",
        "parquet",
        (*_PART, _RANGES),
        "folder",
        r"ipv[46]/part-\d+\.parquet",
    ),
    Format("duckdb", "a DuckDB database", "duckdb", _PART, "database"),
    Format("sqlite", "an SQLite database", "sqlite", _PART, "database"),
    Format(
        "clickhouse",
        "a dictionary of ClickHouse: its statement and its rows",
        "clickhouse",
        (*_PART, _SERVER_FOLDER),
        "folder",
        r"dictionary\.sql|prefixes\.tsv",
    ),
    Format("postgresql", "a script for psql", "postgresql", (*_PART, _RANGES), "stream"),
)
