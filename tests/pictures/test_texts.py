"""Numbers as the texts of pictures and pages."""

from __future__ import annotations

import pytest

from geolookup.pictures import texts


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (19_404, "19.4 kB"),
        (27_864_260, "27.9 MB"),
        (1_234_000_000, "1.2 GB"),
    ],
)
def test_a_size_has_the_unit_that_suits_it(number: int, text: str) -> None:
    assert texts.size(number) == text
