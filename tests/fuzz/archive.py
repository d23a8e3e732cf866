"""An archive to unpack: a whole dataset comes of it, or nothing and one line that says why."""

from __future__ import annotations

import hashlib
import io
import random
import tarfile
from collections.abc import Iterator
from functools import cache

import pyarrow as pa

import geolookup
from geolookup.dataset import layout as fmt
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
        names = {path.name for path in (place / "out").iterdir()}
        assert {fmt.MANIFEST, *fmt.FILES} <= names <= {fmt.MANIFEST, *fmt.FILES, *fmt.EXPLAINING}
        survey(place / "out")


def mutate(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change all bytes, or a header, or the manifest with its digest put right."""
    kind = rng.randrange(4)
    members = _members(data[1:]) if data[:1] == b"t" and kind else []
    if not members:
        return data[:1] + change(data[1:])
    if kind == 1:
        at = rng.randrange(len(members))
        members[at] = change(members[at][:512]) + members[at][512:]
        return b"t" + b"".join(members)
    text = change(manifest()) if kind == 2 else changed(manifest(), rng)
    digest = f"{hashlib.sha256(text).hexdigest()}  {fmt.MANIFEST}\n".encode()
    head = [blocks_of(*named(fmt.MANIFEST, text)), blocks_of(*named(SUM, digest))]
    return b"t" + b"".join(head + members[2:])


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


TARGET = Target(run, seeds, mutate)
