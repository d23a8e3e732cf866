"""The section on coordinates: whether they lie in the stated country, and default coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from geolookup.comparison.values import coordinates
from geolookup.contract.fields import COUNTRY, LOCATION
from geolookup.dataset.intervals import F64, I64, UNITS
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, stacked_bars
from geolookup.pictures.country_grid import TOLERANCE_KM, codes, judge_places
from geolookup.pictures.world import DefaultCoordinates
from geolookup.reports.dataset.facts import Facts
from geolookup.reports.dataset.located import find_default_coordinates
from geolookup.reports.section import Section, Table, charts_section

#: Below this share of known values a chart gives way to its sentence.
LEAST_KNOWN = 0.2
VERDICTS = ("in the country", "in another country", "no land near", "not compared")
_IN, _OTHER, _SEA, _NOT = range(len(VERDICTS))
_LISTED = 20
_NOTE = (
    f"A place within {TOLERANCE_KM} km of the stated country lies in it. Places of a country "
    "without an outline on the map are not compared. Default coordinates stand for a country or a "
    "provider rather than a place. Addresses without a city have them, or a quarter of a country "
    "with at least ten places."
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The location rows with coordinates: their numbers, verdicts and countries; shape (n,)."""

    rows: I64
    verdicts: I64  # positions of VERDICTS
    stated: I64  # numbers of ``country_grid.codes``
    actual: I64


def coordinates_section(facts: Facts) -> Section:
    """Return how many addresses lie in another country, and default coordinates."""
    judged = judge_rows(facts)
    sums = {family: verdict_sums(facts, judged, family) for family in facts.space}
    sentences = [_sentence(facts, family, of_family) for family, of_family in sums.items()]
    shown = {f: of for f, of in sums.items() if _known(facts, f, of) >= LEAST_KNOWN}
    tables = [table for table in [_others(facts, judged)] if table.rows]
    return charts_section(
        "coordinates",
        "Coordinates",
        " ".join([*sentences, _NOTE]),
        [_chart(shown)] if shown else [],
        [*tables, *_default_tables(facts)],
    )


def _chart(sums: Mapping[int, F64]) -> Chart:
    shares = [(of_family / of_family.sum()).tolist() for of_family in sums.values()]
    title = "Coordinates against the country, of the addresses with coordinates"
    rows = [f"IPv{family}" for family in sums]
    return stacked_bars("coordinates-countries", title, rows, VERDICTS, shares)


def judge_rows(facts: Facts) -> Judgement:
    """Compare the coordinates of all location rows with their countries."""
    locations = facts.tables[LOCATION]
    latitudes, longitudes = coordinates(locations)
    rows = np.flatnonzero(~(np.isnan(latitudes) | np.isnan(longitudes)))
    numbers = {code: number for number, code in enumerate(codes()) if code}
    of_country = [
        numbers.get(code, 0) for code in facts.tables[COUNTRY]["country_code"].to_pylist()
    ]
    stated = np.array(of_country, np.int64)[locations[COUNTRY].to_numpy()[rows]]
    agrees, actual = judge_places(latitudes[rows], longitudes[rows], stated)
    verdicts = np.select([stated == 0, agrees, actual == 0], [_NOT, _IN, _SEA], _OTHER)
    return Judgement(rows, verdicts, stated, actual)


def verdict_sums(facts: Facts, judged: Judgement, family: int) -> F64:
    """Return the addresses of a family by verdict, in the unit of the family."""
    weights = facts.space[family].locations.space[judged.rows]
    return np.bincount(judged.verdicts, weights, len(VERDICTS)).astype(np.float64)


def _known(facts: Facts, family: int, sums: F64) -> float:
    return float(sums.sum() / (facts.space[family].space or 1.0))


def _sentence(facts: Facts, family: int, sums: F64) -> str:
    known = (
        f"{wording.percent(_known(facts, family, sums))} of the known IPv{family} {UNITS[family]}"
    )
    compared = sums.sum() - sums[_NOT]
    if not compared:
        return f"{known} have coordinates."
    share = wording.percent(float(sums[_OTHER] / compared))
    return f"{known} have coordinates; {share} of these lie in another country than the stated one."


def _others(facts: Facts, judged: Judgement) -> Table:
    """Return the pairs of countries with the most IPv4 addresses in another country."""
    selection = judged.verdicts == _OTHER
    pairs = judged.stated[selection] * len(codes()) + judged.actual[selection]
    sums = np.bincount(pairs, facts.space[4].locations.space[judged.rows[selection]])
    rows = list(_pairs(sums.astype(np.float64)))
    head = ("Stated", "lies in", f"IPv4 {UNITS[4]}", "share")
    return Table("Addresses whose coordinates lie in another country", head, rows, words=(1,))


def _pairs(sums: F64) -> Iterator[tuple[str, ...]]:
    for pair in np.argsort(-sums, kind="stable")[:_LISTED].tolist():
        if sums[pair]:
            stated, actual = divmod(pair, len(codes()))
            share = wording.percent(float(sums[pair] / sums.sum()))
            yield codes()[stated], codes()[actual], wording.count(float(sums[pair])), share


_DEFAULTS_HEAD = ("Country", "reason", "latitude, longitude", "addresses", "of the country")


def _default_tables(facts: Facts) -> Iterator[Table]:
    """Yield the default coordinates with their share of the addresses with coordinates."""
    places = coordinates(facts.tables[LOCATION])
    defaults = find_default_coordinates(facts, places)
    if defaults:
        of = float(facts.space[4].locations.space[~np.isnan(places).any(axis=0)].sum())
        share = wording.percent(sum(default.weight for default in defaults) / of)
        caption = f"Default coordinates: {share} of the IPv4 {UNITS[4]} with coordinates"
        rows = [_default_row(default) for default in defaults]
        yield Table(caption, _DEFAULTS_HEAD, rows, words=(1,))


def _default_row(default: DefaultCoordinates) -> tuple[str, ...]:
    point = f"{default.latitude:.2f}, {default.longitude:.2f}"
    share = wording.percent(default.share)
    return (wording.name(default.name), default.reason, point, wording.count(default.weight), share)
