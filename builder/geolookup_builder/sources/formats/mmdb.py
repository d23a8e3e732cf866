"""MMDB files of any vendor.

Numpy reads the networks from the search tree. The library ``maxminddb`` decodes each
distinct record once, however many networks share it. A file that the library refuses
is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Network, IPv6Network

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import OWN_PREFIX
from geolookup.dataset.intervals import I64
from geolookup.errors import BuildError, near_match
from geolookup.filesystem.signatures import MMDB
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.field_names import source_column
from geolookup_builder.sources.formats.mmdb_keys import keys_read, keys_text, kind_text
from geolookup_builder.sources.formats.mmdb_products import (
    OFFERED,
    REGISTERED,
    Product,
    matching_product,
)
from geolookup_builder.sources.formats.mmdb_values import paths_of, texts_of
from geolookup_builder.sources.reading.dictionary_columns import (
    with_values,
    without,
    without_null_island,
)
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.mmdb_file import Records, networks, open_mmdb
from geolookup_builder.sources.reading.own_values import (
    OwnRequest,
    declaration_hint,
    offered,
    own_request,
)
from geolookup_builder.sources.reading.reader import (
    Batch,
    RecordNumbers,
    Reject,
    SourceFormat,
    SourceTable,
    one_table,
)
from geolookup_builder.sources.reading.sniffing import Detection, Opening, kind_of
from geolookup_builder.sources.reading.stated_dates import of_seconds

Fields = Mapping[str, pa.DictionaryArray]
#: Records decoded at once; a city file's are large.
_CHUNK_RECORDS = 1 << 14
_SAMPLE = 1 << 12  # records that show the schema
#: IP2Location writes an offset: it identifies no time zone.
_OFFSET = "^[+-][0-9]{2}:[0-9]{2}$"
#: ISO 3166-2 writes the country before the code of a region, some vendors do too.
_COUNTRY = "^[A-Z]{2}-"
#: Besides an empty text: DB-IP's countries, and IP2Location's cells.
_UNKNOWN = {"continent_code": ("ZZ", "-"), "country_code": ("ZZ", "-")}
_NAMED = Product("keys that the recipe names", None, ())


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    batches_of = partial(_batches, mapping=_mapping(spec), own=own_request(spec, with_fields=True))
    return one_table(spec, (".mmdb",), batches_of)


def _mapping(spec: SourceSpec) -> Product | None:
    """Return the keys of fields that the recipe states; None if the product decides."""
    fields = spec.options.get("columns")
    if fields is None:
        return None
    if not isinstance(fields, dict) or not fields:
        remedy = 'write columns = { city_name = "city.names.en" }'
        raise BuildError(spec.recipe, "source.columns is not a table of paths", remedy=remedy)
    for name, path in fields.items():
        if not isinstance(path, str) or not path:
            problem = f"source.columns.{name} is not a path"
            raise BuildError(spec.recipe, problem, remedy='join keys with dots, "city.names.en"')
    columns = {
        source_column(spec.recipe, "source.columns", name, spec.schema): name for name in fields
    }
    paths = {
        column: (fields[name],)
        for column, name in columns.items()
        if not column.startswith(OWN_PREFIX)
    }
    return replace(_NAMED, fields=paths) if paths else None


def _batches(member: Member, mapping: Product | None, own: OwnRequest) -> Iterator[Batch]:
    with open_mmdb(member) as file:
        tree = networks(file)
        # Networks with offsets 40 16 40: two distinct records, 16 and 40; codes 1 0 1.
        _, rows, codes = np.unique(tree.offsets, return_index=True, return_inverse=True)
        records = Records(file, tree.ranges.first[rows])
        paths = paths_of(records.sample(_SAMPLE))
        kinds = file.kinds
        product = _product(member, kinds, paths, mapping, own)
        columns = _columns(records, product)
    _locate_by_registration(columns)
    named = {name: keys[0] for name, keys in mapping.fields.items()} if mapping else {}
    _check_mapping(member, named | own.mapped, columns, paths)
    fields = _fields(columns, product, codes)
    numbers = RecordNumbers(member, _find_networks, offered=tuple(_offered(kinds, paths)))
    yield Batch(numbers, 0, tree.ranges, fields, keys_read(product, kinds, paths))


def _fields(columns: Fields, product: Product, codes: I64) -> Fields:
    """Return the fields of the networks, without what vendors write for "unknown"."""
    records = {name: column for name, column in columns.items() if len(column)}
    if product.is_own:
        return {name: _of_networks(column, codes) for name, column in records.items()}
    values = {name: _clean(name, column) for name, column in records.items()}
    values |= {name: offer.read(values[name]) for name, offer in product.own.items()}
    return without_null_island(
        {name: _of_networks(column, codes) for name, column in values.items()}
    )


def _product(
    member: Member,
    kinds: Sequence[str],
    paths: set[str],
    mapping: Product | None,
    own: OwnRequest,
) -> Product:
    """Return the meaning of keys, from the recipe or else the product, with own columns.

    Raises BuildError if the file is of no product, or of one that is refused, unless the recipe
    asks for own columns of it.
    """
    match = matching_product(kinds, paths)
    product = match[0] if match else _NAMED
    # A key that the sample lacks, such as a rare flag, may be in other records.
    own_offers = own.choose(product.offers, paths, own.mapped.values(), is_sample=True)
    if mapping is not None:
        return mapping.with_own(own_offers)
    if match is not None and not product.refusal:
        return product.with_own(own_offers)
    if own_offers:
        return replace(_NAMED, name=product.name).with_own(own_offers)
    raise _refusal(member, kinds, paths, match)


def _offered(kinds: Sequence[str], paths: set[str]) -> Iterator[str]:
    match = matching_product(kinds, paths)
    return offered(match[0].offers, paths) if match else iter(())


def _refusal(
    member: Member,
    kinds: Sequence[str],
    paths: set[str],
    match: tuple[Product, frozenset[str]] | None,
) -> BuildError:
    remedy = 'map keys in the recipe, such as columns = { city_name = "city.names.en" }'
    if match is None:
        problem = f"none of its fields are known ({keys_text(paths) or 'none at all'})"
        return BuildError(member.label, problem, remedy=remedy)
    product, marks = match
    keys = f", keys {keys_text(marks or paths)}"
    problem = f"{product.name} ({kind_text(kinds)}{keys}): {product.refusal}"
    hint = declaration_hint(offered(product.offers, paths))
    return BuildError(member.label, problem, remedy=f"leave the file out, or {remedy}{hint}")


def _columns(records: Records, product: Product) -> dict[str, pa.DictionaryArray]:
    """Return a column a field, with a row for each distinct record."""
    names = [*product.words, *product.fields, *product.constants]
    parts: dict[str, list[pa.Array]] = {name: [pa.array([], pa.string())] for name in names}
    for chunk in records.chunks(_CHUNK_RECORDS):
        for name, texts in texts_of(chunk, product).items():
            parts[name].append(texts)
    return {
        name: pa.concat_arrays(texts_of_field).dictionary_encode()
        for name, texts_of_field in parts.items()
    }


def _clean(name: str, column: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return a column without the vendors' words for "unknown", and codes as in the contract."""
    column = without(column, *_UNKNOWN.get(name, ("-",)))
    values = column.dictionary
    if name == "time_zone":
        offsets = pc.match_substring_regex(values, _OFFSET)
        values = pc.if_else(offsets, pa.scalar(None, pa.string()), values)
    if name == "region_code":
        values = pc.replace_substring_regex(values, _COUNTRY, "")
    return with_values(column, values)


