"""An archive to unpack: a whole dataset comes of it, or nothing and one line that says why."""

from __future__ import annotations

import hashlib
import io
import json
import random
import tarfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from unittest import mock

import pyarrow as pa

import geolookup
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import canonical, read_manifest
from geolookup.integrity import examine
from geolookup.store import pack as archives
from geolookup.store.pack import pack, unpack
from tests.damage import refused, survey
from tests.fuzz.json_values import changed
from tests.fuzz.manifest import dataset, manifest
from tests.fuzz.target import Change, Target, emptied, own_folder
from tests.store.test_pack import SUM, blocks_of, named

_folder = cache(own_folder)
_codec = pa.Codec("zstd", compression_level=1)


@cache
def _plain() -> bytes:
    """A tar of the small dataset: what ``pack`` compresses."""
    manifest()  # before any target has changed it
    path = emptied(_folder()) / "seed.tar.zst"
    pack(dataset(), path, force=True)
    with pa.input_stream(str(path), compression="zstd") as stream:
        content: bytes = stream.read()
    return content


def seeds() -> Iterator[bytes]:
    plain = _plain()
    yield b"t" + plain
    yield b"z" + bytes(_codec.compress(plain, asbytes=True))


def run(data: bytes) -> None:
    """Unpack; the first letter says whether the rest is compressed already."""
    place = emptied(_folder())
    archive = place / "a.tar.zst"
    rest = data[1:]
    archive.write_bytes(rest if data[:1] == b"z" else _codec.compress(rest, asbytes=True))
    try:
        unpack(archive, place / "out", force=False)
    except geolookup.DatasetError as error:
        refused(error, str(archive))
        assert list(place.iterdir()) == [archive]
    else:
        _check_unpacked(place / "out")


def _check_unpacked(folder: Path) -> None:
    """Fail unless the files are those of the manifest, and valid answers come of what passes."""
    files = read_manifest(folder).files
    assert {path.name for path in folder.iterdir()} == {fmt.MANIFEST, *files}
    for name, described in files.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == described.sha256
    assert not examine(folder).damages
    assert survey(folder) == "answered"


def mutate(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change all bytes, a header, the manifest, or a file; most digests are put right."""
    kind = rng.randrange(6)
    members = _members(data[1:]) if data[:1] == b"t" and kind else []
    if not members:
        return data[:1] + change(data[1:])
    if kind == 1:
        at = rng.randrange(len(members))
        members[at] = change(members[at][:512]) + members[at][512:]
        return b"t" + b"".join(members)
    text = change(manifest()) if kind == 2 else changed(manifest(), rng)
    if kind >= 4 and len(members) > 3:
        at = rng.randrange(2, len(members) - 1)
        members[at], agreeing = _forged(members[at], change)
        text = agreeing if kind == 4 else manifest()
    digest = f"{hashlib.sha256(text).hexdigest()}  {fmt.MANIFEST}\n".encode()
    head = [blocks_of(*named(fmt.MANIFEST, text)), blocks_of(*named(SUM, digest))]
    return b"t" + b"".join(head + members[2:])


def _forged(member: bytes, change: Change) -> tuple[bytes, bytes]:
    """Change the content of a file; return its member, and the manifest that agrees with it."""
    document = json.loads(manifest())
    name = member[:100].rstrip(b"\0").decode("latin-1")
    if name not in document["files"]:  # its header was changed before
        return member, manifest()
    content = change(member[512 : 512 + document["files"][name]["bytes"]])
    digest = hashlib.sha256(content).hexdigest()
    document["files"][name] |= {"bytes": len(content), "sha256": digest}
    return blocks_of(*named(name, content)), canonical(document)


def _members(plain: bytes) -> list[bytes]:
    """Return header and content of each member, and what follows them; nothing where unreadable."""
    try:
        with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
            begins = [each.offset for each in tar]
    except (tarfile.TarError, ValueError, EOFError):
        return []
    ends = [*begins[1:], plain.rfind(b"\0" * 1024)]
    whole = [plain[a:b] for a, b in zip(begins, ends, strict=True)] if begins else []
    return [*whole, bytes(10240)] if whole else []


def planted() -> AbstractContextManager[object]:
    """Unpack files without a look at their digests, nor at the dataset that they make."""

    def take(
        members: archives._Members, member: tarfile.TarInfo, path: Path, _size: int, _digest: str
    ) -> None:
        archives._write(path, members.data(member))

    return mock.patch.multiple(archives, _take=take, _verify=lambda _folder, _archive: None)


TARGET = Target(run, seeds, planted, mutate)
