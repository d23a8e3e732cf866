"""The error about files that no format detects: their apparent content, and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from geolookup.errors import BuildError, name_text
from geolookup.filesystem.signatures import is_binary
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.sniffing import (
    DELIMITERS,
    JSON,
    RANGE,
    Opening,
    begins_json,
    kind_of,
)

_SHOWN = 60  # characters of a line
_LISTED = 3  # files of an archive or a folder


def unknown_file(opening: Opening) -> BuildError:
    """Return the error about a file that no format detects."""
    member = opening.member
    problem, remedy = _text_error(opening.first_line)
    if kind := kind_of(member):
        problem, remedy = f"this looks like {kind.name}", kind.remedy
    elif begins_json(opening.start):
        problem, remedy = f"this looks like {JSON.name}", JSON.remedy
    elif is_binary(opening.first_line.encode()):
        problem, remedy = "binary data of no known kind", "export it as CSV, or fetch it again"
    return BuildError(member.label, f"not recognised: {problem}", remedy=remedy)


def _text_error(line: str) -> tuple[str, str]:
    """Return problem and remedy for a text with this first line."""
    shown = repr(line[:_SHOWN])
    delimiter = max(DELIMITERS, key=line.count)
    cells = [cell.strip(' "') for cell in line.split(delimiter)]
    if len(cells) == 1 or not RANGE.fullmatch(cells[0]):
        remedy = 'if it is data of a vendor, name the format in a recipe: format = "…"'
        return f"no range in its first line, {shown}", remedy
    ends = "first = 1, last = 2" if RANGE.fullmatch(cells[1]) else "network = 1"
    marks = "" if delimiter == "," else f', delimiter = "{delimiter}"'.replace("\t", "\\t")
    columns = f"header = false{marks}, columns = {{ {ends}, country_code = … }}"
    problem = f"{len(cells)} columns without a header, as in {shown}"
    return (
        problem,
        f'name them in a recipe: format = "csv", {columns}; or name its vendor\'s format',
    )


def unknown_files(path: Path, members: Sequence[Member]) -> BuildError:
    """Return the error about an archive, a folder or a glob without a file of a known format."""
    files = [f"{name_text(member.file_names[0])} ({_kind(member)})" for member in members[:_LISTED]]
    more = f" and {len(members) - _LISTED:,} more" if len(members) > _LISTED else ""
    others = f", but {', '.join(files)}{more}" if files else ""
    problem = f"not recognised: no file of a known format{others}"
    return BuildError(path, problem, remedy="name the files of data, or name their format")


def _kind(member: Member) -> str:
    kind = kind_of(member)
    return kind.name if kind else "of unknown content"
