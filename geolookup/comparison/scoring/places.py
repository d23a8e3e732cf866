"""The places that truth and datasets state, and ground truth as a partition of the address space.

Places are numbers: equal numbers are equal names. Names are numbered by their distinct values, so
no work grows with the rows. Names of regions and cities are compared without case, accents and
punctuation. Ground truth has one form for range files and tables of addresses. Of several truths
the first that states anything about an address decides, as sources of a recipe do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.comparison.measures import F64
from geolookup.comparison.overlay import FAMILIES
from geolookup.comparison.values import Codes, coordinates, read_tables
from geolookup.contract.display import fold
from geolookup.contract.fields import COUNTRY, LOCATION
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import I64, Addresses, overlay

NAMES = ("country_code", "region_code", "region_name", "city_name")
COORDINATES = ("latitude", "longitude")
_FOLDED = ("region_name", "city_name")
#: The format of a table of addresses.
ADDRESSES = "addresses"
#: The prefix length of a range that is not a prefix.
NO_PREFIX = -1


@dataclass(frozen=True, slots=True)
class Names:
    """One column of names: for each place a code (-1 for null) into distinct values."""

    codes: Codes
    values: pa.StringArray

    def text(self, location: int) -> str | None:
        """Return the name of a place as its source spells it."""
        code = int(self.codes[location])
        return None if code < 0 else str(self.values[code].as_py())


@dataclass(frozen=True, slots=True)
class Places:
    """Places by number; place 0 is unknown. Coordinates in degrees, shape (2, n), NaN is null."""

    names: Mapping[str, Names]
    coordinates: F64

    def __len__(self) -> int:
        return len(self.coordinates[0])


@dataclass(frozen=True, slots=True)
class SideAnswers:
    """The answers of one side for n joint intervals: codes in common with the other sides."""

    names: Mapping[str, Codes]  # each of shape (n,); -1 is null
    coordinates: F64  # (2, n)


def of_table(table: pa.Table) -> Places:
    """Return the places of a table with the columns ``NAMES`` and ``COORDINATES``."""
    return Places({name: _names(table[name]) for name in NAMES}, coordinates(table))


def of_dataset(dataset: Dataset) -> Places:
    """Return the places of a dataset, by location row; DatasetError for a damaged one."""
    tables = read_tables(dataset)
    locations = tables[LOCATION]
    country, link = _names(tables[COUNTRY]["country_code"]), locations[COUNTRY].to_numpy()
    names = {name: _names(locations[name]) for name in NAMES[1:]}
    code = Names(country.codes[link], country.values)
    return Places({"country_code": code, **names}, coordinates(locations))


def join(several: Sequence[Places]) -> Places:
    """Return the places of several sides as one, each with its own place 0 left in."""
    names = {}
    for name in NAMES:
        sides = [places.names[name] for places in several]
        begins = np.cumsum([0, *(len(side.values) for side in sides)])
        # The values of all sides one after the other: codes move by those before.
        codes = [
            np.where(side.codes < 0, -1, side.codes + begin)
            for side, begin in zip(sides, begins[:-1], strict=True)
        ]
        values = pa.concat_arrays([side.values for side in sides])
        names[name] = Names(np.concatenate(codes).astype(np.int32), values)
    return Places(names, np.concatenate([places.coordinates for places in several], axis=1))


def answers_of_sides(
    sides: Sequence[Places], places: Sequence[NDArray[np.integer]]
) -> list[SideAnswers]:
    """Return the answers of each side, by its place in each of n joint intervals."""
    common = {name: _in_common([side.names[name] for side in sides], name) for name in NAMES}
    return [
        SideAnswers(
            {name: common[name][at][location] for name in NAMES}, side.coordinates[:, location]
        )
        for at, (side, location) in enumerate(zip(sides, places, strict=True))
    ]


def _names(column: pa.ChunkedArray) -> Names:
    plain = column.combine_chunks()
    encoded = plain if pa.types.is_dictionary(plain.type) else plain.dictionary_encode()
    codes = encoded.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    return Names(codes, encoded.dictionary.cast(pa.string()))


def _in_common(sides: Sequence[Names], name: str) -> list[Codes]:
    """Return the codes of all sides, by place, into one set of values."""
    comparable: Callable[[pa.Array], pa.Array] = _fold_names if name in _FOLDED else _as_is
    values = pa.concat_arrays([comparable(side.values) for side in sides])
    numbers: Codes = values.dictionary_encode().indices.to_numpy()
    begins = np.cumsum([0, *(len(side.values) for side in sides)])
    # One more entry at the end: the code -1 maps to -1.
    return [
        np.append(numbers[begin:end], np.int32(-1))[side.codes]
        for side, begin, end in zip(sides, begins[:-1], begins[1:], strict=True)
    ]


def _as_is(values: pa.Array) -> pa.Array:
    return values


def _fold_names(values: pa.Array) -> pa.Array:
    """Return the folded names; a name that folds to nothing is unchanged."""
    return pa.array([fold(name) or name for name in values.to_pylist()], pa.string())


@dataclass(frozen=True, slots=True)
class TruthFile:
    """One file of ground truth, and its rows."""

    path: str
    format: str  # a source format of recipes, or "addresses"
    rows: int
    rejected: int  # rows without a valid range or address
    nulled: int  # invalid values, read as null


@dataclass(frozen=True, slots=True)
class TruthRows:
    """Rows by number from 1; row 0 stands for no row."""

    family: NDArray[np.uint8]
    length: NDArray[np.int16]  # of the prefix, else NO_PREFIX
    location: I64  # the place that it states; 0: none

    def __len__(self) -> int:
        return len(self.family)


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of one family, and the row that decides each interval; 0 if no row does."""

    starts: Addresses
    row: I64


