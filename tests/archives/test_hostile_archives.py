"""Archives from an attacker: the dataset that was packed, or one line and nothing written."""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geolookup.errors import DatasetError, OutputError
from tests.archives.test_pack import (
    END,
    FIRST,
    MARK,
    SUM,
    Members,
    archived,
    blocks_of,
    compressed,
    digests,
    members,
    named,
    plain,
    small_archive,
)
from tests.datasets import SMALL
from tests.internals.archives import open_archive, unpack, write_files
from tests.internals.dataset import canonical
from tests.internals.dataset import layout as fmt
from tests.internals.filesystem import limits


def check_refused(archive: Path, folder: Path) -> DatasetError:
    """Unpack into a new folder beside others: one line with a remedy, and nothing is left."""
    before = sorted(folder.parent.iterdir())
    with pytest.raises(DatasetError) as caught:
        unpack(archive, folder, force=True)
    assert str(caught.value).startswith(f"{archive}")
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    assert sorted(folder.parent.iterdir()) == before
    return caught.value


#: Types of members that tar programs know, and one that none does.
TYPES = b"\0" + bytes(range(ord("0"), ord("8"))) + b"LKSxgX"
#: Changes of one member: of a member of its header, of its content, or of its place.
changes: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "name": st.text(max_size=120).map(lambda text: text.encode("utf-8", "replace").decode()),
        "size": st.integers(-(1 << 80), 1 << 80),
        "type": st.sampled_from(TYPES).map(lambda letter: bytes([letter])),
        "mtime": st.integers(0, 9),
        "content": st.binary(max_size=700),
        "copies": st.sampled_from((0, 2)),
        "to": st.integers(0, 15),
    },
)


def changed_tar(at: int, change: dict[str, Any]) -> bytes:
    """Return the tar of the small dataset with one member changed."""
    listed = members(small_archive())
    member, content = listed.pop(at % len(listed))
    content = change.get("content", content)
    member.size = len(content)
    for name in ("name", "size", "type", "mtime"):
        setattr(member, name, change.get(name, getattr(member, name)))
    place = change.get("to", at) % (len(listed) + 1)
    listed[place:place] = [(member, content)] * change.get("copies", 1)
    return b"".join([*(blocks_of(*entry) for entry in listed), END])


@given(st.integers(0, 12), changes, st.integers(0, 1 << 18), st.binary(max_size=3), st.booleans())
@example(0, {"size": -512}, 0, b"", False)
@example(3, {"type": b"2"}, 0, b"", False)
@example(12, {"copies": 2}, 0, b"", False)
@example(0, {}, 600, b"x", False)  # between two members
@example(0, {}, 0, b"", True)
def test_no_other_tar_is_a_dataset(
    at: int, change: dict[str, Any], begin: int, replaced: bytes, is_longer: bool
) -> None:
    """Whatever is changed, in a member or anywhere, and behind the end: nothing is tolerated."""
    genuine, tar = plain(small_archive()), changed_tar(at, change)
    begin %= len(tar)
    tar = tar[:begin] + replaced + tar[begin + len(replaced) :] + bytes(512 * is_longer)
    with TemporaryDirectory() as folder:
        archive = compressed(Path(folder, "a.tar.zst"), tar)
        if tar == genuine:
            unpack(archive, Path(folder, "out"))
        else:
            check_refused(archive, Path(folder, "out"))


Change = Callable[[Members], Members]


def inserted(member: Any) -> Change:
    """Put a member before the first file."""
    return lambda listed: [*listed[:3], member, *listed[3:]]


def changed(at: int, content: Callable[[bytes], bytes]) -> Change:
    """Change the content of a member."""

    def change(listed: Members) -> Members:
        fresh = named(listed[at][0].name, content(listed[at][1]))
        return [*listed[:at], fresh, *listed[at + 1 :]]

    return change


