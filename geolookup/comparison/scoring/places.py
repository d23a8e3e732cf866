"""The places that truth and datasets state, as numbers: equal numbers are equal names.

Names are numbered by their distinct values, so that no work grows with the rows. Names of
regions and cities are compared without case, accents and punctuation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.comparison.values import Codes, coordinates, read_tables
from geolookup.contract.display import fold
from geolookup.contract.fields import COUNTRY, LOCATION
from geolookup.dataset.files import Dataset

F64 = NDArray[np.float64]
NAMES = ("country_code", "region_code", "region_name", "city_name")
COORDINATES = ("latitude", "longitude")
_FOLDED = ("region_name", "city_name")


@dataclass(frozen=True, slots=True)
class Names:
    """One column of names: for each place a code (-1 for null) into distinct values."""

    codes: Codes
    values: pa.StringArray

    def text(self, place: int) -> str | None:
        """Return the name of a place as its source spells it."""
        code = int(self.codes[place])
        return None if code < 0 else str(self.values[code].as_py())


@dataclass(frozen=True, slots=True)
class Places:
    """Places by number; place 0 is unknown. Coordinates in degrees, shape (2, n), NaN is null."""

    names: Mapping[str, Names]
    coordinates: F64

    def __len__(self) -> int:
        return len(self.coordinates[0])


@dataclass(frozen=True, slots=True)
class Stated:
    """What one side states of n joint intervals: codes in common with the other sides."""

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


def joined(several: Sequence[Places]) -> Places:
    """Return the places of several sides as one, each with its own place 0 left in."""
    names = {}
    for name in NAMES:
        sides = [each.names[name] for each in several]
        begins = np.cumsum([0, *(len(each.values) for each in sides)])
        codes = [
            np.where(each.codes < 0, -1, each.codes + begin)
            for each, begin in zip(sides, begins[:-1], strict=True)
        ]
        values = pa.concat_arrays([each.values for each in sides])
        names[name] = Names(np.concatenate(codes).astype(np.int32), values)
    return Places(names, np.concatenate([each.coordinates for each in several], axis=1))


def stated(sides: Sequence[Places], places: Sequence[NDArray[np.integer]]) -> list[Stated]:
    """Return what each side states, given its place in each of n joint intervals."""
    common = {name: _in_common([each.names[name] for each in sides], name) for name in NAMES}
    return [
        Stated({name: common[name][at][place] for name in NAMES}, side.coordinates[:, place])
        for at, (side, place) in enumerate(zip(sides, places, strict=True))
    ]


def _names(column: pa.ChunkedArray) -> Names:
    plain = column.combine_chunks()
    found = plain if pa.types.is_dictionary(plain.type) else plain.dictionary_encode()
    codes = found.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    return Names(codes, found.dictionary.cast(pa.string()))


def _in_common(sides: Sequence[Names], name: str) -> list[Codes]:
    """Return the codes of all sides, by place, into one set of values."""
    comparable: Callable[[pa.Array], pa.Array] = _folded if name in _FOLDED else _as_is
    values = pa.concat_arrays([comparable(each.values) for each in sides])
    numbers: Codes = values.dictionary_encode().indices.to_numpy()
    begins = np.cumsum([0, *(len(each.values) for each in sides)])
    # One more entry, so that the code -1 maps to -1.
    return [
        np.append(numbers[begin:end], np.int32(-1))[each.codes]
        for each, begin, end in zip(sides, begins[:-1], begins[1:], strict=True)
    ]


def _as_is(values: pa.Array) -> pa.Array:
    return values


def _folded(values: pa.Array) -> pa.Array:
    """Return names in the form in which they are compared; a name of signs alone stays."""
    return pa.array([fold(each) or each for each in values.to_pylist()], pa.string())
