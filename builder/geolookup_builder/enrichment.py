"""Finders: each derives one missing field of a location from the fields it has.

Finders are created before any source is read: a missing library or table stops the build at
once. ``find`` receives the fields that a finder ``needs`` of the distinct locations without its
``field``. It returns null for a location if it finds nothing.

Zones come from the boundaries in tzfpy. At sea it returns nautical zones (``Etc/GMT+5``) that are
not in use on land; coordinates just off the coast get no zone.

Region codes come from region names: ISO 3166-2 in the edition of pycountry, and English names.
Names are compared without case, accents and punctuation, within the country. ISO states most names
in the country's language, and several in one text (``Catalunya [Cataluña]``, ``Madrid, Comunidad
de``); each of them matches. ``region_names.csv`` adds the English ones. A name that matches none is
compared by its proper words, without the words for kinds of regions and in any order: ``Region
Stockholm`` is ``Stockholm County``. Of several regions with one name, the one at the upper level
matches; none if that is still ambiguous.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.display import fold
from geolookup.errors import BuildError
from geolookup_builder import reference
from geolookup_builder.recipe.document import Recipe
from geolookup_builder.reference import read_table
from geolookup_builder.values import Reference

_NAUTICAL = "Etc/"
_LIBRARIES = {"time_zone": "tzfpy", "region_code": "pycountry"}
FILE = Path(reference.__file__).with_name("region_names.csv")
COLUMNS = ("country_code", "region_code", "region_name")
_BRACKETS = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
#: A code that some texts repeat in brackets: "Cardiff [Caerdydd GB-CRD]".
_OWN_CODE = re.compile(r"\b[A-Z]{2}-\w+\b")
#: "A / B" and "A - B" are two names, "A-B" is one.
_SEVERAL = re.compile(r"/| - ")
#: Words that say what kind of region it is, and small words between, by family of languages.
_GENERIC_WORDS = {
    "English": "autonomous borough community council county department district division emirate"
    " governorate island islands municipality of parish prefecture province region republic state"
    " territory the and voivodeship zone",
    "Romance, and the articles of Maltese": "autonoma autonome comunidad d da de del della"
    " departament departamento departement distrito do dos e el et il in ir is ix iz judet judetul"
    " l la las le les los municipio provincia provincie regiunea y",
    "Germanic": "bezirk canton fylke kanton lan land len og sysla",
    "Slavic, Baltic and Estonian": "aimak apskritis kraj krai kray maakond novads oblast obcina"
    " obshtina okres okrug opstina powiat raion raionul rajons rayon respublika voblasc voblasts"
    " vojvodstvo wojewodztwo zupanija",
    "Turkic and Iranian": "ili oblisi oblysy ostan rayonu viloyati welayaty",
    "Arabic": "ad adh al an ar as ash at az baladiyat muhafazat wilayat",
    # Gyeonggi-do, Chiba-ken, Guangdong Sheng, Thanh pho Ha Noi
    "of East Asia": "changwat fu gwangyeoksi ken khaet khoueng namdo pho sheng shi si"
    " teukbyeoljachido teukbyeolsi thanh tinh zizhiqu",
    "of islands": "atholhu atoll",
}
_GENERIC = frozenset(" ".join(_GENERIC_WORDS.values()).split())
_SAME = {
    **{
        f"{direction}ern": direction
        for ahead in ("", "north", "south")
        for direction in (f"{ahead}east", f"{ahead}west", "north", "south")
    },
    "st": "saint",
    "sankt": "saint",
}


#: The code of a region by its name; None if several have the name.
_Codes = dict[str, str | None]


class Regions:
    """Finds ``region_code``: the part of the ISO 3166-2 code after the hyphen."""

    field = "region_code"
    needs = ("country_code", "region_name")

    def __init__(self) -> None:
        import pycountry

        self._subdivisions = pycountry.subdivisions
        self._tables = cache(self._tables_of)

    def find(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """Return the code of each row's region."""
        texts = (columns[name].cast(pa.string()) for name in self.needs)
        pairs = pc.binary_join_element_wise(*texts, "\n").dictionary_encode()
        codes = [self._code(*pair.split("\n", 1)) for pair in pairs.dictionary.to_pylist()]
        return pa.array(codes, pa.string()).take(pairs.indices)

    def _code(self, country: str, name: str) -> str | None:
        exact, proper = self._tables(country)
        folded = fold(name)
        return exact[folded] if folded in exact else proper.get(proper_words(name))

    def _tables_of(self, country: str) -> tuple[_Codes, _Codes]:
        """Return the codes of a country by whole names, and by their proper words."""
        regions = self._subdivisions.get(country_code=country) or ()  # type: ignore[no-untyped-call]
        english = _english_names().get(country, {})
        exact, proper = _Codes(), _Codes()
        for is_upper in (False, True):
            local, other = list[tuple[str, str]](), list[tuple[str, str]]()
            for region in regions:
                if (region.parent_code is None) == is_upper:
                    code = region.code.partition("-")[2]
                    local += [(name, code) for name in names_of(region.name)]
                    texts = english.get(code, ())
                    other += [(name, code) for text in texts for name in names_of(text)]
            # The later value stays: what ISO says of a name, and the upper level.
            exact |= _codes(other, fold) | _codes(local, fold)
            proper |= _codes([*local, *other], proper_words)
        return exact, proper


