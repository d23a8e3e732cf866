"""The figures of a report of a comparison."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup import comparison as diff
from geolookup.comparison.report import count_text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (2**-48, "<0.001"),  # an IPv6 address, in /64 networks
        (0.25, "0.25"),
        (12_345.6, "12,346"),
        (2.0**60, "1.153e+18"),
    ],
)
def test_counts_are_readable(number: float, text: str) -> None:
    assert count_text(number) == text


def test_each_column_has_its_head(pair: tuple[Path, Path]) -> None:
    lines = [line.split() for line in diff.lines(diff.compare(*pair))]
    assert ["fields", "nulls", "gained", "nulls", "lost", "changed"] in lines
    assert ["location.country_code", "128", "256", "64"] in lines
