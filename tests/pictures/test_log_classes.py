"""Classes of a logarithmic scale: every weight is in one, and there are few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.pictures.log_classes import MOST, class_bounds, class_colours, class_of


@pytest.mark.parametrize(
    ("weights", "bounds"),
    [
        ([], []),
        ([1], [1]),
        ([3, 40], [2, 5, 10, 20]),
        ([3, 9_000], [3, 10, 30, 100, 300, 1000, 3000]),
        ([30, 700_000], [10, 100, 1_000, 10_000, 100_000]),
        ([0.5, 2e15], [0.1, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15]),
    ],
)
def test_the_finest_steps_that_fit(weights: list[float], bounds: list[float]) -> None:
    assert class_bounds(np.array(weights, float)).tolist() == pytest.approx(bounds)


@given(st.lists(st.floats(1e-6, 1e18), min_size=1))
def test_each_weight_has_a_class(listed: list[float]) -> None:
    weights = np.array(listed)
    bounds = class_bounds(weights)
    at = class_of(weights, bounds)
    assert 1 <= len(bounds) <= MOST
    assert {0, len(bounds) - 1} <= {*at.tolist()}
    assert (bounds[at] <= weights * (1 + 1e-12)).all()
    above = at < len(bounds) - 1
    assert (weights[above] < bounds[at[above] + 1]).all()
    assert len({*class_colours(len(bounds))}) == len(bounds)