@cache
def _english_names() -> Mapping[str, Mapping[str, list[str]]]:
    """Return the names of ``region_names.csv`` by country and code."""
    names: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for _, row in read_table(FILE, COLUMNS):
        names[row["country_code"]][row["region_code"]].append(row["region_name"])
    return names


def names_of(text: str) -> Iterator[str]:
    """Yield the names in a text of ISO 3166-2: the whole text, and each of its parts."""
    yield text
    in_brackets = _BRACKETS.findall(text)
    # "Cardiff [Caerdydd GB-CRD]" -> "Cardiff" and "Caerdydd", "A / B" -> "A" and "B".
    for part in [*_SEVERAL.split(_BRACKETS.sub(" ", text)), *in_brackets]:
        part = _OWN_CODE.sub("", part)
        yield part
        before, comma, after = part.partition(",")
        if comma:
            yield before
            # "Madrid, Comunidad de" -> "Madrid" and "Comunidad de Madrid".
            yield f"{after} {before}"


def proper_words(name: str) -> str:
    """Return the words of a name that are not generic, folded and sorted: "" if none is left."""
    words = (word for word in fold(name).split() if word not in _GENERIC)
    return " ".join(sorted(_SAME.get(word, word) for word in words))


def _codes(names: Iterable[tuple[str, str]], normal: Callable[[str], str]) -> _Codes:
    """Return region codes by normal form of their names."""
    codes: defaultdict[str, set[str]] = defaultdict(set)
    for name, code in names:
        codes[normal(name)].add(code)
    return {name: only.pop() if len(only) == 1 else None for name, only in codes.items() if name}


class Zones:
    """Finds ``time_zone``."""

    field = "time_zone"
    needs = ("latitude", "longitude")

    def __init__(self, names: Sequence[str]) -> None:
        from tzfpy import get_tz

        self._zone_at = get_tz
        self._names = frozenset(name for name in names if not name.startswith(_NAUTICAL))

    def find(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """Return the zone at the coordinates of each row."""
        cells = (columns[name].to_numpy(zero_copy_only=False) for name in self.needs)
        latitudes, longitudes = (degrees.astype(np.float64) for degrees in cells)
        rows = ~np.isnan(latitudes + longitudes)
        places, numbers = np.unique(longitudes[rows] + 1j * latitudes[rows], return_inverse=True)
        names = map(self._zone_at, places.real.tolist(), places.imag.tolist())
        zones = [name if name in self._names else None for name in names]
        # The index of the zone of each row, -1 for rows without both coordinates.
        index = np.full(len(rows), -1, np.int64)
        index[rows] = numbers
        return pa.array(zones, pa.string()).take(pa.array(index, mask=index < 0))


Finder: TypeAlias = Zones | Regions


def finders(plan: Recipe, tables: Reference) -> tuple[Finder, ...]:
    """Return the finders that a recipe asks for; BuildError if one is not available."""
    result = list[Finder]()
    for field in plan.enrich:
        try:
            result.append(Zones(tables.zones) if field == Zones.field else Regions())
        except ImportError as error:
            problem = f"enrich.{field} needs {_LIBRARIES[field]} ({error})"
            remedy = 'pip install "geolookup[enrich]"'
            raise BuildError(plan.path, problem, remedy=remedy) from error
    return tuple(result)