EARLIER = (
    "packed by an earlier geolookup; pack the whole dataset again with 'geolookup mirror pack'"
)
#: What is done to the members, and what is said.
FORGED: dict[str, tuple[Change, str]] = {
    "parent": (inserted(named("../x", b"x")), "unexpected member '../x'; fetch"),
    "not UTF-8": (inserted(named("\udcff")), "not an archive that 'geolookup mirror pack' wrote"),
    "symbolic link": (
        inserted(named(FIRST, kind=tarfile.SYMTYPE)),
        f"'{FIRST}' is not a plain mem",
    ),
    "wrong size": (inserted(named(FIRST)), f"{FIRST} has 0 bytes, but the manifest says "),
    "earlier version": (lambda listed: listed[1:], EARLIER),
    "delta": (lambda listed: [named("delta.json", b"{}"), *listed[1:]], EARLIER),
    "version": (changed(0, lambda _: b"4\n"), "version '4', but this geolookup reads 3; use the"),
    "long version": (changed(0, lambda _: bytes(99)), f"{MARK} has 99 bytes, more than 16"),
    "manifest": (changed(1, lambda text: text[1:]), f"is damaged: its digest differs from {SUM}"),
    "long manifest": (changed(1, lambda _: bytes((1 << 24) + 1)), "bytes, more than 16,777,216"),
    "file": (changed(3, lambda old: bytes(len(old))), f"{FIRST} is damaged: its digest differs"),
    "no last file": (lambda listed: listed[:-1], f"lacks {max(fmt.FILES)}; fetch it again"),
    "further file": (lambda listed: [*listed, named("z")], "unexpected member 'z'; fetch"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_members(name: str, tmp_path: Path) -> None:
    change, problem = FORGED[name]
    forged = archived(tmp_path / "a.tar.zst", change(members(small_archive())))
    assert problem in str(check_refused(forged, tmp_path / "out"))


def test_files_that_are_no_archives(tmp_path: Path) -> None:
    contents = {
        "empty": b"",
        "text": b"network,city_name\n",
        "cut": small_archive().read_bytes()[:-10],
        "longer": small_archive().read_bytes() + b"more",
        "two": small_archive().read_bytes() * 2,
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    compressed(tmp_path / "compressed text", b"some text\n" * 2000)
    (tmp_path / "folder").mkdir()
    for name in (*contents, "compressed text", "folder", "missing"):
        check_refused(tmp_path / name, tmp_path / "out")


def with_manifest(path: Path, first: bytes | None = None, **members_: Any) -> Path:
    """Write an archive with other members of its manifest, the right digest, and a first file."""
    mark, (_, text), _, (_, content), *others = members(small_archive())
    text = canonical(json.loads(text) | members_)
    line = f"{hashlib.sha256(text).hexdigest()}  {fmt.MANIFEST}\n".encode()
    file = named(FIRST, content if first is None else first)
    return archived(path, [mark, named(fmt.MANIFEST, text), named(SUM, line), file, *others])


FILES = json.loads((SMALL / fmt.MANIFEST).read_bytes())["files"]


@pytest.mark.parametrize(
    "files", [{**FILES, "../x": FILES[FIRST]}, {}, {**FILES, FIRST: {**FILES[FIRST], "bytes": -1}}]
)
def test_manifests_of_other_files(files: dict[str, Any], tmp_path: Path) -> None:
    check_refused(with_manifest(tmp_path / "a.tar.zst", files=files), tmp_path / "out")


def test_only_unpack_verifies(tmp_path: Path) -> None:
    """``write_files`` compares digests; what it reads was packed from a verified generation."""
    archive = with_manifest(tmp_path / "a.tar.zst", generation="0" * 64)
    error = check_refused(archive, tmp_path / "out")
    assert error.path == f"{archive}!{fmt.MANIFEST}"
    (tmp_path / "out").mkdir()
    with open_archive(archive) as (head, listed):
        write_files(head, listed, tmp_path / "out")
    expected = digests(SMALL) | {fmt.MANIFEST: hashlib.sha256(head.manifest_text).hexdigest()}
    assert digests(tmp_path / "out") == expected


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
    large = {**FILES, FIRST: {**FILES[FIRST], "bytes": 20 << 20}}
    bomb = with_manifest(tmp_path / "a.tar.zst", bytes(20 << 20), files=large)
    error = check_refused(bomb, tmp_path / "out")
    assert error.problem == "unpacks to over 1,048,576 bytes and 20 times its size"
    needed = bytes_of(SMALL)  # the most that an archive may hold
    limit(monkeypatch, needed - 1, 0)
    (tmp_path / "a.tar.zst").write_bytes(small_archive().read_bytes())
    check_refused(tmp_path / "a.tar.zst", tmp_path / "out")
    limit(monkeypatch, needed, 0)
    unpack(tmp_path / "a.tar.zst", tmp_path / "out")


def test_no_room_for_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = bytes_of(SMALL)
    monkeypatch.setattr(limits, "free_space", lambda _folder: needed - 1)
    problem = f"needs {needed:,} bytes, but {needed - 1:,} are free on its disk"
    with pytest.raises(OutputError, match=problem):
        unpack(small_archive(), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(limits, "free_space", lambda _folder: needed)
    unpack(small_archive(), tmp_path / "out")