@dataclass(frozen=True, slots=True)
class Truth:
    """The rows of ground truth, and the intervals that each of them decides."""

    files: Sequence[TruthFile]
    rows: TruthRows
    partitions: Mapping[int, Partition]  # by family
    places: Places

    @property
    def of_addresses(self) -> bool:
        """Whether any file lists single addresses: no report may show them."""
        return any(file.format == ADDRESSES for file in self.files)

    @property
    def of_ranges(self) -> bool:
        """Whether any file lists ranges."""
        return any(file.format != ADDRESSES for file in self.files)


def together(several: Sequence[Truth]) -> Truth:
    """Return several truths as one: the first with a place for an address decides."""
    first, *others = several
    for other in others:
        first = _over(first, other)
    return first


def _over(above: Truth, below: Truth) -> Truth:
    rows = TruthRows(
        np.concatenate([above.rows.family, below.rows.family]),
        np.concatenate([above.rows.length, below.rows.length]),
        np.concatenate([above.rows.location, _after(below.rows.location, len(above.places))]),
    )
    lower = {
        family: Partition(partition.starts, _after(partition.row, len(above.rows)))
        for family, partition in below.partitions.items()
    }
    states = above.rows.location > 0
    partitions = {f: first_stating(states, [above.partitions[f], lower[f]]) for f in FAMILIES}
    places = join([above.places, below.places])
    return Truth([*above.files, *below.files], rows, partitions, places)


def _after(numbers: I64, count: int) -> I64:
    """Return numbers after ``count`` others; 0 stays 0."""
    return np.where(numbers > 0, numbers + count, 0)


def first_stating(states: NDArray[np.bool_], several: Sequence[Partition]) -> Partition:
    """Overlay partitions: in each interval the first row that states anything decides.

    ``states`` says of the rows of all partitions but the last, by number, whether they do.
    """
    starts, at = overlay([partition.starts for partition in several])
    row = several[-1].row[at[-1]]
    # From the last but one up: an earlier partition replaces what a later one stated.
    for partition, rows in zip(several[-2::-1], at[-2::-1], strict=True):
        upper = partition.row[rows]
        row = np.where(states[upper], upper, row)
    return Partition(starts, row)
