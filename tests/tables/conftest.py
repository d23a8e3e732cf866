"""Both kernels, on datasets that are small and have everything in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests import own
from tests.conftest import build_at
from tests.damage import CSV
from tests.internals.kernel import kernel, state_of
from tests.internals.kernel import python as kernel_python

#: With a zone that the Moon has; with words that are in no other row, and rows that know nothing.
_MORE = """11.0.0.0/24,AX,"Ma""rie, hamn",60.1,Europe/Mariehamn,16086,Ålcom,residential
11.0.1.0/24,,,,,64496,,
11.0.2.0/31,NP,Kathmandu,27.7,Asia/Kathmandu,,,
2a02:1::/128,MA,Rabat,-34.0,Africa/Casablanca,36903,MT,
2a03::/17,AQ,Troll,-72.0,Antarctica/Troll,,,
"""


@pytest.fixture(scope="session")
def dataset_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of a dozen ranges, with own columns."""
    folder = tmp_path_factory.mktemp("tables")
    return own.add_own(build_at(folder, {"a.csv": CSV + _MORE})[0], folder / "own")


@pytest.fixture(scope="session")
def engine(dataset_path: Path) -> Iterator[geolookup.Engine]:
    with geolookup.open(dataset_path) as result:
        yield result


@pytest.fixture(
    scope="session", params=[kernel.State, kernel_python.State], ids=["kernel", "python"]
)
def state(request: pytest.FixtureRequest, engine: geolookup.Engine) -> Any:
    """The snapshot of the engine, for each kernel."""
    return request.param(state_of(engine).dataset)
