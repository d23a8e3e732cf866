"""Options of commands that read tables of addresses, of ground truth and of requests."""

from __future__ import annotations

from geolookup.cli.options import Once, Parsed, group, option

truth_format = option(
    "--truth-format NAME",
    "A source format of recipes, or 'addresses' for a table of addresses.",
    default="auto",
)
fail_if = option(
    "--fail-if GATE...",
    "Exit with 1 if this is true, such as 'country_moved > 2%' or, of a score,"
    " 'country_agree < 95%'; repeatable.",
)


def _zone(text: str) -> str:
    from geolookup.contract.tzdatabase import zone_file

    if zone_file(text) is None:
        raise ValueError(f"{text!r} is not a time zone; write one like Europe/Berlin, or UTC")
    return text


def _delimiter(text: str) -> str:
    if len(text) != 1 or not text.isascii():
        raise ValueError("must be one ASCII character")
    return text


clean = option(
    "--clean", "Also read addresses with ports, brackets or quotes, and X-Forwarded-For lists."
)
time_zone = option(
    "--time-zone ZONE",
    "IANA time zone, or UTC, of times without offset in columns of instants.",
    Parsed(_zone),
)
#: A table file with addresses: column, format and form of CSV.
table_input = group(
    option(
        "--ip-column NAME",
        "Column of addresses, or the path of a member of objects: request.ip.",
        default="ip",
    ),
    option(
        "--input-format NAME",
        "Format to read: csv, tsv, jsonl, parquet, text, log, combined, vhost_combined, clf,"
        " vhost_clf or lines. [default: by suffix]",
    ),
    option(
        "--delimiter CHARACTER",
        "Delimiter of CSV. [default: comma; for TSV, tab]",
        Parsed(_delimiter),
    ),
    option(
        "--no-header",
        "CSV has no header: its columns are column1, column2 and so on.",
        name="header",
        flag_value=False,
        default=True,
    ),
)
#: Requests by which ``diff`` and ``score`` weight addresses.
traffic = group(
    option(
        "--traffic FILE",
        "Weight addresses by their requests in a table file, a folder of them, or -.",
        cls=Once,
    ),
    option(
        "--traffic-count NAME", "Column of requests in FILE. [default: each row is one request]"
    ),
    table_input,
)
