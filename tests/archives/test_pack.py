"""A dataset as one file: the same bytes each time, and nothing but a whole dataset out of it."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup import DatasetError, OutputError
from geolookup.archives.pack import pack
from geolookup.archives.unpack import unpack
from geolookup.dataset import layout as fmt
from geolookup.dataset.checksums import canonical
from tests.cli.program import umask
from tests.conftest import ROOT
from tests.damage import copied
from tests.datasets import SMALL

FIRST = min(fmt.FILES)
SUM = f"{fmt.MANIFEST}.sha256"
Members = list[tuple[tarfile.TarInfo, bytes]]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "small.tar.zst"
    pack(SMALL, path)
    return path


def plain(archive: Path) -> bytes:
    with pa.input_stream(str(archive), compression="zstd") as stream:
        content: bytes = stream.read()
    return content


def compressed(path: Path, content: bytes) -> Path:
    with pa.output_stream(str(path), compression="zstd") as stream:
        stream.write(content)
    return path


def members(archive: Path) -> Members:
    with tarfile.open(fileobj=io.BytesIO(plain(archive))) as tar:
        return [(member, _content(tar, member)) for member in tar]


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    assert file is not None
    return file.read()


def archived(path: Path, listed: Members, format_: int = tarfile.GNU_FORMAT) -> Path:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=format_) as tar:
        for member, content in listed:
            tar.addfile(member, io.BytesIO(content))
    return compressed(path, stream.getvalue())


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


def check_refused(archive: Path, target_folder: Path) -> DatasetError:
    before = sorted(target_folder.parent.iterdir())
    with pytest.raises(DatasetError) as caught:
        unpack(archive, target_folder, force=True)
    assert str(caught.value).startswith(f"{archive}: ")
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    assert sorted(target_folder.parent.iterdir()) == before
    return caught.value


def test_unpacked_is_what_was_packed(archive: Path, tmp_path: Path) -> None:
    """It says nothing of who and when; another tar may have another order, owner and modes."""
    unpack(archive, tmp_path / "out")
    assert digests(tmp_path / "out") == digests(SMALL)
    with geolookup.open(tmp_path / "out") as engine:
        assert engine.lookup("8.8.8.8", at=0) == geolookup.lookup("8.8.8.8", at=0)
    first, second, *remainder = members(archive)
    listed = [member for member, _ in (first, second, *remainder)]
    assert [member.name for member in listed] == [fmt.MANIFEST, SUM, *sorted(fmt.FILES)]
    for entry in listed:
        assert (entry.uid, entry.gid, entry.uname, entry.gname, entry.mtime) == (0, 0, "", "", 0)
        assert entry.mode == 0o644
    for member, _ in remainder:
        member.uname, member.mtime, member.mode = "someone", 1_700_000_000, 0o777
    again = archived(
        tmp_path / "a.tar.zst", [first, second, *reversed(remainder)], tarfile.USTAR_FORMAT
    )
    unpack(again, tmp_path / "out", force=True)
    assert digests(tmp_path / "out") == digests(SMALL)
    late = archived(tmp_path / "a.tar.zst", [*remainder, first, second])
    assert "does not begin with" in check_refused(late, tmp_path / "other").problem


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_the_same_bytes_from_a_copy(archive: Path, tmp_path: Path) -> None:
    """Others may read what the umask lets them."""
    dataset, other = copied(SMALL, tmp_path / "copy"), tmp_path / "other.tar.zst"
    for number, path in enumerate(dataset.iterdir()):
        os.utime(path, (number, number))
        path.chmod(0o600)
    (dataset / "notes.txt").write_text("not part of it", encoding="utf-8")
    with umask(0o027):
        size = pack(dataset, other)
        unpack(archive, tmp_path / "out")
    assert other.read_bytes() == archive.read_bytes()
    assert size == archive.stat().st_size < sum(path.stat().st_size for path in SMALL.iterdir())
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


def test_a_full_disk_leaves_nothing(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    for call, source in ((unpack, archive), (pack, SMALL)):
        with pytest.raises(OutputError) as caught:
            call(source, tmp_path / "out")
        problem = "cannot be written (No space left on device); check space and permissions"
        assert str(caught.value) == f"{tmp_path / 'out'}: {problem}"
        assert list(tmp_path.iterdir()) == []


def damages(folder: Path) -> Iterator[tuple[str, str]]:
    path = folder / FIRST
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    yield FIRST, f"{len(content) - 1} bytes, but the manifest says {len(content)}"
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    yield FIRST, "its digest differs from the manifest"
    path.unlink()
    yield FIRST, "cannot be read"
    path.mkdir()
    yield FIRST, "cannot be read"
    path.rmdir()
    path.write_bytes(content)
    manifest = json.loads((folder / fmt.MANIFEST).read_bytes())
    for change, problem in (
        ({FIRST: {}}, "the manifest is damaged"),
        ({FIRST: {"bytes": float("inf"), "sha256": ""}}, "the manifest is damaged"),
        ({"../../notes.txt": manifest["files"][FIRST]}, "are not the files of a dataset"),
    ):
        changed = manifest | {"files": manifest["files"] | change}
        (folder / fmt.MANIFEST).write_bytes(canonical(changed))
        yield fmt.MANIFEST, problem
    (folder / fmt.MANIFEST).write_bytes(b"[]")
    yield fmt.MANIFEST, "not the manifest of a geolookup dataset"


def test_a_damaged_dataset_is_not_packed(tmp_path: Path) -> None:
    dataset = copied(SMALL, tmp_path / "dataset")
    for name, problem in damages(dataset):
        with pytest.raises(DatasetError) as caught:
            pack(dataset, tmp_path / "a.tar.zst")
        assert caught.value.path == str(dataset / name)
        assert problem in str(caught.value)
        assert [path.name for path in tmp_path.iterdir()] == ["dataset"]


def test_something_behind_the_end(archive: Path, tmp_path: Path) -> None:
    content, longer = plain(archive), tmp_path / "a.tar.zst"
    for behind in (b"\0" * (2 << 20), b"more", b"\0" * 512 + b"more"):
        error = check_refused(compressed(longer, content + behind), tmp_path / "out")
        assert "does not end" in error.problem
    longer.write_bytes(archive.read_bytes() + b"more")  # behind the compressed end
    check_refused(longer, tmp_path / "out")
    text = compressed(tmp_path / "text.zst", b"some text\n" * 2000)
    assert "not an archive" in check_refused(text, tmp_path / "out").problem
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain.tar").write_bytes(b"x" * 10_240)
    for name in ("nowhere.tar.zst", "folder", "plain.tar"):
        check_refused(tmp_path / name, tmp_path / "out")


#: Member: what is said of it, wherever in the archive it stands.
STRANGE = {
    "extra": (named("notes.txt", b"x"), "unexpected member 'notes.txt'"),
    "absolute": (named("/tmp/x", b"x"), "unexpected member '/tmp/x'"),  # noqa: S108
    "parent": (named("../x", b"x"), "unexpected member '../x'"),
    "folder": (named("sub", kind=tarfile.DIRTYPE), "'sub' is not a regular file"),
    "in a folder": (named(f"sub/{FIRST}", b"x"), f"unexpected member 'sub/{FIRST}'"),
    "dot": (named(f"./{FIRST}", b"x"), f"unexpected member './{FIRST}'"),
    "symbolic link": (named(FIRST, kind=tarfile.SYMTYPE), f"'{FIRST}' is not a regular file"),
    "hard link": (named(FIRST, kind=tarfile.LNKTYPE), f"'{FIRST}' is not a regular file"),
    "device": (named(FIRST, kind=tarfile.CHRTYPE), f"'{FIRST}' is not a regular file"),
    "pipe": (named(FIRST, kind=tarfile.FIFOTYPE), f"'{FIRST}' is not a regular file"),
    "sparse": (named(FIRST, b"x", tarfile.GNUTYPE_SPARSE), f"'{FIRST}' is not a regular file"),
    "long name": (named("x" * 300, b"x"), "is not a regular file"),
    "control letters": (named("\x1b[2J\n", b"x"), r"unexpected member '\x1b[2J\n'"),
    "not UTF-8": (named("\udcff", b"x"), "not an archive that 'geolookup pack' wrote"),
    "second manifest": (named(fmt.MANIFEST, b"{}"), f"unexpected member '{fmt.MANIFEST}'"),
    "wrong size": (named(FIRST, b"x"), f"{FIRST} has 1 bytes, but the manifest says "),
}


def test_strange_members(archive: Path, tmp_path: Path) -> None:
    listed = members(archive)
    for at in (2, 3, len(fmt.FILES) + 2):
        for name, ((member, content), expected) in STRANGE.items():
            is_second = name == "wrong size" and at > 2
            problem = f"unexpected member '{FIRST}'" if is_second else expected
            changed = [*listed[:at], (member, content), *listed[at:]]
            error = check_refused(archived(tmp_path / "a.tar.zst", changed), tmp_path / "out")
            assert problem in error.problem, (name, at)


def test_other_content_of_the_same_size(archive: Path, tmp_path: Path) -> None:
    listed = members(archive)
    for index in range(1, len(listed)):
        member, content = listed[index]
        without = archived(tmp_path / "a.tar.zst", [*listed[:index], *listed[index + 1 :]])
        assert member.name in check_refused(without, tmp_path / "out").problem
        changed = listed.copy()
        changed[index] = member, content[:-1] + bytes([content[-1] ^ 1])
        error = check_refused(archived(tmp_path / "a.tar.zst", changed), tmp_path / "out")
        name = fmt.MANIFEST if member.name == SUM else member.name
        assert error.problem.startswith(f"{name} is damaged: its digest differs ")
    without = archived(tmp_path / "a.tar.zst", listed[1:])
    assert fmt.MANIFEST in check_refused(without, tmp_path / "out").problem
    text = listed[0][1].replace(b"geolookup-sample", b"geolookup-simple")
    changed = [named(fmt.MANIFEST, text), *listed[1:]]
    error = check_refused(archived(tmp_path / "a.tar.zst", changed), tmp_path / "out")
    problem = "manifest.json is damaged: its digest differs from manifest.json.sha256"
    assert error.problem == problem


def test_other_manifests(archive: Path, tmp_path: Path) -> None:
    begin, remainder = b'{"format": "geolookup-dataset", "format_version": ', members(archive)[2:]
    versions = (begin + b"99}", begin + b'2, "generation": "", "files": {}}')
    for text in (b"", b"[]", b"[" * 100_000, b"\xff", *versions):
        digest = f"{hashlib.sha256(text).hexdigest()}  {fmt.MANIFEST}\n".encode()
        listed = [named(fmt.MANIFEST, text), named(SUM, digest), *remainder]
        error = check_refused(archived(tmp_path / "a.tar.zst", listed), tmp_path / "out")
        assert "digest" not in error.problem, text[:80]


def test_sizes_that_cannot_be(archive: Path, tmp_path: Path) -> None:
    """Nothing of a size that a header claims is kept in memory or written before it is there."""
    listed = members(archive)
    for at in range(3):
        blocks = [blocks_of(*entry) for entry in listed[:at]]
        for size in (-512, -1, 1 << 40, 1 << 80):
            claim = tarfile.TarInfo(listed[at][0].name)
            claim.size = size
            forged = b"".join([*blocks, claim.tobuf(tarfile.GNU_FORMAT), b"x" * 4096])
            error = check_refused(compressed(tmp_path / "a.tar.zst", forged), tmp_path / "out")
            problems = ("does not begin with", f"{SUM} is missing", f"{FIRST} has {size} bytes")
            assert (problems[at] if size > 0 else "is not a regular file") in error.problem


#: The program, on a disk so slow that the first sync never ends.
SLOW = """
import time
from geolookup.filesystem import atomic
atomic.fsync_file = lambda path: time.sleep(60)
from geolookup.cli import main
main()
"""


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_terminated_it_leaves_nothing(archive: Path, tmp_path: Path) -> None:
    target = tmp_path / "there" / "out"
    target.parent.mkdir()
    command = [sys.executable, "-c", SLOW, "unpack", str(archive), "--output", str(target)]
    with subprocess.Popen(command, cwd=ROOT) as process:
        while process.poll() is None and not list(target.parent.glob(".*/*")):
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 128 + signal.SIGTERM
    assert list(target.parent.iterdir()) == []
