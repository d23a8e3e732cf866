"""A delta as an archive: with its base it makes the same bytes as the whole archive, or nothing."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geolookup import DatasetError, publish
from geolookup.archives.head import DELTA, Header, open_archive, parsed_header
from geolookup.archives.pack import pack
from geolookup.archives.unpack import unpack
from geolookup.dataset import layout as fmt
from geolookup.history.generations import rollback
from geolookup.integrity import verify
from tests.archives.deltas import Line, line
from tests.archives.test_pack import Members, archived, compressed, digests, named, plain
from tests.damage import copied
from tests.store.numbered import generation, shared
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


def test_without_its_base(made: Line, tmp_path: Path) -> None:
    archive, base = made.archives[0, 1], generation(made.datasets[0])
    with pytest.raises(DatasetError) as caught:
        unpack(archive, tmp_path / "out")
    error = caught.value
    assert error.problem == f"a delta of generation {base}"
    assert error.remedy == "name its base with --base, or unpack an archive of the whole dataset"
    publish(shared(2), tmp_path / "store")
    others = (made.datasets[1], made.datasets[2], tmp_path / "store", tmp_path / "nothing")
    for target_folder in others:  # also where it was applied already
        problem = f"a delta of generation {base}, but {target_folder} does not have it"
        assert refused(archive, target_folder, tmp_path / "out") == problem


def test_a_damaged_base(made: Line, tmp_path: Path) -> None:
    """Never a dataset of other bytes; the base itself is not touched."""
    archive, base = made.archives[0, 1], copied(made.datasets[0], tmp_path / "base")
    for name in sorted([*fmt.FILES, fmt.MANIFEST]):
        content, end = (base / name).read_bytes(), (base / name).stat().st_size - 1
        for at in {0: (0, end), 1: (0, end // 3, end * 2 // 3, end)}[scaled(0, 1)]:
            (base / name).write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
            before, actual = digests(base), outcome(archive, base, tmp_path / "out")
            assert digests(base) == before
            if name != fmt.MANIFEST:  # of that the last byte is no data
                assert isinstance(actual, str), (name, at)
                assert actual.startswith(f"{base / name}: ")
                assert f"it is the base of {archive}" in actual
            assert isinstance(actual, str) or actual == made.result(1)
        (base / name).unlink()
        assert refused(archive, base, tmp_path / "out")
        (base / name).write_bytes(content)


@pytest.mark.parametrize("base", [None, 0])
def test_cut_anywhere(made: Line, tmp_path: Path, base: int | None) -> None:
    archive, cut = made.archives[base, 1], tmp_path / "cut.tar.zst"
    folder = None if base is None else made.datasets[base]
    content, inner = archive.read_bytes(), plain(archive)
    end = sum(512 + len(item) + -len(item) % 512 for _, item in made.members(base, 1))
    sizes = {0, 1, 4, len(content) - 5, len(content) - 1}
    for size in sorted({*sizes, *range(0, len(content), len(content) // scaled(6, 60))}):
        cut.write_bytes(content[:size])
        assert outcome(cut, folder, tmp_path / "out") not in made.results, size
    sizes = {0, 1, 511, 512, 600, 1024, end - 1, end}
    for size in sorted({*sizes, *range(0, end, end // scaled(6, 60))}):
        assert refused(compressed(cut, inner[:size]), folder, tmp_path / "out") == "truncated"
    one_block = compressed(cut, inner[: end + 512])  # two are an end
    assert "does not end" in refused(one_block, folder, tmp_path / "out")


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


@settings(max_examples=scaled(15, 300), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_composed_of_stolen_members(made: Line, data: st.DataObject) -> None:
    """The members of a delta, of which some are left out, exchanged for others, moved or edited."""
    choice = st.sampled_from(sorted(made.archives, key=str))
    listed, stolen = made.members(*data.draw(choice)), made.members(*data.draw(choice))
    for _ in range(data.draw(st.integers(1, 3))):
        _compose(listed, stolen, data)
    base = data.draw(st.none() | st.sampled_from(made.datasets))
    with TemporaryDirectory() as target:
        archive = archived(Path(target, "a.tar.zst"), listed)
        result = outcome(archive, base, Path(target, "out"))
    if isinstance(result, str):
        return
    assert result in made.results
    manifest = next(content for member, content in listed if member.name == fmt.MANIFEST)
    assert result[fmt.MANIFEST] == hashlib.sha256(manifest).hexdigest()


def _compose(listed: Members, stolen: Members, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(listed) - 1))
    member, _ = listed[at]
    kinds = ("leave out", "other content", "other member", "move", "edit", "edit")
    kind = data.draw(st.sampled_from(kinds))
    if kind == "leave out" and len(listed) > 1:
        listed.pop(at)
    elif kind == "other content":
        _, content = data.draw(st.sampled_from(stolen))
        listed[at] = named(member.name, content)
    elif kind == "edit":
        content = listed[at][1]
        begin = data.draw(st.integers(0, len(content)))
        end = min(len(content), begin + data.draw(st.sampled_from((0, 1, 2, 4, 8, 64, 1 << 20))))
        other = data.draw(st.binary(max_size=16))
        listed[at] = named(member.name, content[:begin] + other + content[end:])
    elif kind == "other member":
        listed.insert(at, data.draw(st.sampled_from(stolen)))
    else:
        listed.insert(data.draw(st.integers(0, len(listed) - 1)), listed.pop(at))


def headers(made: Line) -> Iterator[tuple[str, bytes, str]]:
    """Headers of other bases and targets, and what is no header, with what is said of them."""
    damaged, text = f"{DELTA} is damaged", made.members(0, 1)[0][1]
    stated = json.loads(text)
    ids = [generation(dataset) for dataset in made.datasets]
    digest = next(iter(stated["files"].values()))
    for change, problem in (
        ({"base": ids[2]}, "but {base} does not have it"),
        ({"base": ids[1]}, "but {base} does not have it"),
        ({"generation": ids[2]}, f"{DELTA} and {fmt.MANIFEST} name different generations"),
        ({"generation": "0" * 64}, f"{DELTA} and {fmt.MANIFEST} name different generations"),
        ({"files": {**stated["files"], fmt.COUNTRY: "0" * 64}}, "of other bytes of generation"),
        ({"files": {}}, ""),
        ({"format_version": 1}, "of format version 1, but this geolookup reads 2"),
        ({"format_version": 0}, "of format version 0, but this geolookup reads 2"),
        *(({name: None}, damaged) for name in stated),
        *(({"base": base}, damaged) for base in ("../" * 21 + "x", f"{ids[0]}/../x", "/" * 64)),
        *(({"base": base}, damaged) for base in (ids[0].upper(), ids[0][1:], ids[0] + "\n")),
        *(({"generation": item}, damaged) for item in (ids[0].upper(), 5)),
        *(({"format_version": item}, damaged) for item in (True, "2", 2.0)),
        ({"format": "geolookup-store"}, damaged),
        ({"format": "geolookup-store", "format_version": 2}, damaged),
        ({"files": [fmt.IPV4]}, damaged),
        ({"files": {"../ipv4.arrow": digest}}, damaged),
        ({"files": {fmt.MANIFEST: digest}}, damaged),
        ({"files": {fmt.IPV4: digest[1:]}}, damaged),
    ):
        yield str(change)[:80], json.dumps(stated | change).encode(), problem
    for name in stated:
        remainder = {other: value for other, value in stated.items() if other != name}
        yield f"no {name}", json.dumps(remainder).encode(), damaged
    for other in (b"{}", b"[]", b"[" * 60_000, b"\xff", b"", b"null"):
        yield repr(other[:9]), other, damaged
    yield "too long", text + b" " * ((1 << 16) + 1 - len(text)), "does not begin with"


def test_forged_headers(made: Line, tmp_path: Path) -> None:
    (member, text), *remainder = made.members(0, 1)
    assert member.name == DELTA
    longest = text + b" " * ((1 << 16) - len(text))
    archive = archived(tmp_path / "a.tar.zst", [named(DELTA, longest), *remainder])
    assert outcome(archive, made.datasets[0], tmp_path / "out") == made.result(1)
    for name, forged, problem in headers(made):
        archive = archived(tmp_path / "a.tar.zst", [named(DELTA, forged), *remainder])
        result = refused(archive, made.datasets[0], tmp_path / "out")
        assert problem.format(base=made.datasets[0]) in result, name


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
