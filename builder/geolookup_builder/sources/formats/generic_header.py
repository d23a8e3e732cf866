"""The columns of a generic file: the unknown ones, and the ``columns`` that would read them.

A file must not have columns that nobody reads, unless its source has ``columns`` in the recipe. An
error proposes the ``columns`` that would read the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from geolookup.contract.fields import BY_SOURCE_COLUMN, FIELDS, GROUPS, NAMES, OWN_PREFIX
from geolookup.errors import BuildError, listed, near_match
from geolookup_builder.recipe.document import toml_text
from geolookup_builder.recipe.names import RANGE_NAMES, RANGES, near_column
from geolookup_builder.sources.reading.plans import Planner
from geolookup_builder.sources.reading.products import FIELD_OF, Header
from geolookup_builder.sources.reading.sniffing import DELIMITERS, NearMissError

#: The names of fields whose values no source states: they follow from others.
_DERIVED = frozenset(
    {name for name, path in NAMES.items() if path not in GROUPS}
    | {name for field in FIELDS for name in (field.path, field.name)}
).difference(FIELD_OF)
#: The row labels of pandas: in its CSV, in a CSV that it read again, and in Arrow tables.
_INDEX = re.compile(r"|Unnamed: 0|__index_level_[0-9]+__")
#: Names of ranges in files of other products.
_RANGE_WORDS = {
    word: end
    for end, words in {
        "network": "cidr prefix subnet netblock ip_prefix ip_range ip_network ip ip_address",
        "netmask": "mask subnet_mask",
        "first": "start_ip ip_start start ip_from range_start first_ip start_address from_ip",
        "last": "end_ip ip_end end ip_to range_end last_ip end_address to_ip",
    }.items()
    for word in words.split()
}
_MAPPING = 300  # characters of a suggested mapping
_SHOWN = 50  # characters of a column name, in messages
_LISTED = 5  # unknown columns, in messages
#: A column name: words, not an address, a number or a text of a document.
_NAME = re.compile(r"[A-Za-z_][\w .-]{0,49}")


def unnamed(at: int) -> str:
    """Return the label of a column without a name."""
    return f"(column {at})"


def ignored(names: Sequence[str]) -> dict[str, str]:
    """Return the columns of a header that are not read, each with the reason."""
    reasons = {name: "follow from other fields" for name in names if name in _DERIVED}
    last = unnamed(len(names))
    if names[-1:] == (last,) and len(names) > 1:
        reasons[last] = "without a name: the header ends in a delimiter"
    for name in names:
        if _INDEX.fullmatch(name) or name == unnamed(1):
            reasons[name] = "the index of a frame of pandas"
    return reasons


def check_header(header: Header, planner: Planner, delimiter: str = "") -> None:
    """Raise BuildError for a header that does not fit what the recipe says.

    ``delimiter`` separates the cells of a text file with a header.
    """
    checks = (_absent, _twice, _unknown, _same)
    found = next(filter(None, (check(header, planner) for check in checks)), None)
    if found is None:
        return
    problem, remedy, options = found
    if other := _other_delimiter(header, delimiter):
        problem, options = f"the delimiter is {other!r}", {"delimiter": other}
        remedy = f"add delimiter = {toml_text(other)} to the source in a recipe"
    elif header.line and not (len(header.names) > 1 and all(map(_NAME.fullmatch, header.names))):
        # Rows without a header, or a document.
        raise BuildError(header.label, problem, line=header.line, remedy=remedy)
    known = {FIELD_OF.get(name, name) for name in header.names} & {*RANGE_NAMES, *BY_SOURCE_COLUMN}
    error = NearMissError(header.label, problem, line=header.line, remedy=remedy, score=len(known))
    error.options = options
    raise error


#: A problem of a header, its remedy, and the options of a recipe that would read the file.
_Found = tuple[str, str, Mapping[str, Any]]


def _other_delimiter(header: Header, delimiter: str) -> str | None:
    """Return the most frequent delimiter of a first line that was read as one cell."""
    if not delimiter or len(header.names) != 1:
        return None
    other = max(DELIMITERS.replace(delimiter, ""), key=header.names[0].count)
    names = header.names[0].split(other)
    return other if len(names) > 1 and all(_NAME.fullmatch(n.strip()) for n in names) else None


def _absent(header: Header, planner: Planner) -> _Found | None:
    for name in planner.mapping.values():
        if name not in header:
            remedy = near_match(name, [other[:_SHOWN] for other in header.names])
            if name.isdigit() and header.line is None:
                remedy = f"correct columns: there are {len(header.names)}"
            return f"no column {name!r}", remedy, {}
    return None


def _twice(header: Header, planner: Planner) -> _Found | None:
    counts, mapped = Counter(header.names), {*planner.mapping.values()}
    read = {*RANGE_NAMES, *planner.names, *mapped} if mapped else counts
    twice = [name for name in header.names if counts[name] > 1 and name in read]
    return (f"column {twice[0]!r} twice", "drop one", {}) if twice else None


def _same(header: Header, planner: Planner) -> _Found | None:
    """Return a field by two names, unless the recipe maps one of them."""
    former: dict[str, str] = {}
    for name in header.names:
        field = planner.names.get(name, "")
        if not field or field in planner.mapping or name in planner.mapping.values():
            continue
        if (other := former.setdefault(field, name)) != name:
            return f"columns {other!r} and {name!r} are the same field", "drop one", {}
    return None


def _unknown(header: Header, planner: Planner) -> _Found | None:
    """Return the problem of names that are neither fields nor parts of a range."""
    if planner.mapping:
        return None
    field_of = {**dict(zip(RANGE_NAMES, RANGE_NAMES, strict=True)), **planner.names}
    unread = ignored(header.names)  # once: a JSON object may have 100,000 members
    stated = [name for name in header.names if name not in unread]
    if unknown := [name for name in stated if name not in field_of]:
        return _unknown_columns(unknown, stated, field_of)
    if tuple(name for name in RANGE_NAMES if name in stated) in RANGES:
        return None
    where = "the header" if header.schema is None else "its columns"
    remedy = (
        "name the range as network, or as first and last "
        "(or map columns of any name in [source.columns] of a recipe)"
    )
    return f"no range in {where}", remedy, {}


def _unknown_columns(
    unknown: Sequence[str], stated: Sequence[str], field_of: Mapping[str, str]
) -> _Found:
    """Return the error about unknown columns, with the ``columns`` that would read the others."""
    names = [repr(name if len(name) < _SHOWN else name[:_SHOWN] + "…") for name in unknown]
    problem = f"unknown column{'s' if len(names) > 1 else ''} {listed(names, _LISTED)}"
    mapping = _mapping(stated, field_of)
    columns = f"columns = {toml_text(mapping)}" if mapping else ""
    if not 0 < len(columns) <= _MAPPING:
        columns = "columns = { … }"
    # Short names are like many words.
    words = [*RANGE_NAMES, *BY_SOURCE_COLUMN, *(n for n in field_of if n not in FIELD_OF)]
    near = (near_match(name, words, fallback="") for name in unknown[:_LISTED])
    hint = "" if mapping else next(filter(None, near), "")
    remedy = f"in a recipe, map what is to be read, {columns}, or declare own ones in [columns]"
    return problem, f"{hint} {remedy}".lstrip(), {"columns": mapping} if mapping else {}


def _mapping(stated: Sequence[str], field_of: Mapping[str, str]) -> dict[str, str]:
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
    # "Start IP" and "range.start_ip".
    word = name.casefold().replace(" ", "_").rpartition(".")[2]
    return _RANGE_WORDS.get(word) or near_column(name)
