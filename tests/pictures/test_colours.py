"""The colours as colour-blind readers see them, by a simulation of their vision."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from geolookup.pictures.colours import (
    CATEGORIES,
    OTHER,
    SEQUENTIAL,
    SPECIAL,
    STANDING_OUT,
    UNKNOWN,
    spread,
)
from geolookup.pictures.log_classes import MOST, class_colours

Floats = NDArray[np.float64]
#: Complete deficiencies, as matrices for linear sRGB. Source: Machado, Oliveira, Fernandes, A
#: Physiologically-based Model for Simulation of Color Vision Deficiency, IEEE TVCG 15 (2009).
VISIONS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
#: Linear sRGB to CIE XYZ (IEC 61966-2-1).
_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
PAPERS = ("#ffffff", "#14171a")


def _linear(colours: tuple[str, ...]) -> Floats:
    parts = np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in colours])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _lab(linear: Floats) -> Floats:
    xyz = linear @ _XYZ.T / _XYZ.sum(axis=1)
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    x, y, z = f.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def _apart(one: Floats, other: Floats) -> float:
    """The difference of two colours of CIELAB (CIE 1976)."""
    return float(np.linalg.norm(one - other))


@pytest.mark.parametrize("vision", VISIONS)
def test_readers_tell_the_colours_apart(vision: str) -> None:
    colours = (*CATEGORIES, OTHER, UNKNOWN, SPECIAL)
    seen = _lab(np.clip(_linear(colours) @ np.array(VISIONS[vision]).T, 0, 1))
    actual = {
        (colours[i], colours[j]): _apart(seen[i], seen[j])
        for i in range(len(colours))
        for j in range(i)
    }
    pair, least = min(actual.items(), key=lambda value: value[1])
    assert least >= 14, (pair, least)


@pytest.mark.parametrize("paper", PAPERS)
def test_charts_have_colours_that_stand_out_from_the_page(paper: str) -> None:
    light = _linear((paper, *CATEGORIES[:STANDING_OUT])) @ _XYZ[1] + 0.05
    contrast = np.maximum(light[1:] / light[0], light[0] / light[1:])
    assert contrast.min() >= 3


@pytest.mark.parametrize("vision", VISIONS)
def test_every_reader_orders_the_scale_by_lightness(vision: str) -> None:
    seen = np.clip(_linear(SEQUENTIAL) @ np.array(VISIONS[vision]).T, 0, 1)
    lightness = _lab(seen)[::8, 0]
    steps = np.diff(lightness)
    assert steps.min() > 0.5 * steps.mean()
    assert lightness[-1] - lightness[0] > 65


@pytest.mark.parametrize("vision", VISIONS)
def test_readers_tell_neighbouring_classes_apart(vision: str) -> None:
    """Also the ends of the scale from the land of the map, of either scheme."""
    colours = (*_LANDS[1:], *class_colours(MOST), *_LANDS[:1])
    seen = _lab(np.clip(_linear(colours) @ np.array(VISIONS[vision]).T, 0, 1))
    pairs = pairwise(seen)
    assert min(_apart(one, other) for one, other in pairs) >= 9


#: The land of a map of the world on a light and on a dark page.
_LANDS = ("#e9e9e6", "#2b3035")


def test_a_scale_of_few_steps_spans_the_whole() -> None:
    assert len(SEQUENTIAL) == 256
    assert list(spread(256)) == list(SEQUENTIAL)
    assert [spread(2)[0], spread(2)[-1]] == [SEQUENTIAL[0], SEQUENTIAL[-1]]
    assert len(spread(5)) == len(set(spread(5))) == 5
    assert len(spread(1)) == 1
    assert list(spread(0)) == []
