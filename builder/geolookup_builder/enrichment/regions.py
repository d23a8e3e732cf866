"""Region codes from region names, by ISO 3166-2 in the edition of pycountry.

Names are compared without case, accents and punctuation, within the country. ISO
writes several names of a region into one text (``Catalunya [Cataluña]``, ``Madrid,
Comunidad de``); each of them matches. Of several regions with one name, the one at the
upper level matches; none if that is still ambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from geolookup.contract.display import fold
from geolookup.dataset.runs import factorize
from geolookup_builder.reference import Credit

_BRACKETS = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
#: A code that some texts repeat in brackets: "Cardiff [Caerdydd GB-CRD]".
_OWN_CODE = re.compile(r"\b[A-Z]{2}-\w+\b")


class Regions:
    """Finds ``region_code``: the part of the ISO 3166-2 code after the hyphen."""

    field = "region_code"
    needs = ("country_code", "region_name")
    credit = Credit(
        "iso-codes",
        "LGPL-2.1-or-later",
        "ISO 3166-2 region codes from the iso-codes project, by way of pycountry",
        "https://salsa.debian.org/iso-codes-team/iso-codes",
    )

    def __init__(self) -> None:
        import pycountry

        self._subdivisions = pycountry.subdivisions
        self._countries: dict[str, dict[str, str | None]] = {}

    def find(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """Return the code of each row's region."""
        arrays = [columns[name].dictionary_encode() for name in self.needs]
        indices = [column.indices.fill_null(-1).to_numpy(zero_copy_only=False) for column in arrays]
        countries, names = (column.dictionary.to_pylist() for column in arrays)
        same, first = factorize(indices)
        pairs = zip(indices[0][first], indices[1][first], strict=True)
        codes = [
            self._code(countries[country], names[name]) if country >= 0 and name >= 0 else None
            for country, name in pairs
        ]
        return pa.array(codes, pa.string()).take(pa.array(same.astype(np.int64)))

    def _code(self, country: str, name: str) -> str | None:
        codes = self._countries.get(country)
        if codes is None:
            codes = self._countries[country] = _codes_by_name(
                self._subdivisions.get(country_code=country)  # type: ignore[no-untyped-call]
            )
        return codes.get(fold(name))


def names_of(text: str) -> Iterator[str]:
    """Yield the names in a text of ISO 3166-2: the whole text, and each of its parts."""
    yield text
    in_brackets = _BRACKETS.findall(text)
    # "Cardiff [Caerdydd GB-CRD]" -> "Cardiff" and "Caerdydd", "A / B" -> "A" and "B".
    for part in [*_BRACKETS.sub(" ", text).split("/"), *in_brackets]:
        part = _OWN_CODE.sub("", part)
        yield part
        before, comma, after = part.partition(",")
        if comma:
            yield before
            # "Madrid, Comunidad de" -> "Madrid" and "Comunidad de Madrid".
            yield f"{after} {before}"


def _codes_by_name(regions: Iterable[Any] | None) -> dict[str, str | None]:
    """Return region codes by folded name; None for an ambiguous name."""
    upper: dict[str, set[str]] = {}
    lower: dict[str, set[str]] = {}
    for region in regions or ():
        level = upper if region.parent_code is None else lower
        for name in {fold(text) for text in names_of(region.name)} - {""}:
            level.setdefault(name, set()).add(region.code.partition("-")[2])
    # ``|`` keeps the value of its right side: the upper level.
    return {name: _only(codes) for name, codes in (lower | upper).items()}


def _only(codes: set[str]) -> str | None:
    return codes.copy().pop() if len(codes) == 1 else None
