"""Dumps of Internet registries in RPSL: address ranges, where they are registered and to whom.

Objects of other classes are ignored. A range states the handle of its organisation; the name is in
the object of that organisation, in the files that ``organisations`` names. The compiler resolves
nested ranges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset.intervals import I64
from geolookup.errors import BuildError, near_match
from geolookup.parallel import in_order
from geolookup_builder.ranges import (
    NOT_ADDRESS,
    ParsedRanges,
    concatenate,
    from_networks,
    from_pairs,
)
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.rir import NO_COUNTRIES
from geolookup_builder.sources.reading.delimited import first_record
from geolookup_builder.sources.reading.dictionary_columns import without
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.positions import rejects_between
from geolookup_builder.sources.reading.reader import (
    REJECT_CHARACTERS,
    Batch,
    RecordNumbers,
    Reject,
    SourceFormat,
    SourceTable,
    one_table,
)
from geolookup_builder.sources.reading.rpsl_objects import Objects, blocks, lines_of, objects
from geolookup_builder.sources.reading.sniffing import Detection, Opening
from geolookup_builder.sources.reading.text import line_layout
from geolookup_builder.sources.reading.vendor_files import KeyedTable, file_option

_KEYS = ("inetnum", "inet6num")
_CLASSES = re.compile(
    r"(as-block|as-set|aut-num|domain|filter-set|inet-rtr|inet6?num|irt|key-cert|mntner"
    r"|organisation|peering-set|person|poem|poetic-form|role|route6?|route-set|rtr-set):\s*\S",
    re.IGNORECASE,
)
_COMMENTS = line_layout("[%#]")
_SUFFIXES = ("inetnum", "inet6num", ".db", ".txt", ".rpsl")
#: The attributes that may state an organization, as the option names them.
_NAMES = ("org-name", "descr", "netname")
_DEFAULT_NAMES = ["org-name", "descr"]
#: Network names of space that a registry states is not its own; they say nothing else.
_NOT_ITS_OWN = r"^(?:NON-RIPE-NCC-MANAGED-ADDRESS-BLOCK|IANA-BLK|IANA-NETBLOCK-.*)$"
_T = TypeVar("_T")
_Columns = tuple[ParsedRanges, Mapping[str, pa.DictionaryArray], I64]


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    columns = partial(_columns, names=_names(spec), organisations=_organisations(spec))
    note = "status and contacts ignored: no field holds them"
    return one_table(spec, _SUFFIXES, partial(_checked_batches, columns=columns), note)


def _check(member: Member) -> None:
    """Raise BuildError if the first line after the comments does not begin an object."""
    cells, _ = first_record(member, _COMMENTS)
    if not _CLASSES.match("".join(cells)):
        remedy = "name a dump of a registry, such as ripe.db.inetnum.gz"
        raise BuildError(member.label, "not a dump of RPSL objects", remedy=remedy)


def _names(spec: SourceSpec) -> tuple[str, ...]:
    """Return the recipe's ``organization``: what states it, in order of precedence."""
    names = spec.options.get("organization", _DEFAULT_NAMES)
    if not isinstance(names, list):
        remedy = f"write organization = {_DEFAULT_NAMES}"
        raise BuildError(spec.recipe, "source.organization is not a list", remedy=remedy)
    for name in names:
        if name not in _NAMES:
            problem = f"unknown attribute {name!r} in organization"
            raise BuildError(spec.recipe, problem, remedy=near_match(str(name), _NAMES))
    return tuple(names)


def _organisations(spec: SourceSpec) -> KeyedTable | None:
    """Read the names of the organisations in the files that the recipe states."""
    path = file_option(spec, "organisations")
    if path is None:
        return None
    keys, names = [pa.array([], pa.string())], [pa.array([], pa.string())]
    for member in members(path, spec.base, ("organisation", ".db", ".txt", ".rpsl")):
        _check(member)
        for handle, name in _blocks(member, _organisation_columns):
            keys.append(handle)
            names.append(name)
    return KeyedTable(pa.concat_arrays(keys), {"org-name": pa.concat_arrays(names)})


def _organisation_columns(numbered_block: tuple[int, bytes]) -> tuple[pa.Array, pa.Array]:
    lines, _ = lines_of(numbered_block[1])
    organisations, _ = objects(lines, "organisation")
    handles = lines.values(organisations.keys, "organisation")
    return pc.utf8_upper(handles.cast(pa.string())), organisations.first("org-name").cast(
        pa.string()
    )


def _blocks(member: Member, columns: Callable[[tuple[int, bytes]], _T]) -> Iterator[_T]:
    with member.open() as stream, in_order(columns, blocks(member, stream)) as results:
        yield from results


def _checked_batches(
    member: Member, columns: Callable[[tuple[int, bytes]], _Columns]
) -> Iterator[Batch]:
    _check(member)
    return _batches(member, columns)


