"""The values of a batch cleaned and numbered, with counts of what could not be read.

An invalid value is null, and so are the fields that mean nothing without it; the other fields of
the row keep their values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.fields import COUNTRY_ALIASES, LOCATION, Field
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.intervals import F64, I64, Addresses, Bools
from geolookup_builder.build_report import FAR_KM
from geolookup_builder.layer_values import Column, Distinct, distinct
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.reference.country_boxes import far_places
from geolookup_builder.rejects import MOST_LISTED, Remarks
from geolookup_builder.sources.reading.reader import Batch
from geolookup_builder.values import Reference, clean, reason_of
from geolookup_builder.vocabulary import VOCABULARY

#: Unknown words kept for each batch; limits memory if a column holds other data.
_MAX_WORDS = 100
_COUNTRY, _REGION = "country_code", "region_code"
#: The fields that mean nothing without another: if its value is invalid, they are null too.
DEPENDENTS = {
    "country_code": ("region_code", "region_name", "city_name", "postal_code"),
    "latitude": ("longitude",),
    "longitude": ("latitude",),
    "asn": ("asn_organization",),
}
_PREFIXED = "^(?P<country>[A-Z]{2})-(?P<code>.*)$"


class Far(NamedTuple):
    """Rows of a batch far outside their country, and how many swapped coordinates bring inside.

    They are counted and listed, not changed: a few are mistakes of a vendor. If most rows of a file
    are far, latitude and longitude are swapped.
    """

    rows: I64
    swapped: int


@dataclass(frozen=True, slots=True)
class CleanBatch:
    """A batch whose values are cleaned, and numbered among themselves."""

    size: int  # rows, with rejected ones
    families: dict[int, tuple[I64, Addresses, Addresses]]  # rows, first and last addresses
    tuples: dict[str, Distinct]
    stated: dict[str, int]  # cells with a value by field, lost ones too
    nulled: Counter[str]  # invalid cells by field, and those that mean nothing without them
    words: dict[str, Counter[str]]  # that the vocabulary lacks, by field
    aliases: Counter[str]  # rows by country code
    nulled_cells: list[Remarks]
    far: Far


class _Loss(NamedTuple):
    """Rows whose value of a field is lost: invalid, or nothing without an invalid one."""

    field: str
    rows: Bools
    without: str = ""


class Cleaning:
    """Cleans the batches of one source."""

    def __init__(self, spec: SourceSpec, reference: Reference) -> None:
        self.schema, self._kept, self._reference = spec.schema, spec.fields, reference

    def clean_batch(self, batch: Batch) -> CleanBatch:
        """Clean and number the values of a batch; safe to call from several threads."""
        is_accepted = batch.ranges.family != 0
        columns, invalid = self._columns(batch, is_accepted)
        losses = [*invalid, *take_dependents(columns, invalid)]
        nulled = Counter[str]()
        for loss in losses:
            nulled[loss.field] += int(np.count_nonzero(loss.rows))
        tuples = {
            layer: distinct(
                {name: columns[name] for name in fields if name in columns}, ~is_accepted
            )
            for layer, fields in self.schema.stated.items()
            if not columns.keys().isdisjoint(fields)
        }
        return CleanBatch(
            size=len(batch),
            families={family: batch.ranges.of_family(family) for family in (4, 6)},
            tuples=tuples,
            stated={
                name: nulled[name] + int(np.count_nonzero((column.codes >= 0) & is_accepted))
                for name, column in columns.items()
            },
            nulled=nulled,
            words={
                loss.field: _frequent(batch.fields[loss.field], loss.rows)
                for loss in invalid
                if loss.field in VOCABULARY
            },
            aliases=_aliases(batch.fields[_COUNTRY], is_accepted, self._reference)
            if _COUNTRY in columns
            else Counter(),
            nulled_cells=[self._listed(batch, loss) for loss in losses],
            far=_far(tuples.get(LOCATION)),
        )

    def _columns(self, batch: Batch, is_accepted: Bools) -> tuple[dict[str, Column], list[_Loss]]:
        """Clean the columns of a batch; also return the accepted rows with invalid values."""
        columns, invalid = dict[str, Column](), list[tuple[str, Bools | None]]()
        for name in batch.fields:
            if name in self._kept:
                field = self.schema.by_source_column[name]
                columns[name], bad = _column(field, batch.fields[name], self._reference)
                invalid.append((name, bad))
        if _REGION in columns:
            columns[_REGION], bad = own_regions(columns[_REGION], columns.get(_COUNTRY))
            invalid.append((_REGION, bad))
        losses = [_Loss(name, bad & is_accepted) for name, bad in invalid if bad is not None]
        return columns, [loss for loss in losses if loss.rows.any()]

    def _listed(self, batch: Batch, loss: _Loss) -> Remarks:
        """Return the first cells of a loss."""
        rows, cells = np.flatnonzero(loss.rows)[:MOST_LISTED], batch.fields[loss.field]
        texts = cells.dictionary.take(cells.indices.take(pa.array(rows))).cast(pa.string())
        field = self.schema.by_source_column[loss.field]
        reason = f"means nothing without {loss.without}" if loss.without else reason_of(field)
        return Remarks("nulled", rows, texts.to_pylist(), loss.field, reason)


def take_dependents(columns: dict[str, Column], invalid: Iterable[_Loss]) -> Iterator[_Loss]:
    """Remove the values that mean nothing beside an invalid one; yield them."""
    for loss in invalid:
        for name in DEPENDENTS.get(loss.field, ()):
            if name in columns:
                codes = columns[name].codes
                yield _Loss(name, loss.rows & (codes >= 0), loss.field)
                codes = np.where(loss.rows, np.int32(-1), codes)
                columns[name] = Column(codes, columns[name].values)


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


def _aliases(cells: pa.DictionaryArray, is_accepted: Bools, reference: Reference) -> Counter[str]:
    """Count the accepted rows whose country is a code that ISO 3166 does not assign."""
    texts = pc.utf8_upper(pc.utf8_trim_whitespace(cells.dictionary))
    if not pc.is_in(texts, pa.array([*reference.aliases], pa.string())).true_count:
        return Counter()
    accepted = cells.indices.filter(pa.array(is_accepted)).drop_null()
    counts, words = np.bincount(accepted, minlength=len(texts)), Counter[str]()
    for word, count in zip(texts.to_pylist(), counts.tolist(), strict=True):
        words[word] += count
    return Counter({word: words[word] for word in reference.aliases if words[word]})


def _frequent(cells: pa.DictionaryArray, rows: Bools) -> Counter[str]:
    """Count the most frequent texts in some rows, none of which is empty."""
    counts = np.bincount(cells.indices.filter(pa.array(rows)).to_numpy())
    common = np.argsort(-counts, kind="stable")[:_MAX_WORDS]
    words = Counter[str]()
    for word, count in zip(cells.dictionary.take(common).to_pylist(), counts[common], strict=True):
        words[word] += int(count)
    return +words


def _far(location: Distinct | None) -> Far:
    """Return the far rows of a batch, by the distinct tuples of their locations."""
    fields = {} if location is None else location.tuples.fields
    if location is None or not fields.keys() >= {_COUNTRY, "latitude", "longitude"}:
        return Far(np.empty(0, np.int64), 0)
    codes, country = fields[_COUNTRY].values.to_pylist(), fields[_COUNTRY].codes
    latitudes, longitudes = _degrees(fields["latitude"]), _degrees(fields["longitude"])
    is_far = np.zeros(len(country) + 1, bool)  # the last: the code -1, without a location
    far = far_places(codes, country, latitudes, longitudes, FAR_KM)
    is_far[far] = True
    rows = np.flatnonzero(is_far[location.codes])
    is_far[far[far_places(codes, country[far], longitudes[far], latitudes[far], FAR_KM)]] = False
    return Far(rows, int(np.count_nonzero(is_far[location.codes[rows]])))


def _degrees(column: Column) -> F64:
    """Return a number for each tuple; not-a-number for null."""
    values = column.values.to_numpy(zero_copy_only=False).astype(np.float64)
    return np.append(values, np.nan)[column.codes]


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
