"""Archives that are too large: for their own size, and for the disk."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from geolookup.archives.pack import pack
from geolookup.archives.unpack import unpack
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import canonical
from geolookup.errors import OutputError
from geolookup.filesystem import limits
from tests.archives.test_pack import archived, check_refused, members, named
from tests.datasets import SMALL


def forged(path: Path, size: int) -> Path:
    """An archive whose manifest states another size for its first file, of zeros."""
    stated = json.loads((SMALL / fmt.MANIFEST).read_bytes())
    stated["files"][fmt.FILES[0]]["bytes"] = size
    text = canonical(stated)
    digest = f"{hashlib.sha256(text).hexdigest()}  {fmt.MANIFEST}\n".encode()
    rest = [each for each in members_of_small(path) if each[0].name != fmt.FILES[0]]
    first = named(fmt.FILES[0], bytes(size))
    return archived(
        path,
        [named(fmt.MANIFEST, text), named(f"{fmt.MANIFEST}.sha256", digest), first, *rest[2:]],
    )


def members_of_small(path: Path) -> list:  # type: ignore[type-arg]
    pack(SMALL, path, force=True)
    return members(path)


def test_a_bomb_is_refused_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ALLOWED_BYTES", 1 << 20)
    monkeypatch.setattr(limits, "ALLOWED_RATIO", 20)
    archive = forged(tmp_path / "a.tar.zst", 20 << 20)
    error = check_refused(archive, tmp_path / "out")
    assert error.problem == "unpacks to over 1,048,576 bytes and 20 times its size"


def test_no_room_for_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(SMALL, tmp_path / "a.tar.zst", force=False)
    monkeypatch.setattr(limits, "free_space", lambda _folder: 1000)
    with pytest.raises(OutputError) as caught:
        unpack(tmp_path / "a.tar.zst", tmp_path / "out", force=False)
    files = [path for path in SMALL.iterdir() if path.name != fmt.MANIFEST]
    needed = sum(path.stat().st_size for path in files)
    problem = f"needs {needed:,} bytes, but 1,000 are free on its disk"
    assert caught.value.problem == problem
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.zst"]
