"""MMDB files of any vendor.

Strategy: the networks come from the search tree by numpy, the records from the
``maxminddb`` library, which is asked for each distinct one once, however many
networks share it. A file that the library does not believe is not read at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset.intervals import I64
from geolookup.errors import BuildError, near_match
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.schema import FIELDS
from geolookup_builder.sources.formats.mmdb_schemas import (
    REGISTERED,
    Paths,
    paths_of,
    recognised,
    texts_of,
)
from geolookup_builder.sources.reading.coordinates import without_origin
from geolookup_builder.sources.reading.detection import Claim, Opening, ending
from geolookup_builder.sources.reading.dictionary_cells import Cells, without
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.mmdb_file import Records, networks, opened
from geolookup_builder.sources.reading.reader import Batch, Format, Reject, RowNumbers, SourceTable

#: Records held at once; those of a city file are large.
_CHUNK = 1 << 14
_SAMPLE = 1 << 12  # of the records, to see what they are
_MARKER = b"\xab\xcd\xefMaxMind.com"  # before what the file says of itself, at its end
_MOST_SHOWN = 8  # paths, in messages


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    mapped = _mapped(spec)
    found = members(spec.path, spec.base, (".mmdb",))
    yield SourceTable(spec.name, (_batch(member, mapped) for member in found))


def _mapped(spec: SourceSpec) -> Paths | None:
    """Return the paths that the recipe maps to fields; None where it leaves them to the schema."""
    stated = spec.options.get("fields")
    if stated is None:
        return None
    if not isinstance(stated, dict) or not stated:
        remedy = 'write fields = { city_name = "city.names.en" }'
        raise BuildError(spec.recipe, "source.fields is no table of paths", remedy=remedy)
    for name, path in stated.items():
        if name not in FIELDS:
            remedy = near_match(name, FIELDS)
            raise BuildError(spec.recipe, f"unknown field {name!r} in fields", remedy=remedy)
        if not isinstance(path, str) or not path:
            problem = f"source.fields.{name} is not a path"
            raise BuildError(spec.recipe, problem, remedy='join keys with dots, "city.names.en"')
    return {name: (path,) for name, path in stated.items()}


def _batch(member: Member, mapped: Paths | None) -> Batch:
    with opened(member) as file:
        found = networks(file)
        _, rows, codes = np.unique(found.offsets, return_index=True, return_inverse=True)
        records = Records(file, found.ranges.first[rows])
        seen = paths_of(records.sample(_SAMPLE))
        stated = _columns(records, mapped or _recognised(member, seen))
    _place_by_registration(stated)
    _check_mapped(member, mapped or {}, stated, seen)
    fields = {name: _spread(each, codes) for name, each in stated.items() if len(each)}
    for name in ("continent_code", "country_code"):
        if name in fields:
            fields[name] = without(fields[name], "ZZ")
    numbers = RowNumbers(member, _nowhere, _no_lines)
    return Batch(numbers, 0, found.ranges, without_origin(fields))


def _recognised(member: Member, seen: set[str]) -> Paths:
    paths = recognised(seen)
    if paths is None:
        shown = ", ".join(sorted(seen)[:_MOST_SHOWN]) or "none at all"
        remedy = 'map some in the recipe, such as fields = { city_name = "city.names.en" }'
        raise BuildError(member.label, f"none of its fields are known ({shown})", remedy=remedy)
    return paths


def _columns(records: Records, fields: Paths) -> dict[str, Cells]:
    """Return one cell a distinct record and field."""
    parts: dict[str, list[pa.Array]] = {name: [pa.array([], pa.string())] for name in fields}
    for chunk in records.chunks(_CHUNK):
        for name, texts in texts_of(chunk, fields).items():
            parts[name].append(texts)
    return {name: pa.concat_arrays(each).dictionary_encode() for name, each in parts.items()}


def _place_by_registration(columns: dict[str, Cells]) -> None:
    """Take the country of registration where a record names no place, as the vendors' CSV does."""
    registered = columns.pop(REGISTERED, None)
    if registered is not None:
        country, continent = columns["country_code"], columns["continent_code"]
        nowhere = pc.and_(pc.is_null(country), pc.is_null(continent))
        stated = country.dictionary_decode()
        columns["country_code"] = pc.if_else(
            nowhere, registered.dictionary_decode(), stated
        ).dictionary_encode()


def _check_mapped(
    member: Member, mapped: Paths, columns: Mapping[str, Cells], seen: set[str]
) -> None:
    """Raise BuildError where a path of the recipe leads nowhere in any record."""
    for name, (path,) in mapped.items():
        if columns[name].null_count == len(columns[name]):
            remedy = near_match(path, sorted(seen))
            raise BuildError(member.label, f"no record has a value at {path!r}", remedy=remedy)


def _spread(column: Cells, codes: I64) -> Cells:
    """Return the cells of the networks, each of which has the record of its code."""
    indices = column.indices.take(pa.array(codes))
    return pa.DictionaryArray.from_arrays(indices, column.dictionary)


def _nowhere(_member: Member, _wanted: Mapping[int, str]) -> Iterator[Reject]:
    """Find no rejected rows: the networks of a tree are prefixes by their nature."""
    yield from ()


def _no_lines(_member: Member, records: I64) -> I64:
    return np.zeros(len(records), np.int64)


def _claims(read: Opening) -> Claim | None:
    with read.start.open() as stream:
        binary = b"\0" in stream.read()
    return Claim("a search tree") if binary and _MARKER in ending(read.member) else None


FORMAT = Format("mmdb", frozenset({"fields"}), _read, _claims)