def _locate_by_registration(columns: dict[str, pa.DictionaryArray]) -> None:
    """Use the country of registration if a record has no location, as for the vendor's CSV."""
    registration = columns.pop(REGISTERED, None)
    if registration is not None:
        country, continent = columns["country_code"], columns["continent_code"]
        lacks_location = pc.and_(pc.is_null(country), pc.is_null(continent))
        countries = country.dictionary_decode()
        columns["country_code"] = pc.if_else(
            lacks_location, registration.dictionary_decode(), countries
        ).dictionary_encode()


def _check_mapping(
    member: Member,
    mapping: Mapping[str, str],
    columns: Mapping[str, pa.DictionaryArray],
    paths: set[str],
) -> None:
    """Raise BuildError if no record has a value at a path that the recipe maps."""
    for name, path in mapping.items():
        if columns[name].null_count == len(columns[name]):
            remedy = near_match(path, sorted(paths))
            raise BuildError(member.label, f"no record has a value at {path!r}", remedy=remedy)


def _of_networks(column: pa.DictionaryArray, codes: I64) -> pa.DictionaryArray:
    """Return the values of the networks, whose records are given by ``codes``."""
    indices = column.indices.take(pa.array(codes))
    return pa.DictionaryArray.from_arrays(indices, column.dictionary)


def _find_networks(member: Member, reasons: Mapping[int, str]) -> Iterator[Reject]:
    """Yield the networks with these numbers (from 1), whose values are invalid.

    Their ranges are valid: the networks of a tree are prefixes.
    """
    if not reasons:
        return
    with open_mmdb(member) as file:
        ranges = networks(file).ranges
    for number, reason in sorted(reasons.items()):
        first, last = (ends.item(number - 1) for ends in (ranges.first, ranges.last))
        kind, bits = (IPv6Network, 128) if ranges.family[number - 1] == 6 else (IPv4Network, 32)
        # 8.8.8.0 to 8.8.8.255: the difference, 255, has 8 bits, so /24.
        network = kind((first, bits - (last - first).bit_length()))
        yield Reject(member.label, 0, reason, str(network))


def _detect(opening: Opening) -> Detection | None:
    return Detection("a search tree") if kind_of(opening.member) is MMDB else None


def build_date(member: Member) -> str | None:
    """Return the day on which an MMDB file was built; None for another file."""
    if kind_of(member) is not MMDB:
        return None
    with open_mmdb(member) as file:
        return of_seconds(file.reader.metadata().build_epoch)


FORMAT = SourceFormat("mmdb", frozenset({"columns"}), _read, _detect, build_date, OFFERED)
