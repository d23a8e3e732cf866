"""A file of each format, cut or changed anywhere: read, or refused in one line that names it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from geolookup.errors import BuildError
from tests.builder.sources.readings import read_at
from tests.builder.sources.recipes import one
from tests.builder.sources.test_auto import FILES, HOSTING, LIBRARIES, beside
from tests.skips import needs
from tests.tiers import scaled

#: Options that a format demands.
OPTIONS = {"cidr-list": HOSTING}


def damaged(whole: bytes, turns: int, seed: str) -> Iterator[bytes]:
    """A part of a file, then the whole of it with one bit flipped, at ``turns`` places."""
    rng = random.Random(seed)
    for _ in range(turns):
        at = rng.randrange(1, len(whole))
        yield whole[:at]
        yield whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs(*LIBRARIES.get(name, "").split())) for name in FILES]
)
def test_cut_or_changed_anywhere(tmp_path: Path, name: str) -> None:
    """No row is missing from the counts: a bit makes at most one line of one, or one of two."""
    file, content = next(iter(FILES[name].items()))
    whole = content if isinstance(content, bytes) else content.encode()
    text = one(name, "*.csv" if name == "maxmind" else file, OPTIONS.get(name, ""))
    most = read_at(tmp_path, {file: whole, **beside(name)}, text).source.read + 1
    told = list[str]()
    for data in damaged(whole, scaled(4, 40), name):
        try:
            source = read_at(tmp_path, {file: data}, text).source
        except BuildError as error:
            told.append(str(error))
        else:
            assert source.rejected.total() <= source.read <= most, data
    assert all(each.startswith(str(tmp_path)) and "\n" not in each for each in told)
