"""The columns of a generic file: those that are no field, and what to do about them.

A file must not have columns that nobody reads, unless its source has ``columns`` in the recipe. An
error proposes the ``columns`` that would read the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from geolookup.contract.fields import BY_SOURCE_COLUMN, FIELDS, GROUPS, NAMES, OWN, OWN_PREFIX
from geolookup.errors import BuildError, near_match, suggestion
from geolookup_builder.recipe.document import toml_text
from geolookup_builder.recipe.names import RANGE_NAMES, RANGES, near_column
from geolookup_builder.sources.reading.plans import Planner
from geolookup_builder.sources.reading.products import FIELD_OF, Header
from geolookup_builder.sources.reading.sniffing import DELIMITERS, NearMissError

#: The names of fields whose values no source states: they follow from others.
DERIVED = frozenset(
    {name for name, path in NAMES.items() if path not in GROUPS}
    | {name for field in FIELDS for name in (field.path, field.name)}
).difference(FIELD_OF)
#: The row labels of pandas: in its CSV, in a CSV that it read again, and in Arrow tables.
_INDEX = re.compile(r"|Unnamed: 0|__index_level_[0-9]+__")
_MAP = "map columns of any name in [source.columns] of a recipe"
#: Names of ranges in files of other products.
_RANGE_WORDS = {
    word: end
    for end, words in {
        "network": "cidr prefix subnet netblock ip_prefix ip_range ip_network",
        "netmask": "mask subnet_mask",
        "first": "start_ip ip_start start ip_from range_start first_ip start_address from_ip",
        "last": "end_ip ip_end end ip_to range_end last_ip end_address to_ip",
    }.items()
    for word in words.split()
}
_MAPPING = 300  # characters of a suggested mapping
#: Keys of an object that a server answers with instead of data.
_ERROR_KEYS = {"error", "errors", "message", "detail", "status", "code", "success"}
_SHOWN = 50  # characters of a column name, in messages
_LISTED = 5  # unknown columns, in messages
#: A column name: words, not an address, a number or a text of a document.
_NAME = re.compile(r"[A-Za-z_][\w .-]{0,49}")


def unnamed(at: int) -> str:
    """Return the label of a column without a name."""
    return f"(column {at})"


def ignored(names: Sequence[str]) -> dict[str, str]:
    """Return the columns of a header that are not read, each with the reason."""
    reasons = {name: "follow from other fields" for name in names if name in DERIVED}
    last = unnamed(len(names))
    if names[-1:] == (last,) and len(names) > 1:
        reasons[last] = "without a name: the header ends in a delimiter"
    for name in names:
        if _INDEX.fullmatch(name) or name == unnamed(1):
            reasons[name] = "the index of a frame of pandas"
    return reasons


def check_header(header: Header, planner: Planner, delimiter: str = "") -> None:
    """Raise BuildError for a header that does not fit what the recipe says.

    ``delimiter`` is that of a text file with a header.
    """
    for name in planner.mapping.values():
        if name not in header:
            raise _absent(header, name, delimiter)
    counts, mapped = Counter(header.names), {*planner.mapping.values()}
    read = {*RANGE_NAMES, *planner.names, *mapped} if mapped else counts
    for name in header.names:
        if counts[name] > 1 and name in read:
            raise _error(header, f"column {name!r} twice", "drop one", delimiter)
    if not mapped:
        _check_names(header, planner, delimiter)
    _check_fields(header, planner, delimiter)


def _check_names(header: Header, planner: Planner, delimiter: str) -> None:
    """Raise BuildError for a header whose names are not those of a range and of fields."""
    field_of = {**dict(zip(RANGE_NAMES, RANGE_NAMES, strict=True)), **planner.names}
    unread = ignored(header.names)  # once: a JSON object may have 100,000 members
    stated = [name for name in header.names if name not in unread]
    if unknown := [name for name in stated if name not in field_of]:
        if header.schema is not None and {n.partition(".")[0] for n in stated} <= _ERROR_KEYS:
            problem = f"this looks like an error of a server, with the key {stated[0]!r}"
            raise _error(header, problem, "fetch it again")
        mapping = _known_columns(stated, field_of)
        problem, remedy = _unknown_text(unknown, mapping, planner)
        raise _error(header, problem, remedy, delimiter, mapping)
    if tuple(name for name in RANGE_NAMES if name in stated) not in RANGES:
        where = "the header" if header.schema is None else "its columns"
        remedy = f"name the range as network, or as first and last (or {_MAP})"
        raise _error(header, f"no range in {where}", remedy, delimiter)


def _check_fields(header: Header, planner: Planner, delimiter: str) -> None:
    """Raise BuildError for a field by two names, unless the recipe maps one of them."""
    former: dict[str, str] = {}
    for name in header.names:
        field = planner.names.get(name)
        if field and field not in planner.mapping and name not in planner.mapping.values():
            other = former.setdefault(field, name)
            if other != name:
                problem = f"columns {other!r} and {name!r} are the same field"
                raise _error(header, problem, "drop one, or map one in columns", delimiter)


def _absent(header: Header, name: str, delimiter: str) -> BuildError:
    remedy = near_match(name, [other[:_SHOWN] for other in header.names])
    if name.isdigit() and header.line is None:
        remedy = f"correct columns: there are {len(header.names)}"
    return _error(header, f"no column {name!r}", remedy, delimiter)


def _error(
    header: Header,
    problem: str,
    remedy: str,
    delimiter: str = "",
    mapping: Mapping[str, str] | None = None,
) -> BuildError:
    """Return an error about the columns, or about their delimiter if it is another one.

    ``mapping`` are the ``columns`` of a recipe that would read the file.
    """
    options: dict[str, Any] = {"columns": mapping} if mapping else {}
    known = {FIELD_OF.get(name, name) for name in header.names}
    score = len(known & {*RANGE_NAMES, *BY_SOURCE_COLUMN})
    if delimiter and (other := _other_delimiter(header, delimiter)):
        options = {"delimiter": other}
        problem = f"the delimiter is {other!r}"
        remedy = f"add delimiter = {toml_text(other)} to the source in a recipe"
    elif not _is_named(header):  # rows without a header, or a document
        return BuildError(header.label, problem, line=header.line, remedy=remedy)
    error = NearMissError(header.label, problem, line=header.line, remedy=remedy, score=score)
    error.options = options
    return error


def _is_named(header: Header) -> bool:
    if header.schema is not None or header.line is None:
        return True
    return len(header.names) > 1 and all(_NAME.fullmatch(name) for name in header.names)


def _other_delimiter(header: Header, delimiter: str) -> str | None:
    """Return the most frequent delimiter of a first line that was read as one cell."""
    if len(header.names) != 1:
        return None
    other = max(DELIMITERS.replace(delimiter, ""), key=header.names[0].count)
    names = header.names[0].split(other)
    return other if len(names) > 1 and all(_NAME.fullmatch(n.strip()) for n in names) else None


def _unknown_text(
    unknown: Sequence[str], mapping: Mapping[str, str], planner: Planner
) -> tuple[str, str]:
    """Return problem and remedy for the unknown columns of a file; ``mapping`` reads the others."""
    listed = [repr(name if len(name) < _SHOWN else name[:_SHOWN] + "…") for name in unknown]
    more = f" and {len(unknown) - _LISTED:,} more" if len(unknown) > _LISTED else ""
    plural = "s" if len(unknown) > 1 else ""
    problem = f"unknown column{plural} {', '.join(listed[:_LISTED])}{more}"
    columns = f"columns = {toml_text(mapping)}" if mapping else ""
    if len(columns) > _MAPPING or not mapping:
        columns = "columns = { … }"
    known = [name for name in unknown if name in mapping.values()]
    if known:
        keep = "" if known == [*unknown] else "; to keep others, declare them in its [columns]"
        return problem, f"map the columns in a recipe: {columns}{keep}"
    hints = [
        f"{hint[:-1]} for {name!r}?" for name in unknown[:_LISTED] if (hint := _hint(name, planner))
    ]
    them = "them" if plural else "it"
    leave = f"to leave {them} out, name the others in a recipe: {columns}"
    return problem, " ".join((*hints, f"{leave}; to keep {them}, declare {them} in its [columns]"))


def _known_columns(stated: Sequence[str], field_of: Mapping[str, str]) -> dict[str, str]:
    """Return the ``columns`` of a recipe for the known names of a file, also of other products.

    They are empty if the known names are not a range and at least one field.
    """
    meanings = {name: field_of.get(name) or _meaning(name) for name in stated}
    # own.site_id is site_id in a recipe.
    by_field = {f.removeprefix(OWN_PREFIX): name for name, f in meanings.items() if f}
    ends = tuple(name for name in RANGE_NAMES if name in by_field)
    return by_field if ends in RANGES and len(by_field) > len(ends) else {}


def _meaning(name: str) -> str | None:
    """Return the field, or the part of a range, that a name of another product means."""
    if not _NAME.fullmatch(name):
        return None
    return _RANGE_WORDS.get(name.casefold()) or near_column(name)


def _hint(name: str, planner: Planner) -> str:
    """Return a question for a name that is like that of a field."""
    if meaning := _meaning(name):
        return suggestion(meaning)
    is_path = name.startswith(tuple(f"{group}." for group in (*GROUPS, OWN)))
    names = [n for n in planner.names if ("." in n if is_path else n not in FIELD_OF)]
    more = [] if is_path else [*RANGE_NAMES, *BY_SOURCE_COLUMN]  # short names are like many words
    return near_match(name, [*more, *names], fallback="")
