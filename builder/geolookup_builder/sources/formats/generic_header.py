"""The columns of a generic file: those that are no field, and what to do about them.

A file must not have columns that nobody reads, unless its source has ``columns`` in the recipe. An
error proposes the ``columns`` that would read the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
        "network": "cidr prefix subnet netblock ip_prefix ip_range ip_network",
        "netmask": "mask subnet_mask",
        "first": "start_ip ip_start start ip_from range_start first_ip start_address from_ip",
        "last": "end_ip ip_end end ip_to range_end last_ip end_address to_ip",
    }.items()
    for word in words.split()
}
_MAPPING = 290  # characters of a suggested mapping
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

    ``delimiter`` is that of a text file with a header.
    """
    found = next(_problems(header, planner), None)
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


def _other_delimiter(header: Header, delimiter: str) -> str | None:
    """Return the most frequent delimiter of a first line that was read as one cell."""
    if not delimiter or len(header.names) != 1:
        return None
    other = max(DELIMITERS.replace(delimiter, ""), key=header.names[0].count)
    names = header.names[0].split(other)
    return other if len(names) > 1 and all(_NAME.fullmatch(n.strip()) for n in names) else None


#: A problem of a header, its remedy, and the options of a recipe that would read the file.
_Problem = tuple[str, str, Mapping[str, Any]]


def _problems(header: Header, planner: Planner) -> Iterator[_Problem]:
    """Yield absent columns, repeated ones, fields by two names, then unknown columns."""
    names, mapped = header.names, {*planner.mapping.values()}
    for name in planner.mapping.values():
        if name not in header:
            remedy = near_match(name, [other[:_SHOWN] for other in names])
            if name.isdigit() and header.line is None:
                remedy = f"correct columns: there are {len(names)}"
            yield f"no column {name!r}", remedy, {}
    counts, former = Counter(names), dict[str, str]()
    read = {*RANGE_NAMES, *planner.names, *mapped} if mapped else counts
    for name in names:
        if counts[name] > 1 and name in read:
            yield f"column {name!r} twice", "drop one", {}
    for name in names:
        field = planner.names.get(name, "")
        is_free = field and field not in planner.mapping and name not in mapped
        if is_free and (other := former.setdefault(field, name)) != name:
            yield f"columns {other!r} and {name!r} are the same field", "drop one", {}
    if not mapped:
        yield from _unknown(header, planner)


def _unknown(header: Header, planner: Planner) -> Iterator[_Problem]:
    """Yield what is wrong with names that are not those of a range and of fields."""
    field_of = {**dict(zip(RANGE_NAMES, RANGE_NAMES, strict=True)), **planner.names}
    unread = ignored(header.names)  # once: a JSON object may have 100,000 members
    stated = [name for name in header.names if name not in unread]
    if unknown := [name for name in stated if name not in field_of]:
        names = [repr(name if len(name) < _SHOWN else name[:_SHOWN] + "…") for name in unknown]
        problem = f"unknown column{'s' if len(names) > 1 else ''} {listed(names, _LISTED)}"
        mapping = _mapping(stated, field_of)
        columns = toml_text(mapping) if mapping else "{ … }"
        columns = columns if len(columns) <= _MAPPING else "{ … }"
        remedy = f"map what is to be read, columns = {columns}, or declare own ones in [columns]"
        remedy = f"in a recipe, {remedy}"
        if mapping:
            yield problem, remedy, {"columns": mapping}
        # Short names are like many words.
        words = [*RANGE_NAMES, *BY_SOURCE_COLUMN, *(n for n in field_of if n not in FIELD_OF)]
        near = (near_match(name, words, fallback="") for name in unknown[:_LISTED])
        yield problem, f"{next(filter(None, near), '')} {remedy}".lstrip(), {}
    if tuple(name for name in RANGE_NAMES if name in stated) not in RANGES:
        where = "the header" if header.schema is None else "its columns"
        remedy = (
            "name the range as network, or as first and last "
            "(or map columns of any name in [source.columns] of a recipe)"
        )
        yield f"no range in {where}", remedy, {}


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
    return _RANGE_WORDS.get(name.casefold()) or near_column(name)
