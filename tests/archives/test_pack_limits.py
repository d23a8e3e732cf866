"""Archives that are too large: for their own size, and for the disk."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from shutil import rmtree

import pytest

from geolookup.archives.pack import pack
from geolookup.archives.publish import publish
from geolookup.archives.unpack import unpack
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import canonical
from geolookup.errors import DatasetError, OutputError
from geolookup.filesystem import limits
from tests.archives.deltas import line
from tests.archives.test_pack import SUM, archived, check_refused, digests, members, named
from tests.datasets import SMALL
from tests.store.numbered import generation, published, shared


def forged(path: Path, size: int) -> Path:
    stated = json.loads((SMALL / fmt.MANIFEST).read_bytes())
    stated["files"][fmt.FILES[0]]["bytes"] = size
    text = canonical(stated)
    digest = f"{hashlib.sha256(text).hexdigest()}  {fmt.MANIFEST}\n".encode()
    pack(SMALL, path)
    rest = [each for each in members(path)[2:] if each[0].name != fmt.FILES[0]]
    head = [named(fmt.MANIFEST, text), named(SUM, digest), named(fmt.FILES[0], bytes(size))]
    return archived(path, [*head, *rest])


def limit(monkeypatch: pytest.MonkeyPatch, size: int, ratio: int) -> None:
    monkeypatch.setattr(limits, "ALLOWED_BYTES", size)
    monkeypatch.setattr(limits, "ALLOWED_RATIO", ratio)


def bytes_of(dataset: Path) -> int:
    files = json.loads((dataset / fmt.MANIFEST).read_bytes())["files"]
    return sum((dataset / name).stat().st_size for name in files)


def test_a_bomb_is_refused_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, 1 << 20, 20)
    archive = forged(tmp_path / "a.tar.zst", 20 << 20)
    error = check_refused(archive, tmp_path / "out")
    assert error.problem == "unpacks to over 1,048,576 bytes and 20 times its size"
    needed = bytes_of(SMALL)  # the most that an archive may hold
    pack(SMALL, archive, force=True)
    limit(monkeypatch, needed - 1, 0)
    check_refused(archive, tmp_path / "out")
    limit(monkeypatch, needed, 0)
    unpack(archive, tmp_path / "out")


def test_a_delta_may_make_as_many_bytes_more_as_its_base_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of sets above the limit a delta is small: what it makes is mostly that of its base."""
    made = line()
    base, target = made.datasets[0], made.datasets[2]
    more = bytes_of(target) - bytes_of(base)
    assert more > 0
    limit(monkeypatch, more, 0)
    unpack(made.archives[0, 2], tmp_path / "out", base=base)
    assert digests(tmp_path / "out") == digests(target)
    limit(monkeypatch, more - 1, 0)
    with pytest.raises(DatasetError, match="unpacks to over"):
        unpack(made.archives[0, 2], tmp_path / "again", base=base)


def test_no_room_for_a_dataset(
    delta: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is linked takes none."""
    pack(SMALL, tmp_path / "a.tar.zst")
    needed, free = bytes_of(SMALL), 1000
    monkeypatch.setattr(limits, "free_space", lambda _folder: free)
    with pytest.raises(OutputError) as caught:
        unpack(tmp_path / "a.tar.zst", tmp_path / "out")
    assert caught.value.problem == f"needs {needed:,} bytes, but 1,000 are free on its disk"
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.zst"]
    free = needed
    unpack(tmp_path / "a.tar.zst", tmp_path / "out")
    store, target = published(tmp_path / "store", 0), shared(1)
    linked = dict(digests(shared(0)).items() & digests(target).items())
    free = bytes_of(target) - sum((target / name).stat().st_size for name in linked)
    publish(delta, store)
    rmtree(store / "generations" / generation(target))
    for copy in (True, False):
        with pytest.raises(OutputError, match="are free on its disk"):
            publish(delta, store, copy=copy)
        free -= 1
