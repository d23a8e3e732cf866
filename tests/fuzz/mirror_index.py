"""The index of a mirror says anything: refused in one line, or what it says is in bounds."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import PurePosixPath
from unittest import mock

from geolookup import DatasetError
from geolookup.mirrors import index as module
from geolookup.mirrors.index import KIND, Delta, File, Index, Listed, payload, read_index, written
from geolookup.signing.envelope import sealed
from tests.damage import refused
from tests.fuzz.json_values import changed
from tests.fuzz.target import Change, Target

_IDS = [digit * 64 for digit in "abcd"]
_TIME = "2026-11-23T10:00:00Z"
_PATH = "index.json"


def seeds() -> Iterator[bytes]:
    pack, delta = (File(f"{name}/{_IDS[3]}.tar.zst", 1 << 20, _IDS[3]) for name in ("p", "d"))
    now = Listed(_IDS[0], _TIME, pack, (Delta(_IDS[1], delta),), withdrawn=False, signature="{}")
    gone = Listed(_IDS[2], _TIME, None, (), withdrawn=True, signature=None)
    for expires in (None, _TIME):
        index = Index("acme", 7, _TIME, _IDS[0], (now, gone), expires)
        yield payload(index)


def run(data: bytes) -> None:
    try:
        index = read_index(sealed(KIND, data, []), None, _PATH)
    except DatasetError as error:
        refused(error, _PATH)
        return
    assert read_index(written(index, []), None, _PATH) == index
    assert not index.now.withdrawn
    for file in index.files:
        parts = PurePosixPath(file.path).parts
        assert parts == tuple(file.path.split("/"))
        assert not {"", ".", "..", "/"} & {*parts}
        assert 0 < file.bytes < 1 << 40


def mutate(data: bytes, change: Change, rng: random.Random) -> bytes:
    return change(data) if rng.randrange(4) == 0 else changed(data, rng)


def planted() -> AbstractContextManager[object]:
    """Let a path lead anywhere."""
    return mock.patch.object(module, "_PATH", re.compile(".*", re.DOTALL))


TARGET = Target(run, seeds, planted, mutate)
