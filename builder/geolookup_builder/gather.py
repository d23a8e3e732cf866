"""The rows of one source table, gathered from its batches: ranges and layer numbers by family.

IPv6 ranges that overlap IPv4-mapped space are folded here. Rows beyond the budget of memory are
written as sorted runs (``row_runs``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.fields import LOCATION, Field
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.intervals import I64, Addresses, Bools, concat
from geolookup.dataset.runs import Codes
from geolookup_builder.build_report import SourceReport
from geolookup_builder.far_rows import Far, far_rows
from geolookup_builder.flatten import Ranges
from geolookup_builder.folding import folded, into_mapped
from geolookup_builder.layer_values import Column, Distinct, LayerValues, distinct
from geolookup_builder.layers import LayerPartition
from geolookup_builder.memory import release
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.rejects import MOST_LISTED, NulledCells
from geolookup_builder.row_runs import (
    FamilyRows,
    GatheredRows,
    Positions,
    Renumber,
    RowBands,
    ascend,
)
from geolookup_builder.sources.reading.reader import Batch
from geolookup_builder.spill import Spill
from geolookup_builder.values import Reference, clean
from geolookup_builder.vocabulary import VOCABULARY

#: Unknown words kept for each batch; limits memory if a column holds other data.
_MAX_WORDS = 100
#: The work on a band of rows in memory. Larger bands take more memory, and no less time.
BAND = 48 << 20
_COUNTRY = "country_code"


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows as their source states them, in row order; IPv4 addresses are integers in 128 bits."""

    family: NDArray[np.uint8]
    first: Addresses  # in 128 bits, whatever the family
    last: Addresses
    numbers: dict[str, Codes]


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


class SourceRows:
    """Gathers the batches of one source table."""

    def __init__(
        self,
        layers: Mapping[str, LayerValues],
        reference: Reference,
        report: SourceReport,
        spec: SourceSpec,
        spill: Spill,
        in_memory: str = "",
    ) -> None:
        self._layers = layers
        self.schema = spec.schema
        self._kept = spec.fields
        self._reference = reference
        self._report = report
        self._families = {family: FamilyRows(family) for family in (4, 6)}
        self._folded = FamilyRows(4)
        self._spill, self._recipe = spill, spec.recipe
        self.in_memory = in_memory  # the key of the recipe that needs all rows in memory
        self._marks = {layer: values.mark() for layer, values in layers.items()}
        self._values = sum(values.nbytes for values in layers.values())  # after the last run

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

    def add(self, batch: CleanBatch) -> None:
        """Add the rows of a batch that are not rejected."""
        numbers = {layer: self._layers[layer].add(values) for layer, values in batch.tuples.items()}
        for family, rows in self._families.items():
            index, first, last = batch.families[family]
            family_numbers = {layer: codes[index] for layer, codes in numbers.items()}
            of_family = GatheredRows(Ranges(first, last), family_numbers, self._positions(index))
            rows.add(of_family)
            if family == 6:
                self._fold(of_family)
        self._report.read += batch.size
        self._report.nulled.update(batch.nulled)
        self._report.aliases.update(batch.aliases)
        self._report.far += len(batch.far.rows)
        self._report.swapped += batch.far.swapped
        for name, counts in batch.words.items():
            self._report.unknown_words.setdefault(name, Counter()).update(counts)
        values = sum(values.nbytes for values in self._layers.values()) - self._values
        if self.nbytes + values > self._spill.budget.rows:
            self.write_runs()

    def _positions(self, index: I64) -> Positions:
        """Return the positions of rows in the table: after the rows of earlier batches."""
        positions = index + self._report.read
        is_narrow = not len(index) or positions[-1] < 1 << 32
        return positions.astype(np.uint32) if is_narrow else positions

    def _fold(self, rows: GatheredRows) -> None:
        """Add the parts of IPv6 rows in IPv4-mapped space to the IPv4 rows."""
        wide = rows[into_mapped(rows.ranges)]
        ranges = folded(wide.ranges, self._report)
        self._folded.add(GatheredRows(ranges, wide.numbers, wide.position))

    def write_runs(self) -> None:
        """Write the rows in memory as sorted runs."""
        if self.in_memory:
            raise self._spill.too_large(self._recipe, f"{self.in_memory} needs all rows in memory")
        self._spill.check_space(self.nbytes)
        renumber = self._merge_equal()
        for rows in self._stores():
            rows.write_run(self._spill, renumber)
        values = sum(values.nbytes for values in self._layers.values())
        self._spill.check_values(values, self._recipe)
        self._values = values
        self._spill.release_pages()
        release()

    def _merge_equal(self) -> dict[str, Renumber]:
        return {
            layer: values.merge_equal(self._marks[layer]) for layer, values in self._layers.items()
        }

    @property
    def nbytes(self) -> int:
        """The bytes of the rows in memory."""
        return sum(rows.nbytes for rows in self._stores())

    def families(self, partitions: Mapping[int, LayerPartition]) -> dict[int, RowBands]:
        """Return the rows by family, in bands that fit in memory beside ``partitions``.

        IPv4 has the parts folded from IPv6.
        """
        keep = bool(self.in_memory)
        families = {
            4: RowBands(4, (self._families[4], self._folded), keep=keep),
            6: RowBands(6, (self._families[6],), keep=keep),
        }
        bases = {family: partition.starts for family, partition in partitions.items()}
        most = self._spill.budget.band
        is_spilled = any(rows.runs for rows in self._stores())
        if is_spilled or any(of.work(bases.get(family)) > most for family, of in families.items()):
            self.write_runs()
        else:
            most, renumber = min(most, BAND), self._merge_equal()
            for rows in self._stores():
                rows.renumber(renumber)
            release()
        for family, of_family in families.items():
            of_family.divide(bases.get(family), most)
        return families

    def remove_runs(self) -> None:
        """Remove the files of the rows."""
        for rows in self._stores():
            rows.remove_runs(self._spill)

    def _stores(self) -> tuple[FamilyRows, ...]:
        return (*self._families.values(), self._folded)

    def select(self, mask: Bools) -> Selection:
        """Return the chosen rows (a mask by position), neither folded nor clipped."""
        stores = [rows.join() for rows in self._families.values()]
        parts = [part[np.flatnonzero(mask[part.position])] for part in stores]
        positions = np.concatenate([part.position for part in parts])
        # Sorted if IPv4 files come before IPv6 files.
        order = slice(None) if ascend(positions) else np.argsort(positions)
        families = np.repeat(np.array([*self._families], np.uint8), [*map(len, parts)])
        numbers = {
            layer: np.concatenate([part.numbers[layer] for part in parts])[order]
            for layer in parts[0].numbers
        }
        first = concat([part.ranges.first.in_128_bits() for part in parts])
        last = concat([part.ranges.last.in_128_bits() for part in parts])
        return Selection(families[order], first[order], last[order], numbers)


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
