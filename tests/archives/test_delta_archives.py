"""A delta as an archive: with its base it makes the same bytes as the whole archive, or nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from geolookup import DatasetError, publish
from tests.archives.deltas import Line, line
from tests.archives.test_pack import Members, archived, compressed, digests, named, plain
from tests.damage import copied
from tests.internals.archives import Header, open_archive, pack, parsed_header, unpack
from tests.internals.dataset import layout as fmt
from tests.internals.history import rollback
from tests.internals.integrity import verify
from tests.store.numbered import generation
from tests.tiers import scaled


@pytest.fixture(scope="module")
def made() -> Iterator[Line]:
    """Datasets and archives; no test may change a byte of the datasets."""
    result = line()
    before = [digests(dataset) for dataset in result.datasets]
    yield result
    assert [digests(dataset) for dataset in result.datasets] == before


def outcome(archive: Path, base: Path | None, target_folder: Path) -> dict[str, str] | str:
    before = sorted(target_folder.parent.iterdir())
    try:
        unpack(archive, target_folder, base=base)
    except DatasetError as error:
        refusal = error
    else:
        verify(target_folder, deep=True)
        result = digests(target_folder)
        shutil.rmtree(target_folder)
        return result
    assert "\n" not in str(refusal)
    assert refusal.remedy
    assert sorted(target_folder.parent.iterdir()) == before  # nothing is left
    return f"{refusal.path}: {refusal.problem}"


def refused(archive: Path, base: Path | None, target_folder: Path) -> str:
    problem = outcome(archive, base, target_folder)
    assert isinstance(problem, str)
    return problem.removeprefix(f"{archive}: ")


def changed(tmp_path: Path, listed: Members, name: str, content: bytes) -> Path:
    fresh = [
        named(name, content) if member.name == name else (member, former)
        for member, former in listed
    ]
    return archived(tmp_path / "a.tar.zst", fresh)


@pytest.mark.long
def test_every_delta_of_a_line(made: Line, tmp_path: Path) -> None:
    """A whole archive needs no base, and a delta is the same bytes each time."""
    for (base, target), archive in made.archives.items():
        folder = None if base is None else made.datasets[base]
        assert outcome(archive, folder, tmp_path / "out") == made.result(target), (base, target)
        with open_archive(archive) as (head, _):
            header = head.header
        ids = None if header is None else (header.base, header.target)
        expected = None if folder is None else (generation(folder), head.manifest.generation)
        assert ids == expected
    assert outcome(made.archives[None, 1], made.datasets[0], tmp_path / "out") == made.result(1)
    # The base may be any generation of a store; no file of the result is a hard link to it.
    for number in (2, 0):
        publish(made.datasets[number], tmp_path / "store")
    rollback(tmp_path / "store")  # withdraws the base
    unpack(made.archives[0, 1], tmp_path / "out", base=tmp_path / "store")
    assert digests(tmp_path / "out") == made.result(1)
    assert {path.stat().st_nlink for path in (tmp_path / "out").iterdir()} == {1}
    shutil.rmtree(tmp_path / "out")
    nothing = tmp_path / "nothing.tar.zst"
    pack(made.datasets[0], nothing, base=made.datasets[0])
    with open_archive(nothing) as (_, listed):
        assert listed.next() is None  # after delta.json, the manifest and its digest
    assert outcome(nothing, made.datasets[0], tmp_path / "out") == made.result(0)
    one, other = (copied(made.datasets[item], tmp_path / str(item)) for item in (0, 1))
    pack(other, tmp_path / "a.tar.zst", base=one)
    assert (tmp_path / "a.tar.zst").read_bytes() == made.archives[0, 1].read_bytes()
    # Such as one that lists files of explained rows.
    header = Header("a" * 64, "b" * 64, {fmt.EXPLAINED_FILES: "c" * 64, fmt.IPV4: "d" * 64})
    assert parsed_header(header.text(), "x") == header


@pytest.mark.long
@pytest.mark.parametrize("base", [None, 0])
def test_flipped_anywhere(made: Line, tmp_path: Path, base: int | None) -> None:
    """What says nothing, such as the owner in a header, may change; the dataset may not."""
    archive, flipped, actual = made.archives[base, 1], tmp_path / "flipped.tar.zst", []
    folder = None if base is None else made.datasets[base]
    writers: dict[bytes, Callable[[bytes], object]] = {
        archive.read_bytes(): flipped.write_bytes,
        plain(archive): lambda content: compressed(flipped, content),
    }
    for content, write in writers.items():
        for at in range(0, len(content), len(content) // scaled(15, 80)):
            write(content[:at] + bytes([content[at] ^ 0x21]) + content[at + 1 :])
            actual.append(outcome(flipped, folder, tmp_path / "out"))
    assert all(isinstance(item, str) or item == made.result(1) for item in actual)
    assert sum(isinstance(item, str) for item in actual) > len(actual) // 2


@pytest.mark.long
def test_patches_that_are_swapped(made: Line, tmp_path: Path) -> None:
    """A right patch of another delta is none of this one: the digest of its file tells."""
    other = {member.name: content for member, content in made.members(0, 2)}
    listed = made.members(0, 1)
    swapped = [m.name for m, content in listed[3:] if other.get(m.name, content) != content]
    assert len(swapped) > 2
    for name in swapped:
        forged = changed(tmp_path, listed, name, other[name])
        problem = refused(forged, made.datasets[0], tmp_path / "out")
        assert problem.startswith(name.removesuffix(".delta"))
    size = (made.datasets[1] / name.removesuffix(".delta")).stat().st_size
    most = size + size // 16 + (1 << 16)
    for longer, said in ((most, "is damaged"), (most + 1, "is larger than a patch of")):
        forged = changed(tmp_path, listed, name, bytes(longer))
        problem = refused(forged, made.datasets[0], tmp_path / "out")
        assert problem.startswith(f"{name} {said}"), longer
