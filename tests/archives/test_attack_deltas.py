"""What an attacker makes of delta archives: the dataset of the manifest comes of it, or nothing.

Strategy: the attacker has the archives of three generations and all deltas between them. Whatever
is composed, cut, swapped or forged of their members, the result is one of the three datasets,
byte by byte, or the archive is refused in one line and nothing has changed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geolookup import DatasetError
from geolookup.archives.pack import pack
from geolookup.archives.unpack import unpack
from geolookup.dataset import layout as fmt
from geolookup.integrity import verify
from tests.archives.deltas import Line, line
from tests.archives.test_pack import Members, archived, compressed, digests, members, named, plain
from tests.conftest import build_at
from tests.damage import copied
from tests.oracle import Source
from tests.range_strategies import as_csv, recipe, recipes
from tests.tiers import few, scaled

_HEADER = "delta.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Line]:
    """Datasets and archives; no test may change a byte of the datasets."""
    found = line(tmp_path_factory.mktemp("line"))
    before = [digests(each) for each in found.datasets]
    yield found
    assert [digests(each) for each in found.datasets] == before


def outcome(archive: Path, base: Path | None, place: Path) -> dict[str, str] | None:
    """Unpack; return the digests of the result, or None where it was refused and left nothing."""
    before = sorted(place.parent.iterdir())
    try:
        unpack(archive, place, base=base)
    except DatasetError as error:
        line_ = str(error)
    else:
        verify(place, deep=True)
        result = digests(place)
        shutil.rmtree(place)
        return result
    assert "\n" not in line_
    assert sorted(place.parent.iterdir()) == before
    return None


# --- a delta of any two datasets


def with_rows(folder: Path, listed: list[Source]) -> Path:
    folder.mkdir()
    files: dict[str, str | bytes] = {f"{n}.csv": as_csv(each) for n, each in enumerate(listed)}
    return build_at(folder, files, recipe(listed))[0]


@pytest.mark.long
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(recipes, recipes, st.booleans(), st.data())
def test_applied_to_its_base_it_gives_its_target(
    one: list[Source], other: list[Source], is_successor: bool, data: st.DataObject
) -> None:
    """Of unrelated datasets, and of one whose sources lost and moved some rows."""
    if is_successor:
        other = [
            Source(
                data.draw(st.permutations(each.rows))[data.draw(st.integers(0, 3)) :], each.provides
            )
            for each in one
        ]
    with TemporaryDirectory() as place:
        folder = Path(place)
        base, target = with_rows(folder / "base", one), with_rows(folder / "target", other)
        pack(target, folder / "a.tar.zst", base=base)
        assert outcome(folder / "a.tar.zst", base, folder / "out") == digests(target)


@pytest.mark.parametrize("pair", few([(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)], 6))
def test_every_delta_of_a_line(made: Line, tmp_path: Path, pair: tuple[int, int]) -> None:
    base, target = pair
    result = outcome(made.archives[base, target], made.datasets[base], tmp_path / "out")
    assert result == made.result(target)


# --- another base


@pytest.mark.parametrize("given_base", [None, 1, 2])
def test_a_base_that_is_another(made: Line, tmp_path: Path, given_base: int | None) -> None:
    base = None if given_base is None else made.datasets[given_base]
    with pytest.raises(DatasetError, match="a delta of generation"):
        unpack(made.archives[0, 1], tmp_path / "out", base=base)
    assert outcome(made.archives[0, 1], base, tmp_path / "out") is None


def test_a_delta_that_is_applied_twice(made: Line, tmp_path: Path) -> None:
    unpack(made.archives[0, 1], tmp_path / "out", base=made.datasets[0])
    assert outcome(made.archives[0, 1], tmp_path / "out", tmp_path / "again") is None


@pytest.mark.parametrize("name", few(sorted([*fmt.FILES, fmt.MANIFEST]), 4))
def test_a_damaged_base(made: Line, tmp_path: Path, name: str) -> None:
    """Never a dataset of other bytes; the base itself is not touched."""
    base = copied(made.datasets[0], tmp_path / "base")
    content = (base / name).read_bytes()
    for at in sorted({0, len(content) // 3, len(content) * 2 // 3, len(content) - 1}):
        (base / name).write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        before = digests(base)
        assert outcome(made.archives[0, 1], base, tmp_path / "out") in (None, made.result(1))
        assert digests(base) == before
    (base / name).unlink()
    assert outcome(made.archives[0, 1], base, tmp_path / "out") is None


# --- members that are cut, swapped and forged


def test_cut_anywhere(made: Line, tmp_path: Path) -> None:
    content = made.archives[0, 1].read_bytes()
    cut = tmp_path / "cut.tar.zst"
    for size in range(0, len(content), max(1, len(content) // scaled(12, 60))):
        cut.write_bytes(content[:size])
        assert outcome(cut, made.datasets[0], tmp_path / "out") is None
    content = plain(made.archives[0, 1])
    end = len(content.rstrip(b"\0")) // 512 * 512
    for size in range(0, end, 512 * max(1, end // 512 // scaled(12, 60))):
        compressed(cut, content[:size])
        assert outcome(cut, made.datasets[0], tmp_path / "out") is None


def test_flipped_anywhere(made: Line, tmp_path: Path) -> None:
    content, flipped = plain(made.archives[0, 1]), tmp_path / "flipped.tar.zst"
    for at in range(0, len(content), max(1, len(content) // scaled(12, 80))):
        compressed(flipped, content[:at] + bytes([content[at] ^ 0x21]) + content[at + 1 :])
        assert outcome(flipped, made.datasets[0], tmp_path / "out") in (None, made.result(1))


@settings(max_examples=scaled(10, 100), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_composed_of_stolen_members(made: Line, data: st.DataObject) -> None:
    """The members of a delta, of which some are left out, exchanged for others or moved."""
    choice = st.sampled_from(sorted(made.archives, key=str))
    own = data.draw(choice)
    listed = made.members(*own)
    stolen = made.members(*data.draw(choice))
    for _ in range(data.draw(st.integers(1, 3))):
        _compose(listed, stolen, data)
    base = data.draw(st.none() | st.sampled_from(made.datasets))
    with TemporaryDirectory() as place:
        archive = archived(Path(place, "a.tar.zst"), listed)
        result = outcome(archive, base, Path(place, "out"))
    assert result in (None, *map(made.result, range(3)))
    if result is not None:
        manifest = next(content for member, content in listed if member.name == fmt.MANIFEST)
        assert result[fmt.MANIFEST] == hashlib.sha256(manifest).hexdigest()


def _compose(listed: Members, stolen: Members, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(listed) - 1))
    member, _ = listed[at]
    kind = data.draw(st.sampled_from(("leave out", "other content", "other member", "move")))
    if kind == "leave out" and len(listed) > 1:
        listed.pop(at)
    elif kind == "other content":
        _, content = data.draw(st.sampled_from(stolen))
        listed[at] = named(member.name, content)
    elif kind == "other member":
        listed.insert(at, data.draw(st.sampled_from(stolen)))
    else:
        listed.insert(data.draw(st.integers(0, len(listed) - 1)), listed.pop(at))


@pytest.mark.long
@settings(max_examples=scaled(8, 60), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_patches_of_any_bytes(made: Line, data: st.DataObject) -> None:
    listed = made.members(0, 1)
    patches = [at for at, (member, _) in enumerate(listed) if member.name.endswith(".delta")]
    at = data.draw(st.sampled_from(patches))
    member, content = listed[at]
    begin = data.draw(st.integers(0, len(content)))
    end = min(len(content), begin + data.draw(st.sampled_from((0, 1, 2, 4, 8, 64, 1 << 20))))
    other = data.draw(st.binary(max_size=16))
    listed[at] = named(member.name, content[:begin] + other + content[end:])
    with TemporaryDirectory() as place:
        archive = archived(Path(place, "a.tar.zst"), listed)
        result = outcome(archive, made.datasets[0], Path(place, "out"))
    assert result in (None, made.result(1))


def headers(made: Line) -> Iterator[tuple[str, bytes]]:
    """Headers of other bases and targets, and what is no header."""
    stated = json.loads(made.members(0, 1)[0][1])
    ids = [json.loads((each / fmt.MANIFEST).read_bytes())["generation"] for each in made.datasets]
    digest = next(iter(stated["files"].values()))
    for name, change in {
        "another base": {"base": ids[2]},
        "itself as base": {"base": ids[1]},
        "another target": {"generation": ids[2]},
        "base and target exchanged": {"base": ids[1], "generation": ids[0]},
        "no base": {"base": None},
        "a path as base": {"base": "../../other"},
        "a base of capitals": {"base": ids[0].upper()},
        "a file with a path": {"files": {"../ipv4.arrow": digest}},
        "digests that are none": {"files": dict.fromkeys(stated["files"], "x")},
        "another version": {"format_version": 2},
        "version true": {"format_version": True},
        "another format": {"format": "geolookup-store"},
    }.items():
        yield name, json.dumps(stated | change).encode()
    exchanged = dict(zip(stated["files"], reversed(stated["files"].values()), strict=True))
    yield "digests exchanged", json.dumps(stated | {"files": exchanged}).encode()
    yield "no member", b"{}"
    yield "a list", b"[]"
    yield "nested", b"[" * 60_000
    yield "no JSON", b"\xff"
    yield "nothing", b""
    yield "too long", json.dumps(stated).encode() + b" " * (1 << 20)


def test_forged_headers(made: Line, tmp_path: Path) -> None:
    (member, _), *rest = made.members(0, 1)
    assert member.name == _HEADER
    for name, text in headers(made):
        archive = archived(tmp_path / "a.tar.zst", [named(_HEADER, text), *rest])
        assert outcome(archive, made.datasets[0], tmp_path / "out") is None, name


@pytest.mark.parametrize("name", few(["ipv4.arrow", "manifest.json", "../x", "/x", "x", ""], 3))
def test_a_patch_of_another_name(made: Line, tmp_path: Path, name: str) -> None:
    listed = made.members(0, 1)
    _, content = listed[-1]
    for changed in (
        [*listed, named(f"{name}.delta", content)],
        [*listed[:-1], named(name, content)],
    ):
        archive = archived(tmp_path / "a.tar.zst", changed)
        assert outcome(archive, made.datasets[0], tmp_path / "out") is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar.zst"]


def test_a_header_before_a_whole_dataset(made: Line, tmp_path: Path) -> None:
    """The files of a pack where patches belong."""
    header = made.members(0, 1)[0]
    archive = archived(tmp_path / "a.tar.zst", [header, *made.members(None, 1)])
    assert outcome(archive, made.datasets[0], tmp_path / "out") is None


def test_members_of_deltas_are_what_this_module_thinks(made: Line) -> None:
    names = [member.name for member, _ in members(made.archives[0, 1])]
    assert names[0] == _HEADER
    assert fmt.MANIFEST in names
    assert sum(name.endswith(".delta") for name in names) > 1
