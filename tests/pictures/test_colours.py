"""The colours of maps, by a library of colour science."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.internals.pictures import colours
from tests.skips import needs, optional

coloraide = optional("coloraide")


@needs("coloraide")
@pytest.mark.parametrize("page", ["#ffffff", "#14171a"])
@pytest.mark.parametrize("vision", ["", "protan", "deutan", "tritan"])
def test_colours_differ_in_every_vision_and_on_both_pages(page: str, vision: str) -> None:
    every = (*colours.CATEGORIES, colours.OTHER, colours.UNKNOWN, colours.SPECIAL)
    seen = [coloraide.Color.layer([colour, page], space="srgb") for colour in every]
    if vision:
        seen = [colour.filter(vision, 1, method="machado") for colour in seen]
    assert min(one.delta_e(other, method="2000") for one, other in combinations(seen, 2)) > 14
