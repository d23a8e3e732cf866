"""The values of a batch cleaned and numbered, with counts of what could not be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import LOCATION, Field
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
_COUNTRY = "country_code"


@dataclass(frozen=True, slots=True)
class CleanBatch:
    """A batch whose values are cleaned, and numbered among themselves."""

    size: int  # rows, with rejected ones
    families: dict[int, tuple[I64, Addresses, Addresses]]  # rows, first and last addresses
    tuples: dict[str, Distinct]
    nulled: dict[str, int]  # rows by field
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
        tuples, nulled, words, cells = {}, {}, {}, list[NulledCells]()
        aliases = Counter[str]()
        is_accepted = batch.ranges.family != 0
        for layer, fields in self.schema.stated.items():
            names = [name for name in fields if name in batch.fields and name in self._kept]
            if names:
                columns, invalid = self._columns(batch, names, is_accepted)
                tuples[layer] = distinct(columns, ~is_accepted | _any(invalid.values()))
                nulled.update({name: int(np.count_nonzero(rows)) for name, rows in invalid.items()})
                words.update(_unknown_words(batch, invalid))
                cells += self._nulled_cells(batch, invalid)
                if _COUNTRY in names:
                    aliases = _aliases(batch, is_accepted, self._reference)
        families = {family: batch.ranges.of_family(family) for family in (4, 6)}
        far = far_rows(tuples[LOCATION]) if LOCATION in tuples else Far()
        return CleanBatch(len(batch), families, tuples, nulled, words, aliases, cells, far)

    def _columns(
        self, batch: Batch, names: list[str], is_accepted: Bools
    ) -> tuple[dict[str, Column], dict[str, Bools]]:
        """Clean columns of a batch; also return the accepted rows whose value is invalid."""
        columns, invalid = {}, {}
        for name in names:
            field = self.schema.by_source_column[name]
            columns[name], bad = _column(field, batch.fields[name], self._reference)
            invalid[name] = bad & is_accepted
        return columns, invalid

    def _nulled_cells(self, batch: Batch, invalid: Mapping[str, Bools]) -> Iterator[NulledCells]:
        """Yield the first invalid values of each field."""
        for name, mask in invalid.items():
            rows = np.flatnonzero(mask)[:MOST_LISTED]
            if len(rows):
                cells = batch.fields[name]
                texts = cells.dictionary.take(cells.indices.take(pa.array(rows)))
                field = self.schema.by_source_column[name]
                yield NulledCells(field, rows, texts.cast(pa.string()))


def _any(masks: Iterable[Bools]) -> Bools:
    mask: Bools = np.logical_or.reduce([*masks])
    return mask


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


def _column(field: Field, cells: pa.DictionaryArray, reference: Reference) -> tuple[Column, Bools]:
    """Clean a column; return it with the mask of the rows whose value is invalid."""
    result = clean(field, cells.dictionary, reference)
    codes = without_nulls(cells.indices, -1).to_numpy()
    # One more entry: the index -1 of an empty cell is null and valid.
    bad = (
        np.append(result.invalid, False)[codes]
        if result.invalid.any()
        else np.zeros(len(codes), bool)
    )
    if result.values.null_count:
        null = result.values.is_null().to_numpy(zero_copy_only=False)
        numbers = np.where(null, np.int32(-1), np.arange(len(null), dtype=np.int32))
        codes = np.append(numbers, np.int32(-1))[codes]
    return Column(codes, result.values), bad
