"""The values of a batch cleaned and numbered, with counts of what could not be read.

An invalid value is null, and so are the fields that mean nothing without it; the other fields of
the row keep their values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.fields import COUNTRY_ALIASES, LOCATION, Field
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.intervals import I64, Addresses, Bools
from geolookup_builder.far_rows import Far, far_rows
from geolookup_builder.layer_values import Column, Distinct, distinct
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.rejects import MOST_LISTED, NulledCells
from geolookup_builder.sources.reading.reader import Batch
from geolookup_builder.values import Reference, clean
from geolookup_builder.vocabulary import VOCABULARY

#: Unknown words kept for each batch; limits memory if a column holds other data.
_MAX_WORDS = 100
_COUNTRY, _REGION = "country_code", "region_code"
#: The fields that mean nothing without another: if its value is invalid, they are null too.
DEPENDENTS = {
    "country_code": {"region_code", "region_name", "city_name", "postal_code"},
    "latitude": {"longitude"},
    "longitude": {"latitude"},
    "asn": {"asn_organization"},
}
_PREFIXED = "^(?P<country>[A-Z]{2})-(?P<code>.*)$"


@dataclass(frozen=True, slots=True)
class CleanBatch:
    """A batch whose values are cleaned, and numbered among themselves."""

    size: int  # rows, with rejected ones
    families: dict[int, tuple[I64, Addresses, Addresses]]  # rows, first and last addresses
    tuples: dict[str, Distinct]
    stated: dict[str, int]  # cells with a value by field, invalid ones too
    nulled: Counter[str]  # invalid cells by field, and those that mean nothing without them
    words: dict[str, Counter[str]]  # that the vocabulary lacks, by field
    aliases: Counter[str]  # rows by country code
    nulled_cells: list[NulledCells]
    far: Far


class Cleaning:
    """Cleans the batches of one source."""

    def __init__(self, spec: SourceSpec, reference: Reference) -> None:
        self.schema, self._kept, self._reference = spec.schema, spec.fields, reference

    def clean_batch(self, batch: Batch) -> CleanBatch:
        """Clean and number the values of a batch; safe to call from several threads."""
        is_rejected = batch.ranges.family == 0
        names = [name for name in batch.fields if name in self._kept]
        columns, invalid = self._columns(batch, names)
        stated = {
            name: int(np.count_nonzero((columns[name].codes >= 0) & ~is_rejected)) for name in names
        }
        for name, bad in invalid.items():
            bad &= ~is_rejected
            stated[name] += int(np.count_nonzero(bad))
        cells = [*self._nulled_cells(batch, invalid)]
        nulled = Counter({name: int(np.count_nonzero(bad)) for name, bad in invalid.items()})
        for name, lost in take_dependents(columns, invalid).items():
            nulled.update({other: int(np.count_nonzero(rows)) for other, rows in lost.items()})
            cells += self._nulled_cells(batch, lost, without=name)
        tuples = {}
        for layer, fields in self.schema.stated.items():
            of_layer = {name: columns[name] for name in fields if name in columns}
            if of_layer:
                tuples[layer] = distinct(of_layer, is_rejected)
        return CleanBatch(
            len(batch),
            {family: batch.ranges.of_family(family) for family in (4, 6)},
            tuples,
            stated,
            nulled,
            _unknown_words(batch, invalid),
            _aliases(batch, ~is_rejected, self._reference) if _COUNTRY in names else Counter(),
            cells,
            far_rows(tuples[LOCATION]) if LOCATION in tuples else Far(),
        )

    def _columns(
        self, batch: Batch, names: list[str]
    ) -> tuple[dict[str, Column], dict[str, Bools]]:
        """Clean columns of a batch; also return the rows of invalid values, by field."""
        columns, invalid = {}, {}
        for name in names:
            field = self.schema.by_source_column[name]
            columns[name], bad = _column(field, batch.fields[name], self._reference)
            if bad is not None:
                invalid[name] = bad
        if _REGION in columns:
            columns[_REGION], bad = own_regions(columns[_REGION], columns.get(_COUNTRY))
            if bad is not None:
                invalid[_REGION] = bad | invalid.get(_REGION, False)
        return columns, invalid

    def _nulled_cells(
        self, batch: Batch, invalid: Mapping[str, Bools], without: str = ""
    ) -> Iterator[NulledCells]:
        """Yield the first invalid values of each field, or those that are lost with another."""
        for name, mask in invalid.items():
            rows = np.flatnonzero(mask)[:MOST_LISTED]
            if len(rows):
                cells = batch.fields[name]
                texts = cells.dictionary.take(cells.indices.take(pa.array(rows)))
                field = self.schema.by_source_column[name]
                yield NulledCells(field, rows, texts.cast(pa.string()), without)


def take_dependents(
    columns: dict[str, Column], invalid: Mapping[str, Bools]
) -> dict[str, dict[str, Bools]]:
    """Remove the values that mean nothing beside an invalid one.

    Returns the rows that lost one, by the field that is invalid, and their field.
    """
    lost = dict[str, dict[str, Bools]]()
    for name, dependents in DEPENDENTS.items():
        if name in invalid:
            for other in sorted(dependents & columns.keys()):
                values, codes = columns[other].values, columns[other].codes
                lost.setdefault(name, {})[other] = invalid[name] & (codes >= 0)
                columns[other] = Column(np.where(invalid[name], np.int32(-1), codes), values)
    return lost


def own_regions(regions: Column, countries: Column | None) -> tuple[Column, Bools | None]:
    """Return region codes without the country before them: ``DE-BE`` of ``DE`` is ``BE``.

    A code of another country than its row's is null; the rows of these are returned too.
    """
    parts = pc.extract_regex(regions.values, _PREFIXED)
    if parts.null_count == len(parts):
        return regions, None
    prefixes = _iso_codes(pc.struct_field(parts, "country"))
    # The country of each row, and the one before its region, as numbers of these words.
    words = prefixes.drop_null().unique()
    prefix = _numbers(prefixes, words)[regions.codes]
    country = -1 if countries is None else _numbers(countries.values, words)[countries.codes]
    bad = (prefix >= 0) & (prefix != country)
    values = pc.coalesce(pc.struct_field(parts, "code"), regions.values)
    return Column(np.where(bad, np.int32(-1), regions.codes), values), bad


def _numbers(values: pa.Array, words: pa.Array) -> NDArray[np.int32]:
    """Return the number of each value among words; one more entry, for the code -1 of null."""
    return np.append(pc.fill_null(pc.index_in(values, words), -1), np.int32(-1))


def _iso_codes(codes: pa.Array) -> pa.Array:
    """Return country codes with aliases replaced by ISO 3166's: UK-ENG is a region of GB."""
    for alias, code in COUNTRY_ALIASES.items():
        codes = pc.if_else(pc.equal(codes, alias), code, codes)
    return codes


