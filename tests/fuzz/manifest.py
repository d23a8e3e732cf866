"""A dataset whose manifest says anything: refused when opened or asked, or answers in contract."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from unittest import mock

import pyarrow as pa

import geolookup
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import BufferDescription
from tests.damage import ADDRESSES, copied, refused, survey, whole
from tests.fuzz import json_values
from tests.fuzz.target import Target, accepted, own_folder

_COLUMN = pa.table({"ip": list(ADDRESSES)})


@cache
def dataset() -> Path:
    """A small dataset with everything that one may hold."""
    return whole("full")


@cache
def _forged() -> Path:
    """A copy whose manifest is replaced; other targets use ``dataset``."""
    return copied(dataset(), own_folder() / "forged")


@cache
def manifest() -> bytes:
    return (dataset() / fmt.MANIFEST).read_bytes()


def _seeds() -> Iterator[bytes]:
    yield manifest()
    yield (geolookup.open().path / fmt.MANIFEST).read_bytes()


def _run(data: bytes) -> None:
    (_forged() / fmt.MANIFEST).write_bytes(data)
    survey(_forged())

    def enriched() -> int:
        with geolookup.open(_forged()) as engine:
            return len(engine.enrich(_COLUMN, fields=["location", "error_code"]))

    assert accepted(enriched, geolookup.DatasetError, _forged(), refused) in (None, len(_COLUMN))


def _unchecked(self: BufferDescription, number: int) -> tuple[int, int]:
    """Take what the manifest says of a buffer for two integers."""
    offset, length = self.stated["buffers"][number]
    return int(offset), int(length)


TARGETS = {
    "manifest": Target(
        _run,
        _seeds,
        lambda: mock.patch.object(BufferDescription, "buffer", _unchecked),
        json_values.mutate,
    )
}
