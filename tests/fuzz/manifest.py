"""A dataset whose manifest says anything: refused when opened or asked, or answers in contract."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from unittest import mock

import pyarrow as pa

import geolookup
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import BufferDescription
from tests.builder.building import recipe
from tests.conftest import build_at
from tests.damage import ADDRESSES, CSV, copied, refused, survey
from tests.fuzz.json_values import changed
from tests.fuzz.target import Change, Target, own_folder

_COLUMN = pa.table({"ip": list(ADDRESSES)})


@cache
def dataset() -> Path:
    """A small dataset with everything that one may hold."""
    text = recipe('path = "a.csv"').replace('"test"', '"test"\nexplain = "full"')
    return build_at(own_folder(), {"a.csv": CSV}, text)[0]


@cache
def _forged() -> Path:
    """A copy whose manifest is replaced; other targets use ``dataset``."""
    return copied(dataset(), own_folder() / "forged")


@cache
def manifest() -> bytes:
    return (dataset() / fmt.MANIFEST).read_bytes()


def seeds() -> Iterator[bytes]:
    yield manifest()
    yield (geolookup.open().path / fmt.MANIFEST).read_bytes()


def run(data: bytes) -> None:
    (_forged() / fmt.MANIFEST).write_bytes(data)
    survey(_forged())
    try:
        with geolookup.open(_forged()) as engine:
            assert engine.enrich(_COLUMN, fields=["location", "error_code"]).num_rows == len(
                _COLUMN
            )
    except geolookup.DatasetError as error:
        refused(error, str(_forged()))


def mutate(data: bytes, change: Change, rng: random.Random) -> bytes:
    return change(data) if rng.randrange(4) == 0 else changed(data, rng)


def planted() -> AbstractContextManager[object]:
    """Take what the manifest says of a buffer for two integers."""

    def buffer(self: BufferDescription, number: int) -> tuple[int, int]:
        offset, length = self.stated["buffers"][number]
        return int(offset), int(length)

    return mock.patch.object(BufferDescription, "buffer", buffer)


TARGET = Target(run, seeds, planted, mutate)
