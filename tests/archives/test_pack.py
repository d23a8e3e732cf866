"""A dataset as one file: the same bytes each time, and the same dataset out of it, or published."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import signal
import tarfile
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup import DatasetError
from geolookup.errors import OutputError
from tests.cli.program import held, umask
from tests.damage import copied
from tests.datasets import SMALL, once
from tests.internals.archives import (
    header,
    is_archive,
    open_archive,
    pack,
    read_head,
    unpack,
    write_archive,
    write_files,
)
from tests.internals.dataset import canonical
from tests.internals.dataset import layout as fmt
from tests.internals.history import publish, rollback
from tests.internals.integrity import verify
from tests.store.numbered import answers_of, id_of, published, shared

FIRST = min(fmt.FILES)
MARK, SUM = "geolookup-archive", f"{fmt.MANIFEST}.sha256"
#: The end of a tar archive.
END = bytes(1024)
Members = list[tuple[tarfile.TarInfo, bytes]]


def small_archive() -> Path:
    """The archive of the small dataset; nobody may change it."""
    return once("archives-small.tar.zst", partial(pack, SMALL))


@pytest.fixture
def archive() -> Path:
    return small_archive()


def plain(archive: Path) -> bytes:
    with pa.input_stream(str(archive), compression="zstd") as stream:
        content: bytes = stream.read()
    return content


def compressed(path: Path, content: bytes) -> Path:
    path.write_bytes(pa.Codec("zstd", compression_level=1).compress(content, asbytes=True))
    return path


def members(archive: Path) -> Members:
    content = plain(archive)
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        return [(item, content[item.offset_data :][: item.size]) for item in tar]


def archived(path: Path, listed: Members) -> Path:
    return compressed(path, b"".join([*(blocks_of(*entry) for entry in listed), END]))


def blocks_of(member: tarfile.TarInfo, content: bytes) -> bytes:
    return member.tobuf(tarfile.GNU_FORMAT) + content + b"\0" * (-len(content) % 512)


def named(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE) -> Any:
    member = tarfile.TarInfo(name)
    member.size, member.type = len(content), kind
    if kind in (tarfile.LNKTYPE, tarfile.SYMTYPE):
        member.linkname = "/etc/passwd"
    return member, content


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


#: The first member. The remaining headers are what ``tarfile`` writes.
GOLDEN = (
    b"geolookup-archive".ljust(100, b"\0") + b"0000644\x000000000\x000000000\x0000000000002\0"
    b"00000000000\x00011243\x00 0" + bytes(100) + b"ustar  " + bytes(248) + b"3\n" + bytes(510)
)


def test_golden_bytes(archive: Path) -> None:
    """What is compressed, byte by byte; no owner, no time."""
    manifest = (SMALL / fmt.MANIFEST).read_bytes()
    line = f"{hashlib.sha256(manifest).hexdigest()}  manifest.json\n".encode()
    texts = {fmt.MANIFEST: manifest, "manifest.json.sha256": line}
    files = {name: (SMALL / name).read_bytes() for name in sorted(fmt.FILES)}
    blocks = [blocks_of(*named(name, text)) for name, text in {**texts, **files}.items()]
    assert plain(archive) == b"".join([GOLDEN, *blocks, bytes(1024)])
    assert archive.read_bytes()[:4] == bytes.fromhex("28b52ffd")
    assert archive.stat().st_size < sum(map(len, files.values()))
    for size in (8**11 - 1, 8**11):
        (member, _) = named(FIRST)
        member.size = size
        assert header(FIRST, size) == member.tobuf(tarfile.GNU_FORMAT)


def test_unpacked_is_what_was_packed(archive: Path, tmp_path: Path) -> None:
    unpack(archive, tmp_path / "out")
    assert digests(tmp_path / "out") == digests(SMALL)
    with geolookup.open(tmp_path / "out") as engine:
        assert engine.lookup("8.8.8.8", at=0) == geolookup.lookup("8.8.8.8", at=0)
    assert is_archive(archive)
    assert not any(map(is_archive, (tmp_path, tmp_path / "missing", SMALL / FIRST)))
    assert not is_archive(archived(tmp_path / "vendor.tar.zst", [named("ranges.csv", b"x")]))
    with open_archive(archive) as (head, _):
        assert head.manifest.generation == json.loads(head.manifest_text)["generation"]
        assert dict(head.texts()) == {fmt.MANIFEST: (SMALL / fmt.MANIFEST).read_bytes()}


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_the_same_bytes_from_a_copy(archive: Path, tmp_path: Path) -> None:
    """Others may read what the umask lets them."""
    dataset, other = copied(SMALL, tmp_path / "copy"), tmp_path / "other.tar.zst"
    for number, path in enumerate(dataset.iterdir()):
        os.utime(path, (number, number))
        path.chmod(0o600)
    (dataset / "notes.txt").write_text("not part of it", encoding="utf-8")
    with umask(0o027):
        assert pack(dataset, other) == archive.stat().st_size
        unpack(archive, tmp_path / "out")
    write_archive(tmp_path / "same.tar.zst", dataset, read_head(dataset))
    for path in (other, tmp_path / "same.tar.zst"):
        assert path.read_bytes() == archive.read_bytes()
    assert other.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o750
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out").iterdir()} == {0o640}


def test_what_is_there_is_replaced_with_force_only(archive: Path, tmp_path: Path) -> None:
    target_folder, file = copied(SMALL, tmp_path / "out"), tmp_path / "a.tar.zst"
    (target_folder / FIRST).write_bytes(b"")
    file.write_bytes(b"mine")
    for call in (partial(unpack, archive, target_folder), partial(pack, SMALL, file)):
        with pytest.raises(OutputError, match="exists already; choose another name or use --force"):
            call(force=False)
    assert (target_folder / FIRST).read_bytes() == b""
    assert file.read_bytes() == b"mine"
    with pytest.raises(OutputError, match="is not empty and not a dataset"):
        unpack(archive, tmp_path, force=True)
    for name, problem in (
        ("nowhere/a.tar.zst", "no such folder"),
        (".", "is a folder"),
        *((f"a{end}", "pack writes .* name a file that") for end in (".zip", ".MMDB", ".tar.gz")),
    ):
        with pytest.raises(OutputError, match=problem):
            pack(SMALL, tmp_path / name, force=True)
    unpack(archive, target_folder, force=True)
    pack(SMALL, file, force=True)
    assert digests(target_folder) == digests(SMALL)
    assert file.read_bytes() == archive.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"out", "a.tar.zst"}


def manifest_with(files: dict[str, Any]) -> bytes:
    manifest = json.loads((SMALL / fmt.MANIFEST).read_bytes())
    return canonical(manifest | {"files": manifest["files"] | files})


def test_files_of_several_chunks_and_frames(tmp_path: Path) -> None:
    dataset, content = copied(SMALL, tmp_path / "dataset"), random.Random(1).randbytes(17 << 20)
    (dataset / FIRST).write_bytes(content)
    stated = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (dataset / fmt.MANIFEST).write_bytes(manifest_with({FIRST: stated}))
    write_archive(tmp_path / "a.tar.zst", dataset, read_head(dataset))
    (tmp_path / "out").mkdir()
    with open_archive(tmp_path / "a.tar.zst") as (head, listed):
        write_files(head, listed, tmp_path / "out")
    assert digests(tmp_path / "out") == digests(dataset)


SIZE = (SMALL / FIRST).stat().st_size
#: The content of a file, None for no file, and what is said.
DAMAGED: list[tuple[str, bytes | None, str]] = [
    (FIRST, bytes(SIZE - 1), f"{SIZE - 1} bytes, but the manifest says {SIZE}"),
    (FIRST, bytes(SIZE), "its digest differs from the manifest"),
    (FIRST, None, "cannot be read"),
    (fmt.MANIFEST, manifest_with({FIRST: []}), "the manifest is damaged"),
    (fmt.MANIFEST, manifest_with({"../../x": {}}), "are not the files of a dataset"),
    (fmt.MANIFEST, b"[]", "not the manifest of a geolookup dataset"),
]


@pytest.mark.parametrize(("name", "content", "problem"), DAMAGED)
def test_a_damaged_dataset_is_not_packed(
    name: str, content: bytes | None, problem: str, tmp_path: Path
) -> None:
    dataset = copied(SMALL, tmp_path / "dataset")
    (dataset / name).unlink()
    if content is not None:
        (dataset / name).write_bytes(content)
    with pytest.raises(DatasetError, match=problem) as caught:
        pack(dataset, tmp_path / "a.tar.zst")
    assert caught.value.path == str(dataset / name)
    assert [path.name for path in tmp_path.iterdir()] == ["dataset"]


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_terminated_it_leaves_nothing(archive: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    with held(
        "open", f"/{FIRST}", "mirror", "unpack", str(archive), "--output", str(target)
    ) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that has published number 0."""
    return published(tmp_path / "store", 0)


def test_a_whole_archive_is_published_once(store: Path, tmp_path: Path) -> None:
    """Of a generation that the store has undamaged, nothing is written."""
    pack(shared(1), archive := tmp_path / "a.tar.zst")
    (cut := tmp_path / "cut.tar.zst").write_bytes(archive.read_bytes()[:-20])
    folder = store / "generations" / id_of(1)
    with pytest.raises(DatasetError, match=f"^{cut}.*truncated"):
        publish(cut, store)
    assert not folder.exists()
    assert answers_of(store) == answers_of(shared(0))
    assert publish(archive, store, expect=id_of(1)).generation == id_of(1)
    assert digests(folder) == digests(shared(1))
    rollback(store)
    before = folder.stat()
    publish(archive, store)
    assert answers_of(store) == answers_of(shared(1))
    assert folder.stat() == before
    content = (folder / fmt.IPV4).read_bytes()
    (folder / fmt.IPV4).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    publish(archive, store)
    verify(store)
