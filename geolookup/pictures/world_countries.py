"""What lies in which country: weights, summed by the code of the country."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geolookup.dataset.intervals import F64
from geolookup.pictures import outlines
from geolookup.pictures.hidden import not_hidden


class Country(NamedTuple):
    """How much lies in a country, or in a part of it; a weight is not negative."""

    code: str | None  # ISO 3166-1 alpha-2; None where the country is not known
    name: str | None
    weight: float


@dataclass(frozen=True, slots=True)
class CountryDensity:
    """What a map of the world shows by the colours of countries; a country may occur again."""

    name: str  # of files and elements: "ipv4-countries"
    title: str  # for people: "IPv4 addresses by country"
    unit: str  # what a weight counts: "addresses"
    rows: Sequence[Country]


class CountryLayer:
    """A density by country: ``countries`` have an area and a weight, the largest first.

    Countries of less than ``least`` are hidden, and others as ``covered`` says.
    """

    def __init__(self, density: CountryDensity, least: float = 0) -> None:
        self.density = density
        areas = set(outlines.read().countries.tolist())
        every = _summed(density.rows)
        chosen = not_hidden(np.array([each.weight for each in every]), least)
        known = [each for each, shows in zip(every, chosen, strict=True) if shows]
        self.countries = [each for each in known if each.code in areas]
        #: The sum of the countries that are hidden, with an area or without.
        self.hidden = _total(every) - _total(known)
        #: The sum of what has no country, or one without an area.
        self.nowhere = _total(density.rows) - self.hidden - self.shown

    @property
    def shown(self) -> float:
        """The sum of what the map shows."""
        return _total(self.countries)

    @property
    def weights(self) -> F64:
        """The weights of ``countries``."""
        return np.array([each.weight for each in self.countries], np.float64)


def _total(rows: Iterable[Country]) -> float:
    return sum(each.weight for each in rows)


def _summed(rows: Sequence[Country]) -> list[Country]:
    """Return a row of each code that has a weight, named as its largest row, largest first."""
    largest: dict[str, Country] = {}
    sums: dict[str, float] = {}
    for row in sorted(rows, key=lambda row: -row.weight):
        if row.code and row.weight:
            largest.setdefault(row.code, row)
            sums[row.code] = sums.get(row.code, 0) + row.weight
    found = [row._replace(weight=sums[code]) for code, row in largest.items()]
    return sorted(found, key=lambda row: (-row.weight, row.code))
