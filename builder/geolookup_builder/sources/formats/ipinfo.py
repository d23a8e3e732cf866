"""IPinfo, both generations of files: CSV, JSON lines or Parquet, told apart by the first bytes.

All three become batches of the same columns, read by name. Where several columns may
state a field, the first one present is used: ``country`` is a code in older files, and
a name beside ``country_code`` in newer ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from types import ModuleType

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup.filesystem.unpacking import packing
from geolookup_builder.ranges import ParsedRanges, from_networks, from_pairs
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats import mmdb
from geolookup_builder.sources.formats.ipinfo_products import (
    CONSTANTS,
    FIELDS,
    FLAGS,
    OFFERS,
    PRODUCTS,
    REGION_CODE,
    flag_words,
)
from geolookup_builder.sources.reading import delimited, jsonlines, parquet
from geolookup_builder.sources.reading.dictionary_columns import (
    constant,
    first_known,
    translate,
    with_values,
)
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.own_values import OwnRequest, own_request
from geolookup_builder.sources.reading.reader import Batch, Meaning, SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, begins_object
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.vendor_files import (
    header,
    header_text,
    product_of,
    tables,
)

_RANGES = (("network",), ("start_ip", "end_ip"))
#: Columns of other vendors' files that have the same names otherwise.
_FOREIGN = frozenset({"org"})
_SUFFIXES = (".csv", ".json", ".jsonl", ".ndjson", ".parquet")


@dataclass(frozen=True, slots=True)
class _File:
    """A file, the module that reads its syntax, its columns and its product."""

    member: Member
    syntax: ModuleType
    names: tuple[str, ...]
    product: str


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    if spec.path.lower().removesuffix(packing(PurePath(spec.path))).endswith(".mmdb"):
        yield from mmdb.FORMAT.read(spec)
        return
    own = own_request(spec)
    files = [_identify(member) for member in members(spec.path, spec.base, _SUFFIXES)]
    plans = [(file.product, (file, *_plan(file, own))) for file in files]
    own.check()
    order = list(dict.fromkeys(product.name for product in PRODUCTS))
    yield from tables(spec, order, plans, _batches)


def _identify(member: Member) -> _File:
    syntax: ModuleType = delimited
    if parquet.begins(member):
        syntax, names = parquet, tuple(parquet.schema(member).names)
    elif begins_object(member):
        syntax, names = jsonlines, tuple(jsonlines.schema(member).names)
    else:
        names = header(member)
    product = product_of(names, PRODUCTS)
    if product is None or _range(names) is None:
        problem = f"not an IPinfo file that can be used: {header_text(names)}"
        remedy = "name CSV, JSON lines or Parquet of another product"
        raise BuildError(member.label, problem, remedy=remedy)
    return _File(member, syntax, names, product.name)


def _range(names: tuple[str, ...]) -> tuple[str, ...] | None:
    return next((columns for columns in _RANGES if set(columns) <= set(names)), None)


def _batches(plan: tuple[_File, Layout, Meaning]) -> Iterator[Batch]:
    file, layout, meaning = plan
    batches: Iterator[Batch] = file.syntax.batches(file.member, layout, meaning)
    return batches


def _plan(file: _File, own: OwnRequest) -> tuple[Layout, Meaning]:
    # Field -> the first of its columns that the file has.
    column_of = {
        field: next(name for name in columns if name in file.names)
        for field, columns in FIELDS[file.product].items()
        if set(columns) & set(file.names)
    }
    flags = {field: set(words) & set(file.names) for field, words in FLAGS.items()}
    # Beside ``region_name``, ``region`` is a code, such as "CA"; ``_codes`` drops other texts.
    if {"region", "region_name"} <= set(file.names) and "region_code" not in file.names:
        column_of |= {"region_code": "region"}
    columns = _range(file.names) or ()
    fields = frozenset(column_of.values()).union(*flags.values())
    layout = Layout(file.names, frozenset(columns), fields)
    meaning = partial(_meaning, columns=columns, column_of=column_of, product=file.product)
    return own.extend(layout, meaning, OFFERS[file.product])


def _meaning(
    rows: pa.RecordBatch, columns: tuple[str, ...], column_of: Mapping[str, str], product: str
) -> tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]:
    fields = {field: rows.column(name) for field, name in column_of.items()}
    if column_of.get("region_code") == "region":
        fields["region_code"] = _codes(fields["region_code"])
    for field, words in FLAGS.items():
        flags = [
            _where_true(rows.column(name), words[name])
            for name in words
            if name in rows.schema.names
        ]
        if flags:
            # A flag such as is_hosting takes precedence over the word that the row states.
            fields[field] = first_known(*flags, *([fields[field]] if field in fields else []))
    for field, word in CONSTANTS.get(product, {}).items():
        fields[field] = constant(word, len(rows))
    ends = [rows.column(name) for name in columns]
    return from_pairs(*ends) if len(ends) > 1 else from_networks(*ends), fields


def _where_true(flags: pa.DictionaryArray, word: str) -> pa.DictionaryArray:
    """Return ``word`` if a flag is true, else null."""
    return translate(flags, flag_words(word))


def _codes(regions: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the regions that look like codes, as ``region`` is beside ``region_name``."""
    texts = regions.dictionary.cast(pa.string())
    codes = pc.match_substring_regex(texts, f"^{REGION_CODE.pattern}$")
    return with_values(regions, pc.if_else(codes, texts, pa.scalar(None, pa.string())))


def _detect(opening: Opening) -> Detection | None:
    file = _identify(opening.member)
    return None if _FOREIGN & set(file.names) else Detection(file.product)


_OFFERED = frozenset(name for offers in OFFERS.values() for name in offers)
FORMAT = SourceFormat("ipinfo", frozenset(), _read, _detect, mmdb.build_date, _OFFERED)
