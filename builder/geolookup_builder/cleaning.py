"""The values of a batch cleaned and numbered, with counts of what could not be read.

An invalid value is null, and so are the fields that mean nothing without it; the other fields of
the row keep their values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import COUNTRY_ALIASES, LOCATION, Field
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.intervals import I64, Addresses, Bools
from geolookup_builder.build_report import FAR_KM
from geolookup_builder.layer_values import Column, Distinct, Tuples, distinct
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.reference.country_boxes import far_places
from geolookup_builder.rejects import MOST_LISTED, Remarks
from geolookup_builder.sources.formats.vendor_values import REGION_CODE
from geolookup_builder.sources.reading.reader import Batch
from geolookup_builder.values import Reference, clean, reason_of

_COUNTRY, _REGION = "country_code", "region_code"
_COORDINATES = {"latitude", "longitude"}
#: The fields that mean nothing without another: if its value is invalid, they are null too.
DEPENDENTS = {
    "country_code": ("region_code", "region_name", "city_name", "postal_code"),
    "latitude": ("longitude",),
    "longitude": ("latitude",),
    "asn": ("asn_organization",),
}
_EMPTY = pa.scalar("", pa.string())
_PREFIXED = re.compile("([A-Z]{2})-(.*)")


@dataclass(frozen=True, slots=True)
class CleanBatch:
    """A batch whose values are cleaned, and numbered among themselves."""

    size: int  # rows, with rejected ones
    families: dict[int, tuple[I64, Addresses, Addresses]]  # rows, first and last addresses
    tuples: dict[str, Distinct]
    stated: dict[str, int]  # cells with a value by field, lost ones too
    nulled: Counter[str]  # invalid cells by field, and those that mean nothing without them
    aliases: Counter[str]  # rows by country code
    nulled_cells: list[Remarks]
    far: I64  # rows far outside their country
    swapped: int  # how many of them swapped coordinates bring inside
    coded: int  # rows whose region has a code for a name


class _Loss(NamedTuple):
    """Rows whose value of a field is lost: invalid, or nothing without an invalid one."""

    field: str
    rows: Bools
    without: str = ""


def clean_batch(batch: Batch, spec: SourceSpec, reference: Reference) -> CleanBatch:
    """Clean and number the values of a batch; safe to call from several threads."""
    is_accepted = batch.ranges.family != 0
    columns, invalid = _columns(batch, spec, reference, is_accepted)
    losses = [*invalid, *take_dependents(columns, invalid, is_accepted)]
    nulled = Counter[str]()
    for loss in losses:
        nulled[loss.field] += int(np.count_nonzero(loss.rows))
    tuples = {
        layer: distinct(of_layer, ~is_accepted)
        for layer, fields in spec.schema.stated.items()
        if (of_layer := {name: columns[name] for name in fields if name in columns})
    }
    far, swapped = _far(tuples.get(LOCATION))
    return CleanBatch(
        size=len(batch),
        families={family: batch.ranges.of_family(family) for family in (4, 6)},
        tuples=tuples,
        stated={
            name: nulled[name] + int(np.count_nonzero((column.codes >= 0) & is_accepted))
            for name, column in columns.items()
        },
        nulled=nulled,
        aliases=_aliases(batch.fields[_COUNTRY], is_accepted, reference)
        if _COUNTRY in columns
        else Counter(),
        nulled_cells=[_listed(batch, spec, loss) for loss in losses],
        far=far,
        swapped=swapped,
        coded=_coded(columns, is_accepted),
    )


def _columns(
    batch: Batch, spec: SourceSpec, reference: Reference, is_accepted: Bools
) -> tuple[dict[str, Column], list[_Loss]]:
    """Clean the columns of a batch; also return the accepted rows with invalid values."""
    columns, invalid = dict[str, Column](), list[tuple[str, Bools | None]]()
    for name in batch.fields:
        if name in spec.fields:
            field = spec.schema.by_source_column[name]
            columns[name], bad = _column(field, batch.fields[name], reference)
            invalid.append((name, bad))
    if _REGION in columns:
        columns[_REGION], bad = own_regions(columns[_REGION], columns.get(_COUNTRY))
        invalid.append((_REGION, bad))
    losses = [_Loss(name, bad & is_accepted) for name, bad in invalid if bad is not None]
    return columns, [loss for loss in losses if loss.rows.any()]


def _listed(batch: Batch, spec: SourceSpec, loss: _Loss) -> Remarks:
    """Return the first cells of a loss."""
    rows = np.flatnonzero(loss.rows)[:MOST_LISTED]
    texts = batch.fields[loss.field].take(pa.array(rows)).cast(pa.string()).to_pylist()
    reason = f"means nothing without {loss.without}"
    if not loss.without:
        reason = reason_of(spec.schema.by_source_column[loss.field])
    return Remarks("nulled", rows, texts, loss.field, reason)


def take_dependents(
    columns: dict[str, Column], invalid: Iterable[_Loss], is_accepted: Bools
) -> Iterator[_Loss]:
    """Remove the values that mean nothing without another; yield them.

    That is beside an invalid value, or half a coordinate.
    """
    without = {loss.field: loss.rows for loss in invalid}
    if columns.keys() >= _COORDINATES:
        without |= {name: columns[name].codes < 0 for name in _COORDINATES}
    for field, is_without in without.items():
        for name in DEPENDENTS.get(field, ()):
            if name in columns:
                codes, values = columns[name].codes, columns[name].values
                rows = is_without & (codes >= 0)
                columns[name] = Column(np.where(rows, np.int32(-1), codes), values)
                # A count of 0 would come first in the report, before the cause in a later batch.
                if (rows & is_accepted).any():
                    yield _Loss(name, rows & is_accepted, field)


def own_regions(regions: Column, countries: Column | None) -> tuple[Column, Bools | None]:
    """Return region codes without the country before them: ``DE-BE`` of ``DE`` is ``BE``.

    A code of another country than its row's is null; the rows of these are returned too.
    """
    texts = regions.values.to_pylist()
    matches = [_PREFIXED.match(text or "") for text in texts]
    if not any(matches):
        return regions, None
    # UK-ENG is a region of GB.
    before = [COUNTRY_ALIASES.get(match[1], match[1]) if match else None for match in matches]
    prefix = Column(regions.codes, pa.array(before, pa.string())).decoded()
    country = pc.fill_null(countries.decoded(), "") if countries else _EMPTY
    bad = np.asarray(pc.not_equal(prefix, country).fill_null(False), bool)
    own = [match[2] if match else text for match, text in zip(matches, texts, strict=True)]
    return Column.of(np.where(bad, np.int32(-1), regions.codes), pa.array(own, pa.string())), bad


def _aliases(cells: pa.DictionaryArray, is_accepted: Bools, reference: Reference) -> Counter[str]:
    """Count the accepted rows whose country is a code that ISO 3166 does not assign."""
    aliases = pa.array([*reference.aliases], pa.string())
    texts = pc.utf8_upper(pc.utf8_trim_whitespace(cells.dictionary))
    if not pc.is_in(texts, aliases).true_count:
        return Counter()
    words = texts.take(cells.indices.filter(pa.array(is_accepted)))
    return Counter(words.filter(pc.is_in(words, aliases)).to_pylist())


def _coded(columns: dict[str, Column], is_accepted: Bools) -> int:
    """Count the accepted rows whose region has a code for a name, if no column has its code."""
    if _REGION in columns or "region_name" not in columns:
        return 0
    codes, names = columns["region_name"].codes, columns["region_name"].values
    is_code = pc.fill_null(pc.match_substring_regex(names, f"^({REGION_CODE})$"), False)
    # The last: the code -1 of an unknown name.
    is_coded = np.append(is_code.to_numpy(zero_copy_only=False), False)[codes]
    return int(np.count_nonzero(is_coded & is_accepted))


def _far(location: Distinct | None) -> tuple[I64, int]:
    """Return the far rows of a batch, and how many of them swapped coordinates bring inside.

    They are found by the distinct tuples of their locations. They are counted and listed, not
    changed: a few are mistakes of a vendor. If most rows of a file are far, latitude and longitude
    are swapped.
    """
    of_row, tuples = location or (np.empty(0, np.int32), Tuples({}))
    fields = tuples.fields
    if not fields.keys() >= {_COUNTRY, *_COORDINATES}:
        return np.empty(0, np.int64), 0
    codes, country = fields[_COUNTRY].values.to_pylist(), fields[_COUNTRY].codes
    # Null becomes not-a-number.
    latitudes, longitudes = (
        tuples.values(name).to_numpy(zero_copy_only=False) for name in ("latitude", "longitude")
    )
    is_far = np.zeros(len(country) + 1, bool)  # the last: the code -1, without a location
    far = far_places(codes, country, latitudes, longitudes, FAR_KM)
    is_far[far] = True
    rows = np.flatnonzero(is_far[of_row])
    is_far[far[far_places(codes, country[far], longitudes[far], latitudes[far], FAR_KM)]] = False
    return rows, int(np.count_nonzero(is_far[of_row[rows]]))


def _column(
    field: Field, cells: pa.DictionaryArray, reference: Reference
) -> tuple[Column, Bools | None]:
    """Clean a column; return it with the mask of the rows whose value is invalid, if any is."""
    values, invalid = clean(field, cells.dictionary, reference)
    codes = without_nulls(cells.indices, -1).to_numpy()
    # One more entry: the index -1 of an empty cell is null and valid.
    bad = np.append(invalid, False)[codes] if invalid.any() else None
    return Column.of(codes, values), bad
