"""MMDB files of any vendor, and IPinfo's and iplocate's files with the same products.

Numpy reads the networks from the search tree. The library ``maxminddb`` decodes each
distinct record once, however many networks share it. A file that the library refuses
is not read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Address, IPv6Address, summarize_address_range
from pathlib import PurePath

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import BY_SOURCE_COLUMN, OWN_PREFIX
from geolookup.dataset.intervals import Bools
from geolookup.errors import BuildError, line_text, listed, near_match
from geolookup.filesystem.signatures import MMDB
from geolookup.filesystem.unpacking import packing
from geolookup_builder.ranges import OTHER_RECORD
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.names import offered_type
from geolookup_builder.sources.formats.ipinfo_products import IPINFO, IPLOCATE
from geolookup_builder.sources.formats.mmdb_products import PRODUCTS, matching_product
from geolookup_builder.sources.formats.vendor_values import NO_FIELD
from geolookup_builder.sources.reading import mmdb_file, product_files, reader
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.mmdb_file import MmdbFile, Networks
from geolookup_builder.sources.reading.plans import Planner, Reading
from geolookup_builder.sources.reading.products import NO_RANGE, Header, Product, names_of_fields
from geolookup_builder.sources.reading.sniffing import Detection, Opening, kind_of

#: Records decoded at once; a city file's are large.
_CHUNK_RECORDS = 1 << 14
_SAMPLE = 1 << 12  # records that show the schema
_SHOWN = 8  # keys, in messages
_REPORTED = 100  # keys that are not read, in the build report
_CHARACTERS = 60  # of a key or a text of the file
_LANGUAGE = re.compile(r"\.names\.[^.]+$")
_NOTHING = pa.scalar(None, pa.string())


def _read(spec: SourceSpec) -> Iterator[reader.SourceTable]:
    planner, files = Planner(spec), members(spec.path, spec.base, (".mmdb",))
    yield from planner.tables([("", _batches(member, planner)) for member in files])


def _batches(member: Member, planner: Planner) -> Iterator[reader.Batch]:
    with mmdb_file.open_mmdb(member) as file:
        networks = file.networks()
        count = len(networks.example)
        if not count:
            yield reader.RecordNumbers(member, _find_networks).batch(networks.ranges, {})
            return
        records = file.records(networks, range(0, count, max(1, count // _SAMPLE)))
        paths = sorted(mmdb_file.paths_of(records))
        # The database type is the first of the kinds.
        type_ = next((f"database type {_short(kind)!r}" for kind in file.kinds), "no database type")
        reading = _plan(member, file.kinds, type_, paths, planner)
        columns, is_other = _columns(file, networks, reading)
    for name, path in planner.mapping.items():
        if name not in columns or columns[name].null_count == len(columns[name]):
            problem = f"no record has a value at {path!r}"
            raise BuildError(member.label, problem, remedy=near_match(path, paths))
    # The names in other languages are one key.
    read, lists = reading.layout.fields, reading.layout.lists
    others = (key for key in paths if key not in read and key.rpartition(".")[0] not in lists)
    unread = {_LANGUAGE.sub(".names.*", key) for key in others}
    numbers = reader.RecordNumbers(
        member,
        _find_networks,
        tuple(map(_short, sorted(unread - {mmdb_file.ITSELF})[:_REPORTED])),
        tuple(reading.product.offered(Header(member.label, tuple(paths)))),
        f"{reading.product.name} ({type_})",
    )
    # Networks with the records 1 0 1, and their values "NO" and null: null "NO" null.
    record = pa.array(networks.record)
    fields = {
        name: pa.DictionaryArray.from_arrays(column.indices.take(record), column.dictionary)
        for name, column in columns.items()
        if not name.startswith(OWN_PREFIX) or column.null_count < len(column)
    }
    is_rejected, ranges = is_other[networks.record], networks.ranges
    family = np.where(is_rejected, 0, ranges.family).astype(np.uint8)
    reason = is_rejected.astype(np.uint8) * OTHER_RECORD
    yield numbers.batch(replace(ranges, family=family, reason=reason), fields)


def _plan(
    member: Member, kinds: Collection[str], type_: str, paths: Sequence[str], planner: Planner
) -> Reading:
    """Return how the records are read, by the recipe and else by the product.

    Raises BuildError if the file is of no product, or of one that is refused, unless the recipe
    asks for values of it.
    """
    match = matching_product(kinds, Header(member.label, tuple(paths)), planner.spec.schema)
    product = match or Product("keys that the recipe names", NO_RANGE, {})
    if product.refusal:  # whatever its other keys are named, they are no fields
        product = replace(product, unread=tuple(paths))
    # A key that the sample lacks, such as a rare one, may be in other records.
    offers = [offer.columns for column in BY_SOURCE_COLUMN for offer in product.offers(column)]
    rare = [keys[0] for keys in offers if keys and not {*paths}.intersection(keys)]
    mapped = [key for key in planner.mapping.values() if offered_type(key) is None]
    lists = {path.removesuffix(".0") for path in paths if path.endswith(".0")}
    own = lists.intersection(names_of_fields(planner.spec.schema))
    names = sorted({*paths, *rare, *product.helpers, *mapped, *own})
    reading = planner.plan(Header(member.label, tuple(names), is_sample=True), product)
    if not reading.values:
        raise _refusal(member, type_, paths, match)
    # So may a declared column, by each of its names.
    planned = reading.values.keys() | planner.mapping.keys()
    for field in planner.spec.schema.own:
        if field.source_column not in planned and not product.offers(field.member):
            names += [field.member, field.path, field.name]
    return planner.plan(Header(member.label, tuple(names), is_sample=True), product)


def _refusal(
    member: Member, type_: str, paths: Sequence[str], product: Product | None
) -> BuildError:
    """Return the error about a file that states no field, with what to map."""
    example = paths[0] if paths else "country.iso_code"
    remedy = f'map keys in the recipe, such as columns = {{ country_code = "{_short(example)}" }}'
    marks = next((marks for marks in product.marks if marks <= {*paths}), ()) if product else ()
    keys = listed([*map(_short, sorted(marks) or paths)], _SHOWN) or "none at all"
    if product is None:
        return BuildError(member.label, f"none of its fields are known ({keys})", remedy=remedy)
    problem = f"{product.name} ({type_}, keys {keys}): {product.refusal or NO_FIELD}"
    hint = product_files.declaration_hint(product.offered(Header(member.label, tuple(paths))))
    return BuildError(member.label, problem, remedy=f"leave the file out, or {remedy}{hint}")


def _columns(
    file: MmdbFile, networks: Networks, reading: Reading
) -> tuple[dict[str, pa.DictionaryArray], Bools]:
    """Return a column for each field, with a row for each distinct record.

    Also return which records are of another kind than those that the columns are read from.
    """
    layout, count = reading.layout, len(networks.example)
    parts: dict[str, list[pa.Array]] = {}
    others = []
    for begin in range(0, count, _CHUNK_RECORDS):
        records = file.records(networks, range(begin, min(begin + _CHUNK_RECORDS, count)))
        others.append(mmdb_file.are_other(records, layout.fields))
        # An empty record states nothing, not even that a flag is false.
        is_empty = pa.array([record == {} for record in records], pa.bool_())
        for name, column in reading.fields(mmdb_file.columns_of(records, layout)).items():
            texts = pc.if_else(is_empty, _NOTHING, column.cast(pa.string()))
            parts.setdefault(name, []).append(texts)
    columns = {name: pa.concat_arrays(texts).dictionary_encode() for name, texts in parts.items()}
    return columns, np.concatenate(others)


def _short(text: str) -> str:
    line = line_text(text)
    return line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS]}…"


def _find_networks(member: Member, reasons: Mapping[int, str]) -> Iterator[reader.Reject]:
    """Yield the networks with these numbers (from 1): rejected, or with an invalid value."""
    if not reasons:
        return
    with mmdb_file.open_mmdb(member) as file:
        ranges = file.networks().ranges
    for number, reason in sorted(reasons.items()):
        kind = IPv6Address if ranges.family[number - 1] == 6 else IPv4Address
        ends = (kind(ends.item(number - 1)) for ends in (ranges.first, ranges.last))
        [network] = summarize_address_range(*ends)
        yield reader.Reject(member.label, 0, reason, str(network))


def _detect(opening: Opening) -> Detection | None:
    return Detection("a search tree") if kind_of(opening.member) is MMDB else None


def build_date(member: Member) -> str | None:
    """Return the day on which an MMDB file was built; None for another file."""
    if kind_of(member) is not MMDB:
        return None
    with mmdb_file.open_mmdb(member) as file:
        return reader.of_seconds(file.reader.metadata().build_epoch)


def _read_ipinfo(spec: SourceSpec) -> Iterator[reader.SourceTable]:
    if spec.path.lower().removesuffix(packing(PurePath(spec.path))).endswith(".mmdb"):
        return _read(spec)
    # The first bytes of a file show its syntax.
    return product_files.product_tables(
        spec, IPINFO, (".csv", ".json", ".jsonl", ".ndjson", ".parquet")
    )


FORMAT = reader.SourceFormat(
    "mmdb",
    frozenset({"columns"}),
    _read,
    _detect,
    build_date,
    tuple(product for products, _ in PRODUCTS for product in products),
)
IPINFO_FORMAT = reader.SourceFormat(
    "ipinfo",
    frozenset({"columns"}),
    _read_ipinfo,
    partial(product_files.detect_product, format_="ipinfo", products=IPINFO),
    build_date,
    IPINFO,
)
IPLOCATE_FORMAT = reader.SourceFormat(
    "iplocate",
    frozenset(),
    partial(product_files.product_tables, products=IPLOCATE, suffixes=(".csv",)),
    partial(product_files.detect_product, format_="iplocate", products=IPLOCATE),
    products=IPLOCATE,
)