def _batches(member: Member, columns: Callable[[tuple[int, bytes]], _Columns]) -> Iterator[Batch]:
    lines: list[I64] = [np.empty(0, np.int64)]

    def find_rejects(file: Member, reasons: dict[int, str]) -> Iterator[Reject]:
        # Records count from 1 over all blocks.
        keys = np.concatenate(lines)[np.array(sorted(reasons), np.int64) - 1]
        return rejects_between(file, reasons, keys, keys + 1, "\n", REJECT_CHARACTERS)

    numbers = RecordNumbers(member, find_rejects)
    for ranges, fields, first in _blocks(member, columns):
        lines.append(first)
        yield numbers.batch(ranges, fields)


def _columns(
    numbered_block: tuple[int, bytes], names: tuple[str, ...], organisations: KeyedTable | None
) -> _Columns:
    """Return the ranges of a block's objects, their fields and their lines."""
    first, block = numbered_block
    lines, before = lines_of(block)
    ranges, kinds = objects(lines, *_KEYS)
    netnames = ranges.first("netname")
    own = pc.invert(pc.fill_null(pc.match_substring_regex(netnames, _NOT_ITS_OWN), False))
    columns = {
        "country_code": _country(ranges),
        "organization": _organization(ranges, names, netnames, organisations),
    }
    fields = {
        name: pc.if_else(own, column, pa.scalar(None, column.type))
        .cast(pa.string())
        .dictionary_encode()
        for name, column in columns.items()
    }
    fields["country_code"] = without(fields["country_code"], *NO_COUNTRIES)
    return _ranges(ranges, kinds), fields, first + before[ranges.keys]


def _country(ranges: Objects) -> pa.Array:
    """Return the country of each object; null if it states several."""
    lines, owner = ranges.of("country")
    values = pc.utf8_upper(ranges.lines.values(lines, "country")).dictionary_encode()
    # A country in two spellings has one code ("nl" is "NL" above). An object without a country has
    # least > greatest = -1, so it is masked like one of several.
    codes = values.indices.to_numpy(zero_copy_only=False)
    least = np.full(len(ranges.keys), np.iinfo(np.int64).max)
    greatest = np.full(len(ranges.keys), -1, np.int64)
    # Unlike least[owner] = ..., ``at`` respects every occurrence of an owner.
    np.minimum.at(least, owner, codes)
    np.maximum.at(greatest, owner, codes)
    return values.dictionary.take(pa.array(greatest, mask=least != greatest))


def _organization(
    ranges: Objects, names: tuple[str, ...], netnames: pa.Array, organisations: KeyedTable | None
) -> pa.Array:
    """Return the first name in the object, in order of ``names``."""
    columns = [pa.nulls(len(ranges.keys), pa.large_string())]
    for name in names:
        if name != "org-name":
            columns.append(netnames if name == "netname" else ranges.first(name))
        elif organisations is not None:
            handles = pc.utf8_upper(ranges.first("org").cast(pa.string()))
            row = organisations.index.rows(handles)
            columns.append(organisations.columns[name].take(row).cast(pa.large_string()))
    blank = [pc.equal(column, "") for column in columns]
    return pc.coalesce(
        *(
            pc.if_else(empty, pa.scalar(None, column.type), column)
            for empty, column in zip(blank, columns, strict=True)
        )
    )


def _ranges(ranges: Objects, kinds: I64) -> ParsedRanges:
    """Return the ranges of the keys: two addresses with a hyphen between, or a prefix."""
    texts = [ranges.lines.values(ranges.keys[kinds == at], name) for at, name in enumerate(_KEYS)]
    # Keys are read by kind, 0 0 ... 1 1; argsort of their places brings them back into file order.
    order = np.argsort(np.concatenate([np.flatnonzero(kinds == at) for at in range(len(_KEYS))]))
    keys = pa.concat_arrays(texts).take(pa.array(order))
    # inetnum: 193.0.0.0 - 193.0.7.255    inet6num: 2001:610::/32
    hyphen = pc.fill_null(pc.match_substring(keys, "-"), False)
    pairs, prefixes = np.flatnonzero(hyphen), np.flatnonzero(pc.invert(hyphen))
    ends = pc.list_flatten(pc.split_pattern(keys.take(pa.array(pairs)), "-", max_splits=1))
    ends = pc.utf8_trim_whitespace(ends)
    # "a - b", "c - d" -> a b c d: the even ones are starts.
    sides = [ends.take(pa.array(np.arange(at, len(ends), 2))) for at in (0, 1)]
    parts = from_pairs(*sides), from_networks(keys.take(pa.array(prefixes)))
    all_ranges = concatenate(parts)
    back = np.argsort(np.concatenate([pairs, prefixes]))
    return _of_their_kind(all_ranges.take(back), kinds)


def _of_their_kind(ranges: ParsedRanges, kinds: I64) -> ParsedRanges:
    """Return the ranges; ranges of another family than their attribute states are rejected."""
    is_other_family = (ranges.family != 0) & ((ranges.family == 6) != (kinds == 1))
    reason = np.where(is_other_family, NOT_ADDRESS, ranges.reason).astype(np.uint8)
    family = np.where(is_other_family, 0, ranges.family).astype(np.uint8)
    return replace(ranges, family=family, reason=reason)


def _detect(opening: Opening) -> Detection | None:
    _check(opening.start)
    return Detection("objects of a registry")


FORMAT = SourceFormat("rpsl", frozenset({"organization", "organisations"}), _read, _detect)
