"""A dataset: Arrow files and a manifest that describes them.

``mistaken`` tells what to do with a file of data where a dataset is expected, ``unreadable`` with
one that cannot be compiled.
"""

from __future__ import annotations

import os

_BUILD = "run 'geolookup build FILE --output DIR'"
_COMPILE = "compile it: geolookup build {file} --output {folder}"
#: Patterns of lower-case file names, what such a file is, and the remedy; the first that fits.
_UNREADABLE = (
    ("*.bin", "a BIN file of IP2Location", f"download the CSV of that database and {_BUILD}"),
    ("*.xdb", "an .xdb file of ip2region", f"take its source, ipv4_source.txt, and {_BUILD}"),
    (
        "geoip2fast*.dat*",
        "a file of geoip2fast",
        f"take the CSV or MMDB it is made of and {_BUILD}",
    ),
    ("geo*.dat*", "a legacy file of MaxMind", f"download GeoLite2 as MMDB or CSV and {_BUILD}"),
)
_KINDS = (
    *_UNREADABLE,
    (
        "*.tar.zst",
        "a packed dataset",
        "unpack it: geolookup mirror unpack {file} --output {folder}",
    ),
    ("*.toml", "a recipe", _COMPILE),
    *(
        (f"*.{ending}", "a file of data", _COMPILE)
        for ending in (
            *("mmdb", "csv", "tsv", "txt", "dat", "json", "jsonl", "ndjson", "parquet"),
            *("gz", "zst", "zip", "tar"),
        )
    ),
)


def unreadable(path: str) -> tuple[str, str] | None:
    """Return problem and remedy for a file of a kind that is never compiled; None for others."""
    return _of_kind(path, _UNREADABLE)


def mistaken(path: str) -> tuple[str, str] | None:
    """Return problem and remedy for a path of a file of data; None for any other path."""
    return _of_kind(path, _KINDS)


def _of_kind(path: str, kinds: tuple[tuple[str, str, str], ...]) -> tuple[str, str] | None:
    import shlex  # only for an error, like the next one
    from fnmatch import fnmatchcase

    name = os.path.basename(path)
    fitting = (kind for kind in kinds if fnmatchcase(name.lower(), kind[0]))
    _, kind, remedy = next(fitting, ("", "", ""))
    if not kind or not os.path.isfile(path):
        return None
    folder = name.partition(".")[0] or "dataset"
    command = remedy.format(file=shlex.quote(path), folder=shlex.quote(folder))
    return f"{kind}, not a dataset", command
