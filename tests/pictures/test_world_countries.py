"""Densities by country, against sums over one row at a time."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from geolookup.pictures import outlines
from geolookup.pictures.country_picture import country_pictures
from geolookup.pictures.world_countries import Country, CountryDensity, CountryLayer
from geolookup.pictures.world_frame import COLOURS, rings

_AREAS = set(outlines.read().countries.tolist())
_codes = st.sampled_from(("DE", "FR", "XK", "RE", "ZZ", "de", "", None))
_rows = st.lists(st.tuples(_codes, st.sampled_from(("A", None)), st.integers(0, 9)))


def _layer(rows: list[tuple[str | None, str | None, int]], least: float = 0) -> CountryLayer:
    found = [Country(*row) for row in rows]
    return CountryLayer(CountryDensity("some", "Some", "requests", found), least)


@given(_rows, st.sampled_from((0, 5)))
def test_countries_have_the_sums_of_their_rows(
    rows: list[tuple[str | None, str | None, int]], least: int
) -> None:
    layer = _layer(rows, least)
    sums: Counter[str] = Counter()
    nowhere = hidden = 0
    for code, _, weight in rows:
        if code:
            sums[code] += weight
        else:
            nowhere += weight
    kept = {}
    for weight, code in sorted((-weight, code) for code, weight in (+sums).items()):
        kept[code] = -weight
    for code in reversed(list(kept)):  # the smallest first, until the hidden ones are many
        if kept[code] < least or 0 < hidden < least:
            hidden += kept.pop(code)
    nowhere += sum(kept.pop(code) for code in set(kept) - _AREAS)
    assert {each.code: each.weight for each in layer.countries} == kept
    assert layer.weights.tolist() == sorted(kept.values(), reverse=True)
    assert layer.nowhere == nowhere
    assert layer.shown == sum(kept.values())
    assert layer.hidden == hidden


def test_a_country_has_the_name_of_its_largest_row() -> None:
    layer = _layer([("DE", "Small", 1), ("DE", "Large", 3), ("FR", None, 9)])
    assert [tuple(each) for each in layer.countries] == [("FR", None, 9), ("DE", "Large", 4)]


def test_the_picture_fills_countries_by_their_weight() -> None:
    (picture,) = country_pictures("world", _layer([("DE", "", 1), ("ZA", "", 9)]))
    assert picture.name == "world-some"
    for code, colour in (("DE", COLOURS[-1]), ("ZA", COLOURS[0])):
        path = "".join(ring for of, ring in rings() if of == code)
        assert f'<path fill="{colour}" d="{path}"/>' in picture.svg
    assert list(country_pictures("world", _layer([("ZZ", "", 9)]))) == []
