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


def _ciede2000(one: Floats, other: Floats) -> float:
    """Sharma, Wu, Dalal, The CIEDE2000 Color-Difference Formula, 2005."""
    chroma = (np.hypot(*one[1:]) + np.hypot(*other[1:])) / 2
    stretch = 1 + (1 - np.sqrt(chroma**7 / (chroma**7 + 25**7))) / 2
    (l1, c1, h1), (l2, c2, h2) = (
        (item[0], np.hypot(item[1] * stretch, item[2]), _hue(item[1] * stretch, item[2]))
        for item in (one, other)
    )
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    t = 1 - 0.17 * _cos(hue - 30) + 0.24 * _cos(2 * hue)
    t += 0.32 * _cos(3 * hue + 6) - 0.20 * _cos(4 * hue - 63)
    by_light = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2))
    by_chroma = (c2 - c1) / (1 + 0.045 * chroma)
    by_hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * chroma * t)
    rotation = -2 * np.sqrt(chroma**7 / (chroma**7 + 25**7))
    rotation *= np.sin(np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2))))
    return float(np.sqrt(by_light**2 + by_chroma**2 + by_hue**2 + rotation * by_chroma * by_hue))


def _hue(a: float, b: float) -> float:
    return float(np.degrees(np.arctan2(b, a)) % 360)


def _cos(degrees: float) -> float:
    return float(np.cos(np.radians(degrees)))


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_is_that_of_the_paper(
    one: tuple[float, ...], other: tuple[float, ...], difference: float
) -> None:
    assert _ciede2000(np.array(one), np.array(other)) == pytest.approx(difference, abs=1e-4)


@pytest.mark.parametrize("vision", VISIONS)
def test_readers_tell_the_colours_apart(vision: str) -> None:
    colours = (*CATEGORIES, OTHER, UNKNOWN, SPECIAL)
    seen = _lab(np.clip(_linear(colours) @ np.array(VISIONS[vision]).T, 0, 1))
    actual = {
        (colours[i], colours[j]): _ciede2000(seen[i], seen[j])
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
    assert min(_ciede2000(one, other) for one, other in pairs) >= 9


#: The land of a map of the world on a light and on a dark page.
_LANDS = ("#e9e9e6", "#2b3035")


def test_a_scale_of_few_steps_spans_the_whole() -> None:
    assert len(SEQUENTIAL) == 256
    assert list(spread(256)) == list(SEQUENTIAL)
    assert [spread(2)[0], spread(2)[-1]] == [SEQUENTIAL[0], SEQUENTIAL[-1]]
    assert len(spread(5)) == len(set(spread(5))) == 5
    assert len(spread(1)) == 1
    assert list(spread(0)) == []
