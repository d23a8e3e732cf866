"""The rows of one source table, gathered from its batches: ranges and layer numbers by family.

Of a row only its range, its position and one number for each layer are kept. IPv6
ranges that overlap IPv4-mapped space are folded here: the part inside becomes an IPv4
row with the specificity of the range as stated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.fields import LOCATION, Field
from geolookup.contract.schema import Schema
from geolookup.contract.special import CARRIES_IPV4, ranges_of
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.intervals import I64, Addresses, Bools, clamp, concat, empty
from geolookup_builder.build_report import SourceReport
from geolookup_builder.factorize import Codes
from geolookup_builder.far_rows import Far, far_rows
from geolookup_builder.flatten import Keys, Ranges, duplicates, stated_keys
from geolookup_builder.layer_values import UNKNOWN, Column, Distinct, LayerValues, distinct
from geolookup_builder.rejects import MOST_LISTED, NulledCells
from geolookup_builder.sources.reading.reader import Batch
from geolookup_builder.values import Reference, clean
from geolookup_builder.vocabulary import VOCABULARY

#: IPv4-mapped space is folded into IPv4; NAT64 and 6to4 space is excluded.
FOLDED, *EXCLUDED = ranges_of(6, CARRIES_IPV4)
#: Unknown words kept for each batch; limits memory if a column holds other data.
_MAX_WORDS = 100
_COUNTRY = "country_code"


@dataclass(frozen=True, slots=True)
class GatheredRows:
    """All rows of a family: ranges, layer numbers, and each row's position in its source."""

    ranges: Ranges
    numbers: dict[str, Codes]
    position: I64


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows as their source states them, in row order; IPv4 addresses are integers in 128 bits."""

    family: NDArray[np.uint8]
    first: Addresses  # in 128 bits, whatever the family
    last: Addresses
    numbers: dict[str, Codes]


@dataclass(slots=True)
class FamilyRows:
    """Rows of one family; ``numbers`` holds a number for each row and layer of the source."""

    family: int
    first: list[Addresses] = field(default_factory=list)
    last: list[Addresses] = field(default_factory=list)
    position: list[I64] = field(default_factory=list)
    numbers: dict[str, list[Codes]] = field(default_factory=dict)

    def add(
        self, first: Addresses, last: Addresses, position: I64, numbers: dict[str, Codes]
    ) -> None:
        """Add rows; a layer that this or an earlier file lacks is unknown in its rows."""
        for layer in numbers:
            if layer not in self.numbers:
                before = sum(map(len, self.position))
                self.numbers[layer] = [np.full(before, UNKNOWN, np.int32)]
        self.first.append(first)
        self.last.append(last)
        self.position.append(position)
        for layer, parts in self.numbers.items():
            parts.append(numbers.get(layer, np.full(len(position), UNKNOWN, np.int32)))

    def join(self) -> GatheredRows:
        """Return all rows, in row order."""
        return GatheredRows(
            Ranges(
                concat([empty(self.family), *self.first]), concat([empty(self.family), *self.last])
            ),
            {layer: np.concatenate(parts) for layer, parts in self.numbers.items()},
            np.concatenate([np.empty(0, np.int64), *self.position]),
        )


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
        fields: frozenset[str],
        schema: Schema,
    ) -> None:
        self._layers = layers
        self.schema = schema
        self._kept = fields
        self._reference = reference
        self._report = report
        self._families = {family: FamilyRows(family) for family in (4, 6)}

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
            # ``read`` is the number of rows of earlier batches.
            rows.add(first, last, index + self._report.read, family_numbers)
        self._report.read += batch.size
        self._report.nulled.update(batch.nulled)
        self._report.aliases.update(batch.aliases)
        self._report.far += len(batch.far.rows)
        self._report.swapped += batch.far.swapped
        for name, counts in batch.words.items():
            self._report.unknown_words.setdefault(name, Counter()).update(counts)

    def duplicates(self) -> int:
        """Return the number of rows with the range of a later row; IPv4-mapped counts as IPv4."""
        ipv4, ipv6 = (self._rows[family].ranges for family in (4, 6))
        if not len(_into_mapped(ipv6)):
            return duplicates(ipv4) + duplicates(ipv6)
        first = concat([_as_mapped(ipv4.first), ipv6.first])
        return duplicates(Ranges(first, concat([_as_mapped(ipv4.last), ipv6.last])))

    def of_family(self, family: int) -> GatheredRows:
        """Return the rows of a family; for IPv4 with the parts folded from IPv6."""
        rows = self._rows[family]
        return rows if family == 6 else _fold_in(rows, self._rows[6], self._report)

    def select(self, mask: Bools) -> Selection:
        """Return the chosen rows (a mask by position), neither folded nor clipped."""
        parts = [(part, np.flatnonzero(mask[part.position])) for part in self._rows.values()]
        order = _order(np.concatenate([part.position[rows] for part, rows in parts]))
        firsts = (part.ranges.first[rows].in_128_bits() for part, rows in parts)
        lasts = (part.ranges.last[rows].in_128_bits() for part, rows in parts)
        families = np.repeat(np.array([*self._rows], np.uint8), [len(rows) for _, rows in parts])
        numbers = {
            layer: np.concatenate([part.numbers[layer][rows] for part, rows in parts])[order]
            for layer in self._rows[4].numbers
        }
        ends = concat([*firsts])[order], concat([*lasts])[order]
        return Selection(families[order], *ends, numbers)

    def release(self) -> None:
        """Release the rows; those that ``of_family`` returned remain."""
        del self._rows

    @cached_property
    def _rows(self) -> dict[int, GatheredRows]:
        """All rows by family; the batches are released."""
        return {family: self._families.pop(family).join() for family in (4, 6)}


def _order(positions: I64) -> I64 | slice:
    """Return the order of positions; they are sorted if IPv4 files come before IPv6 files."""
    in_order = bool(np.all(positions[:-1] < positions[1:]))
    return slice(None) if in_order else np.argsort(positions)


def _fold_in(ipv4: GatheredRows, ipv6: GatheredRows, report: SourceReport) -> GatheredRows:
    """Add to IPv4 rows the parts of IPv6 rows in IPv4-mapped space, in row order."""
    wide = _into_mapped(ipv6.ranges)
    if not len(wide):
        return ipv4
    wide_first, wide_last = ipv6.ranges.first[wide], ipv6.ranges.last[wide]
    # ::fffe:ffff:0 - ::ffff:8.8.8.8 becomes 0.0.0.0 - 8.8.8.8. Its keys
    # still describe the stated range, so narrower IPv4 rows decide.
    first, last = (_from_mapped(clamp(ends, *FOLDED)) for ends in (wide_first, wide_last))
    report.rows_folded += len(wide)
    # Last less first, and one more address of each row.
    report.addresses_folded += last.minus(first).total() + len(wide)
    position = np.concatenate([ipv4.position, ipv6.position[wide]])
    order = np.argsort(position, kind="stable")
    keys = zip(_mapped_keys(ipv4.ranges), stated_keys(wide_first, wide_last), strict=True)
    ranges = Ranges(
        concat([ipv4.ranges.first, first])[order],
        concat([ipv4.ranges.last, last])[order],
        tuple(np.concatenate(pair)[order] for pair in keys),
    )
    numbers = {
        layer: np.concatenate([own, ipv6.numbers[layer][wide]])[order]
        for layer, own in ipv4.numbers.items()
    }
    return GatheredRows(ranges, numbers, position[order])


def _into_mapped(ranges: Ranges) -> I64:
    """Return which IPv6 ranges reach into IPv4-mapped space."""
    begin, end = (Addresses.of(6, [bound]) for bound in FOLDED)
    return np.flatnonzero(~(ranges.last < begin) & ~(end < ranges.first))


def _from_mapped(ends: Addresses) -> Addresses:
    return Addresses((ends.low & np.uint64(0xFFFF_FFFF)).astype(np.uint32))


def _mapped_keys(ranges: Ranges) -> Keys:
    """Return the specificity of IPv4 ranges on the scale of stated IPv6 ranges."""
    return stated_keys(*(_as_mapped(ends) for ends in (ranges.first, ranges.last)))


def _as_mapped(ends: Addresses) -> Addresses:
    # 8.8.8.8 becomes ::ffff:8.8.8.8.
    return Addresses(ends.low | np.uint64(FOLDED[0]), np.zeros(len(ends), np.uint64))


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
