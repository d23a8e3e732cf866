"""A delta as an archive: with its base it makes the same bytes as the whole archive, or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from geolookup import DatasetError
from geolookup.archives.head import open_archive
from geolookup.archives.header import DELTA, Header
from geolookup.archives.pack import pack
from geolookup.archives.unpack import unpack
from geolookup.dataset import layout as fmt
from geolookup.store.generations import rollback
from geolookup.store.publish import publish
from tests.archives.test_pack import SUM, Members, archived, digests, members, named
from tests.damage import copied
from tests.store.numbered import generation


def header_of(archive: Path) -> Header | None:
    with open_archive(archive) as (head, _):
        return head.header


def check_refused(archive: Path, base: Path | None, place: Path) -> DatasetError:
    """Unpacking fails with one line, and leaves nothing."""
    before = sorted(place.parent.iterdir())
    with pytest.raises(DatasetError) as caught:
        unpack(archive, place, base=base)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    assert sorted(place.parent.iterdir()) == before
    return caught.value


# --- there and back


def test_with_its_base_it_is_the_dataset(delta: Path, datasets: list[Path], tmp_path: Path) -> None:
    unpack(delta, tmp_path / "out", base=datasets[0])
    assert digests(tmp_path / "out") == digests(datasets[1])


def test_the_base_may_be_any_generation_of_a_store(
    delta: Path, datasets: list[Path], tmp_path: Path
) -> None:
    for dataset in (datasets[2], datasets[0]):
        publish(dataset, tmp_path / "store")
    rollback(tmp_path / "store")  # withdraws the base
    unpack(delta, tmp_path / "out", base=tmp_path / "store")
    assert digests(tmp_path / "out") == digests(datasets[1])


def test_the_base_stays_its_own(delta: Path, datasets: list[Path], tmp_path: Path) -> None:
    """No file of the result is a hard link to a file of the base."""
    unpack(delta, tmp_path / "out", base=datasets[0])
    assert {path.stat().st_nlink for path in (tmp_path / "out").iterdir()} == {1}


def test_a_whole_archive_needs_no_base(datasets: list[Path], tmp_path: Path) -> None:
    pack(datasets[1], tmp_path / "a.tar.zst")
    unpack(tmp_path / "a.tar.zst", tmp_path / "out", base=datasets[0])
    assert digests(tmp_path / "out") == digests(datasets[1])
    assert header_of(tmp_path / "a.tar.zst") is None


def test_a_delta_of_nothing(datasets: list[Path], tmp_path: Path) -> None:
    pack(datasets[0], tmp_path / "a.tar.zst", base=datasets[0])
    assert [each.name for each, _ in members(tmp_path / "a.tar.zst")] == [DELTA, fmt.MANIFEST, SUM]
    unpack(tmp_path / "a.tar.zst", tmp_path / "out", base=datasets[0])
    assert digests(tmp_path / "out") == digests(datasets[0])


def test_the_same_bytes_each_time(delta: Path, datasets: list[Path], tmp_path: Path) -> None:
    base, target = (copied(each, tmp_path / each.parent.name) for each in datasets[:2])
    pack(target, tmp_path / "a.tar.zst", base=base)
    assert (tmp_path / "a.tar.zst").read_bytes() == delta.read_bytes()


def test_the_header_names_both_generations(delta: Path, datasets: list[Path]) -> None:
    header = header_of(delta)
    assert header is not None
    assert (header.base, header.target) == tuple(map(generation, datasets[:2]))


# --- the base


def test_without_its_base(delta: Path, datasets: list[Path], tmp_path: Path) -> None:
    base = generation(datasets[0])
    error = check_refused(delta, None, tmp_path / "out")
    assert error.problem == f"a delta of generation {base}"
    assert error.remedy == "name its base with --base, or unpack an archive of the whole dataset"
    publish(datasets[2], tmp_path / "store")
    for place in (datasets[2], tmp_path / "store", tmp_path / "nothing"):
        error = check_refused(delta, place, tmp_path / "out")
        assert error.problem == f"a delta of generation {base}, which {place} does not have"


def test_a_damaged_base(delta: Path, datasets: list[Path], tmp_path: Path) -> None:
    base = copied(datasets[0], tmp_path / "base")
    for name in (fmt.IPV4, fmt.COUNTRY):
        content = (base / name).read_bytes()
        (base / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        error = check_refused(delta, base, tmp_path / "out")
        assert error.path == str(base / name)
        assert f"it is the base of {delta}" in error.problem
        (base / name).write_bytes(content)


def test_a_base_of_other_bytes(delta: Path, datasets: list[Path], tmp_path: Path) -> None:
    """Such as one of another version of Arrow: the same generation, in other bytes."""
    listed = members(delta)
    header = json.loads(listed[0][1])
    header["files"][fmt.COUNTRY] = "0" * 64
    other = changed(tmp_path, listed, DELTA, json.dumps(header).encode())
    error = check_refused(other, datasets[0], tmp_path / "out")
    assert "a delta of other bytes of generation" in error.problem


# --- deltas that are damaged or forged


def changed(tmp_path: Path, listed: Members, name: str, content: bytes) -> Path:
    """Return an archive with another content of a member."""
    fresh = [
        named(name, content) if member.name == name else (member, former)
        for member, former in listed
    ]
    return archived(tmp_path / "a.tar.zst", fresh)


def test_cut_anywhere(delta: Path, datasets: list[Path], tmp_path: Path) -> None:
    content, cut = delta.read_bytes(), tmp_path / "cut.tar.zst"
    for size in range(0, len(content), len(content) // 20):
        cut.write_bytes(content[:size])
        assert check_refused(cut, datasets[0], tmp_path / "out").path == str(cut)


def test_flipped_anywhere(delta: Path, datasets: list[Path], tmp_path: Path) -> None:
    content, whole, refused = delta.read_bytes(), digests(datasets[1]), 0
    for place in range(0, len(content), len(content) // 60):
        flipped = content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :]
        (tmp_path / "a.tar.zst").write_bytes(flipped)
        try:
            unpack(tmp_path / "a.tar.zst", tmp_path / "out", base=datasets[0], force=True)
        except DatasetError:
            refused += 1
        else:
            assert digests(tmp_path / "out") == whole
    assert refused > 50


HEADERS: dict[str, Callable[[dict[str, object]], object]] = {
    "no object": lambda _: [],
    "another format": lambda header: header | {"format": "geolookup"},
    "no version": lambda header: {k: v for k, v in header.items() if k != "format_version"},
    "version true": lambda header: header | {"format_version": True},
    "base of 63 digits": lambda header: header | {"base": "0" * 63},
    "base that leaves the store": lambda header: header | {"base": "../" * 21 + "x"},
    "files as a list": lambda header: header | {"files": [fmt.IPV4]},
    "unknown file": lambda header: header | {"files": {"../x": "0" * 64}},
    "digest that is none": lambda header: header | {"files": {fmt.IPV4: "0"}},
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_malformed_header(delta: Path, datasets: list[Path], tmp_path: Path, name: str) -> None:
    listed = members(delta)
    text = json.dumps(HEADERS[name](json.loads(listed[0][1]))).encode()
    error = check_refused(changed(tmp_path, listed, DELTA, text), datasets[0], tmp_path / "out")
    assert error.problem == f"{DELTA} is damaged"


def test_a_header_of_a_later_version(delta: Path, datasets: list[Path], tmp_path: Path) -> None:
    listed = members(delta)
    text = json.dumps(json.loads(listed[0][1]) | {"format_version": 2}).encode()
    error = check_refused(changed(tmp_path, listed, DELTA, text), datasets[0], tmp_path / "out")
    assert error.problem == "a delta of format version 2, but this geolookup reads 1"


def test_a_header_of_another_target(delta: Path, datasets: list[Path], tmp_path: Path) -> None:
    listed = members(delta)
    text = json.dumps(json.loads(listed[0][1]) | {"generation": "0" * 64}).encode()
    error = check_refused(changed(tmp_path, listed, DELTA, text), datasets[0], tmp_path / "out")
    assert error.problem == f"{DELTA} and {fmt.MANIFEST} name different generations"


def test_members_that_are_missing_or_unexpected(
    delta: Path, datasets: list[Path], tmp_path: Path
) -> None:
    listed = members(delta)
    name = listed[-1][0].name
    unchanged = min(set(fmt.FILES) - {each.name.removesuffix(".delta") for each, _ in listed})
    for content, problem in (
        (listed[:-1], f"{name} is missing"),
        ([*listed, listed[-1]], f"unexpected member '{name}'"),
        ([*listed, named(f"{unchanged}.delta")], f"unexpected member '{unchanged}.delta'"),
        ([*listed, named(unchanged)], f"unexpected member '{unchanged}'"),
        ([*listed, named("x.delta")], "unexpected member 'x.delta'"),
        (listed[1:], f"unexpected member '{listed[3][0].name}'"),  # as a whole archive
    ):
        archive = archived(tmp_path / "a.tar.zst", content)
        assert check_refused(archive, datasets[0], tmp_path / "out").problem == problem


def test_patches_that_are_swapped(datasets: list[Path], delta: Path, tmp_path: Path) -> None:
    """A right patch of another delta is none of this one: the digest of its file tells."""
    pack(datasets[2], tmp_path / "other.tar.zst", base=datasets[0])
    other = {member.name: content for member, content in members(tmp_path / "other.tar.zst")}
    listed = members(delta)
    for member, content in listed[3:]:
        if other[member.name] != content:
            forged = changed(tmp_path, listed, member.name, other[member.name])
            error = check_refused(forged, datasets[0], tmp_path / "out")
            assert error.problem.startswith(member.name.removesuffix(".delta"))


def test_a_patch_larger_than_a_patch_can_be(
    delta: Path, datasets: list[Path], tmp_path: Path
) -> None:
    listed = members(delta)
    name = listed[-1][0].name
    archive = changed(tmp_path, listed, name, bytes(20 << 20))
    error = check_refused(archive, datasets[0], tmp_path / "out")
    assert error.problem.startswith(f"{name} is larger than a patch of")
