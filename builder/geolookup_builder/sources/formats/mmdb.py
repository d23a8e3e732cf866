"""MMDB files of any vendor.

Numpy reads the networks from the search tree. The library ``maxminddb`` decodes each
distinct record once, however many networks share it. A file that the library refuses
is not read.
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
from geolookup_builder.sources.reading.dictionary_columns import without, without_null_island
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.mmdb_file import Records, networks, opened
from geolookup_builder.sources.reading.reader import (
    Batch,
    Format,
    RecordNumbers,
    Reject,
    SourceTable,
)
from geolookup_builder.sources.reading.sniffing import Detection, Opening, ending

#: Records decoded at once; those of a city file are large.
_CHUNK_RECORDS = 1 << 14
_SAMPLE = 1 << 12  # records that show the schema
_MARKER = b"\xab\xcd\xefMaxMind.com"  # begins the metadata, at the end of the file
_SHOWN = 8  # paths, in messages


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    mapped = _mapped(spec)
    found = members(spec.path, spec.base, (".mmdb",))
    yield SourceTable(spec.name, (_batch(member, mapped) for member in found))


def _mapped(spec: SourceSpec) -> Paths | None:
    """Return the paths that the recipe maps to fields; None where the schema is to be detected."""
    stated = spec.options.get("fields")
    if stated is None:
        return None
    if not isinstance(stated, dict) or not stated:
        remedy = 'write fields = { city_name = "city.names.en" }'
        raise BuildError(spec.recipe, "source.fields is not a table of paths", remedy=remedy)
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
    _locate_by_registration(stated)
    _check_mapped(member, mapped or {}, stated, seen)
    fields = {name: _of_networks(each, codes) for name, each in stated.items() if len(each)}
    for name in ("continent_code", "country_code"):
        if name in fields:
            fields[name] = without(fields[name], "ZZ")
    numbers = RecordNumbers(member, _no_rejects, _no_lines)
    return Batch(numbers, 0, found.ranges, without_null_island(fields))


def _recognised(member: Member, seen: set[str]) -> Paths:
    paths = recognised(seen)
    if paths is None:
        shown = ", ".join(sorted(seen)[:_SHOWN]) or "none at all"
        remedy = 'map some in the recipe, such as fields = { city_name = "city.names.en" }'
        raise BuildError(member.label, f"none of its fields are known ({shown})", remedy=remedy)
    return paths


def _columns(records: Records, fields: Paths) -> dict[str, pa.DictionaryArray]:
    """Return a column a field, with a row for each distinct record."""
    parts: dict[str, list[pa.Array]] = {name: [pa.array([], pa.string())] for name in fields}
    for chunk in records.chunks(_CHUNK_RECORDS):
        for name, texts in texts_of(chunk, fields).items():
            parts[name].append(texts)
    return {name: pa.concat_arrays(each).dictionary_encode() for name, each in parts.items()}


def _locate_by_registration(columns: dict[str, pa.DictionaryArray]) -> None:
    """Use the country of registration where a record has no location, as for the vendor's CSV."""
    registered = columns.pop(REGISTERED, None)
    if registered is not None:
        country, continent = columns["country_code"], columns["continent_code"]
        unlocated = pc.and_(pc.is_null(country), pc.is_null(continent))
        stated = country.dictionary_decode()
        columns["country_code"] = pc.if_else(
            unlocated, registered.dictionary_decode(), stated
        ).dictionary_encode()


def _check_mapped(
    member: Member, mapped: Paths, columns: Mapping[str, pa.DictionaryArray], seen: set[str]
) -> None:
    """Raise BuildError where no record has a value at a path of the recipe."""
    for name, (path,) in mapped.items():
        if columns[name].null_count == len(columns[name]):
            remedy = near_match(path, sorted(seen))
            raise BuildError(member.label, f"no record has a value at {path!r}", remedy=remedy)


def _of_networks(column: pa.DictionaryArray, codes: I64) -> pa.DictionaryArray:
    """Return the values of the networks, whose records are given by ``codes``."""
    indices = column.indices.take(pa.array(codes))
    return pa.DictionaryArray.from_arrays(indices, column.dictionary)


def _no_rejects(_member: Member, _wanted: Mapping[int, str]) -> Iterator[Reject]:
    """Yield nothing: the networks of a tree are prefixes, so no row is rejected."""
    yield from ()


def _no_lines(_member: Member, records: I64) -> I64:
    return np.zeros(len(records), np.int64)


def _detect(opening: Opening) -> Detection | None:
    with opening.start.open() as stream:
        binary = b"\0" in stream.read()
    return Detection("a search tree") if binary and _MARKER in ending(opening.member) else None


FORMAT = Format("mmdb", frozenset({"fields"}), _read, _detect)
