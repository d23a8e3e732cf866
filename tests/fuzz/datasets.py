"""Datasets with any manifest, and archives to unpack.

A dataset is refused when it is opened or asked, or its answers follow the contract. An archive
gives a whole dataset, or nothing and one line with the reason. The first letter of its input is
the kind: ``t`` the tar of an archive, ``z`` an archive.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pyarrow as pa

import geolookup
from tests.archives.test_pack import END, SUM, blocks_of, named
from tests.corrupt.forging import rewrite, table
from tests.damage import ADDRESSES, copied, refused, survey, whole
from tests.fuzz.target import (
    Change,
    Target,
    accepted,
    changed_json,
    emptied,
    mutated_json,
    own_folder,
    scratch,
)
from tests.internals.archives import pack, unpack
from tests.internals.dataset import canonical, read_manifest
from tests.internals.dataset import layout as fmt
from tests.internals.integrity import examine

_COLUMN = pa.table({"ip": list(ADDRESSES)})


@cache
def dataset() -> Path:
    """A small dataset with everything that one may hold."""
    return whole()


@cache
def _with_manifest() -> Path:
    """A copy whose manifest is replaced; other targets use ``dataset``."""
    return copied(dataset(), own_folder() / "forged")


@cache
def manifest() -> bytes:
    return (dataset() / fmt.MANIFEST).read_bytes()


def _manifests() -> Iterator[bytes]:
    yield manifest()
    yield (geolookup.open().path / fmt.MANIFEST).read_bytes()


def _open(data: bytes) -> None:
    (_with_manifest() / fmt.MANIFEST).write_bytes(data)
    survey(_with_manifest())

    def enriched() -> int:
        with geolookup.open(_with_manifest()) as engine:
            return len(engine.enrich(_COLUMN, ["location", "error_code"]))

    assert accepted(enriched, geolookup.DatasetError, _with_manifest(), refused) in (
        None,
        len(_COLUMN),
    )


_codec = pa.Codec("zstd", compression_level=1)


@cache
def _plain() -> bytes:
    """The tar of the small dataset: what ``pack`` compresses."""
    path = emptied(scratch()) / "seed.tar.zst"
    pack(dataset(), path, force=True)
    with pa.input_stream(str(path), compression="zstd") as stream:
        content: bytes = stream.read()
    return content


def _archives() -> Iterator[bytes]:
    plain = _plain()
    yield b"t" + plain
    yield b"z" + bytes(_codec.compress(plain, asbytes=True))


def _unpack(data: bytes) -> None:
    output = emptied(scratch())
    archive = output / "a.tar.zst"
    remainder = data[1:]
    archive.write_bytes(remainder if data[:1] == b"z" else _codec.compress(remainder, asbytes=True))
    try:
        unpack(archive, output / "out")
    except geolookup.DatasetError as error:
        refused(error, str(archive))
        assert list(output.iterdir()) == [archive]
    else:
        _check_unpacked(output / "out")


def _check_unpacked(folder: Path) -> None:
    """Fail unless ``verify`` passes it."""
    files = read_manifest(folder).files
    assert {path.name for path in folder.iterdir()} == {fmt.MANIFEST, *files}
    for name, described in files.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == described["sha256"]
    assert examine(folder).damages == ()
    survey(folder)


def _mutate(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change all bytes, a header, the manifest, or a file; most digests are put right."""
    kind = rng.randrange(6)
    members = _members(data[1:]) if data[:1] == b"t" and kind else []
    if not members:
        return data[:1] + change(data[1:])
    if kind == 1:
        at = rng.randrange(len(members))
        members[at] = change(members[at][:512]) + members[at][512:]
        return b"t" + b"".join(members)
    text = change(manifest()) if kind == 2 else changed_json(manifest(), rng)
    if kind >= 4 and len(members) > 4:
        at = rng.randrange(3, len(members) - 1)
        members[at], agreeing = _forged(members[at], change)
        text = agreeing if kind == 4 else manifest()
    digest = f"{hashlib.sha256(text).hexdigest()}  {fmt.MANIFEST}\n".encode()
    head = [blocks_of(*named(fmt.MANIFEST, text)), blocks_of(*named(SUM, digest))]
    return b"t" + b"".join([members[0], *head, *members[3:]])


def _forged(member: bytes, change: Change) -> tuple[bytes, bytes]:
    """Change the content of a file; return its member, and the manifest that agrees with it."""
    folder = copied(dataset(), scratch() / "forged")
    document = json.loads(manifest())
    name = member[:100].rstrip(b"\0").decode("latin-1")
    if name not in document["files"]:  # its header was changed before
        return member, manifest()
    content = change(member[512 : 512 + document["files"][name]["bytes"]])
    digest = hashlib.sha256(content).hexdigest()
    document["files"][name] |= {"bytes": len(content), "sha256": digest}
    (folder / name).write_bytes(content)
    (folder / fmt.MANIFEST).write_bytes(canonical(document))
    with suppress(Exception):  # the generation id stays wrong if the file is not a table any more
        table(folder, name).validate(full=True)
        rewrite(folder, document)
    return blocks_of(*named(name, content)), (folder / fmt.MANIFEST).read_bytes()


def _members(plain: bytes) -> list[bytes]:
    """Return header and content of each member, and what follows them; nothing where unreadable."""
    try:
        with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
            begins = [member.offset for member in tar]
    except (tarfile.TarError, ValueError, EOFError):
        return []
    ends = [*begins[1:], plain.rfind(b"\0" * 1024)]
    whole = [plain[a:b] for a, b in zip(begins, ends, strict=True)] if begins else []
    return [*whole, END] if whole else []


TARGETS = {
    "manifest": Target(_open, _manifests, mutated_json),
    "archive": Target(_unpack, _archives, _mutate),
}
