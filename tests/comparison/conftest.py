"""Two small datasets: the second is the first with changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import build_at
from tests.datasets import once

_HEADER = "network,country_code,city_name,latitude,longitude,asn,asn_organization\n"
OLD = _HEADER + (
    "8.8.8.0/25,US,Boston,42.36,-71.06,1,One\n"
    "8.8.8.128/25,US,,,,2,Two\n"
    "9.9.9.0/24,CH,Bern,46.95,7.45,3,Three\n"
    "2a00::/32,FR,Paris,48.86,2.35,4,Four\n"
)
NEW = _HEADER + (
    "8.8.8.0/25,US,Boston,42.36,-71.06,1,One\n"
    "8.8.8.128/26,CA,Ottawa,45.42,-75.7,2,Two\n"
    "8.8.8.192/26,US,,,,2,Two\n"
    "9.9.9.0/25,CH,,,,3,Three\n"
    "11.0.0.0/24,US,,,,5,Five\n"
    "2a00::/33,FR,Paris,48.86,2.35,4,Four\n"
    "2a00:0:8000::/33,DE,Berlin,52.52,13.41,4,Four\n"
)


def dataset(folder: Path, **sources: str) -> Path:
    """Build sources into a folder that is made for it; returns the dataset."""
    folder.mkdir()
    return build_at(folder, {f"{name}.csv": text for name, text in sources.items()})[0]


def old_and_new() -> tuple[Path, Path]:
    """OLD and NEW, built once in a run of the tests; beside each is its source, world.csv."""
    folder = once("comparison-pair", _build)
    return folder / "old" / "dataset", folder / "new" / "dataset"


def _build(folder: Path) -> None:
    folder.mkdir()
    for name, text in (("old", OLD), ("new", NEW)):
        dataset(folder / name, world=text)


@pytest.fixture(scope="session")
def pair() -> tuple[Path, Path]:
    return old_and_new()
