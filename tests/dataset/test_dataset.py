"""Datasets that are not what they should be: the manifest, and whole files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import read_manifest
from tests.conftest import build_at
from tests.damage import ADDRESSES, CSV, copied, survey
from tests.tiers import scaled


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_at(tmp_path_factory.mktemp("whole"), {"a.csv": CSV})[0]


@pytest.fixture
def dataset(whole: Path, tmp_path: Path) -> Path:
    return copied(whole, tmp_path / "copy")


def test_the_whole_one_answers(dataset: Path) -> None:
    assert survey(dataset) == "answered"


def use(dataset: Path, name: str) -> None:
    """Open a dataset, which maps all but the provenance; lookups do without that."""
    with geolookup.open(dataset) as engine:
        assert name in fmt.PROVENANCE.values()
        assert engine.lookup("8.8.8.8")["success"]
        assert engine.lookup("2a00::")["success"]
        engine.explain("8.8.8.8"), engine.explain("2a00::")


@pytest.mark.parametrize("name", [fmt.MANIFEST, *fmt.FILES])
def test_missing(dataset: Path, name: str) -> None:
    (dataset / name).unlink()
    assert survey(dataset) == "refused"
    with pytest.raises(geolookup.DatasetError) as caught:
        use(dataset, name)
    assert caught.value.path == str(dataset if name == fmt.MANIFEST else dataset / name)


@pytest.mark.parametrize("name", [fmt.MANIFEST, *fmt.FILES])
def test_a_folder_in_its_place(dataset: Path, name: str) -> None:
    (dataset / name).unlink()
    (dataset / name).mkdir()
    assert survey(dataset) == "refused"


@pytest.mark.parametrize("name", fmt.FILES)
@pytest.mark.parametrize("step", [-(10**9), -8, -1, 1, 8])
def test_another_size(dataset: Path, name: str, step: int) -> None:
    data = (dataset / name).read_bytes()
    (dataset / name).write_bytes((data + b"\0" * 8)[: max(0, len(data) + step)])
    assert survey(dataset) == "refused"
    with pytest.raises(geolookup.DatasetError, match=name):
        use(dataset, name)


@pytest.mark.parametrize("name", fmt.FILES)
def test_zeros_and_ones_of_the_right_size(dataset: Path, name: str) -> None:
    size = (dataset / name).stat().st_size
    for byte in (b"\0", b"\xff"):
        (dataset / name).write_bytes(byte * size)
        survey(dataset)


def rewrite(dataset: Path, manifest: object) -> None:
    (dataset / fmt.MANIFEST).write_text(json.dumps(manifest))


@pytest.mark.parametrize("one", fmt.FILES)
@pytest.mark.parametrize("other", fmt.FILES)
def test_files_swapped_as_the_manifest_has_it(dataset: Path, one: str, other: str) -> None:
    """The files lie as they were, and the manifest describes each as the other."""
    manifest = json.loads((dataset / fmt.MANIFEST).read_text())
    files = manifest["files"]
    files[one], files[other] = files[other], files[one]
    rewrite(dataset, manifest)
    assert survey(dataset) == ("answered" if one == other else "refused")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a manifest."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(each, (*path, key))


_GARBAGE: tuple[object, ...] = (
    *(None, True, False, 0, 1, -1, 7, 8, 1 << 31, 1 << 40, -(1 << 70), 0.5, 1e400, float("nan")),
    *("", "x", "1", "\ud800", [], [1], [8, 8], [0, 1 << 70], [[]], {}, {"bytes": 1}, {"type": 1}),
)


def damaged(manifest: Any, path: tuple[Any, ...], value: object) -> Any:
    again = json.loads(json.dumps(manifest))
    place = again
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return again


@pytest.mark.parametrize("number", range(len(_GARBAGE)))
def test_garbage_anywhere_in_the_manifest(dataset: Path, number: int) -> None:
    manifest = json.loads((dataset / fmt.MANIFEST).read_text())
    everywhere = [path for path in places(manifest) if path[0] not in ("sources", "credits")]
    assert len(everywhere) > 300
    outcomes, step = set(), scaled(40, 10)
    for path in everywhere[number % step :: step]:
        rewrite(dataset, damaged(manifest, path, _GARBAGE[number]))
        outcomes.add(survey(dataset))
    assert "refused" in outcomes


def test_few_entries_of_the_jump_table(dataset: Path) -> None:
    """A jump table has a power of two of entries, and one; with one entry no bit is left."""
    manifest = json.loads((dataset / fmt.MANIFEST).read_text())
    described = [path for path in places(manifest) if "ipv4_jump.arrow" in path]
    outcomes = set()
    for path in described:
        for entries in range(9):
            rewrite(dataset, damaged(manifest, path, entries))
            outcomes.add(survey(dataset))
    assert "refused" in outcomes


def test_members_missing_from_the_manifest(dataset: Path) -> None:
    manifest = json.loads((dataset / fmt.MANIFEST).read_text())
    members = [path for path in places(manifest) if isinstance(path[-1], str)]
    assert len(members) > 100
    for path in members[:: scaled(7, 1)]:
        again = json.loads(json.dumps(manifest))
        place = again
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]
        rewrite(dataset, again)
        survey(dataset)


def test_a_file_that_changes_its_row_is_found_out(dataset: Path) -> None:
    """A row's texts carry a checksum, so that damage is no false answer."""
    path = dataset / fmt.LOCATION
    assert path.read_bytes().count(b'"Dublin"') == 1
    path.write_bytes(path.read_bytes().replace(b'"Dublin"', b'"Berlin"'))
    with geolookup.open(dataset) as engine:
        assert engine.lookup("8.8.8.8")["success"]
        for _ in range(2):  # and not only the first time
            with pytest.raises(geolookup.DatasetError, match="damaged"):
                engine.lookup("20.0.0.1")
            with pytest.raises(geolookup.DatasetError, match="damaged"):
                engine.lookup_json("20.0.0.1")


def test_the_addresses_meet_what_is_there(dataset: Path) -> None:
    with geolookup.open(dataset) as engine:
        answers = [engine.lookup(ip) for ip in ADDRESSES]
    cities = [each["data"]["location"]["city_name"] for each in answers if each["success"]]
    assert {None, "Mountain View", "Zürich", "Dublin", "Paris", "Lyon"} == set(cities)
    assert {each["error_code"] for each in answers} == {None, 10001, 10002}


@pytest.mark.parametrize(
    ("name", "opens"), [("\ud800", False), ("\U0001f600", True), ("\\ud", True)]
)
def test_a_manifest_whose_texts_cannot_be_printed(dataset: Path, name: str, opens: bool) -> None:
    """JSON can state half of a character."""
    place = dataset / fmt.MANIFEST
    stated = json.loads(place.read_bytes()) | {"name": name}
    place.write_text(json.dumps(stated), encoding="utf-8")
    if opens:
        assert read_manifest(dataset).metadata().name == name
    else:
        with pytest.raises(geolookup.DatasetError, match="not a manifest"):
            read_manifest(dataset)