def _unknown_words(batch: Batch, invalid: Mapping[str, Bools]) -> dict[str, Counter[str]]:
    """Count the most frequent words that the vocabulary lacks, for the build report."""
    counters = {}
    for name, rows in invalid.items():
        if name in VOCABULARY and rows.any():
            cells = batch.fields[name]
            counts = np.bincount(cells.indices.filter(pa.array(rows)).to_numpy())
            common = np.argsort(-counts, kind="stable")[:_MAX_WORDS]
            words = cells.dictionary.take(pa.array(common)).to_pylist()
            counters[name] = +Counter(dict(zip(words, counts[common].tolist(), strict=True)))
    return counters


def _aliases(batch: Batch, is_accepted: Bools, reference: Reference) -> Counter[str]:
    """Count the accepted rows whose country is a code that ISO 3166 does not assign."""
    cells, words = batch.fields[_COUNTRY], [*reference.aliases]
    # Distinct cells "GB", "uk ": numbers null, 0. Rows are counted by the number of their cell.
    texts = pc.utf8_upper(pc.utf8_trim_whitespace(cells.dictionary))
    numbers = pc.index_in(texts, pa.array(words, pa.string()))
    if numbers.null_count == len(numbers):
        return Counter()
    of_rows = numbers.take(cells.indices.filter(pa.array(is_accepted))).drop_null()
    counts = np.bincount(of_rows.to_numpy(), minlength=len(words))
    return +Counter(dict(zip(words, counts.tolist(), strict=True)))


def _column(
    field: Field, cells: pa.DictionaryArray, reference: Reference
) -> tuple[Column, Bools | None]:
    """Clean a column; return it with the mask of the rows whose value is invalid, if any is."""
    result = clean(field, cells.dictionary, reference)
    codes = without_nulls(cells.indices, -1).to_numpy()
    # One more entry: the index -1 of an empty cell is null and valid.
    bad = np.append(result.invalid, False)[codes] if result.invalid.any() else None
    if result.values.null_count:
        null = result.values.is_null().to_numpy(zero_copy_only=False)
        numbers = np.where(null, np.int32(-1), np.arange(len(null), dtype=np.int32))
        codes = np.append(numbers, np.int32(-1))[codes]
    return Column(codes, result.values), bad
