"""Opening an engine: the search for a dataset, refusals; the functions of the module."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests import own
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.internals.dataset import layout as fmt
from tests.internals.store import BUNDLED

CSV = "network,country_code,asn\n8.8.8.0/24,US,15169\n2001:4860::/32,US,15169\n"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_at(tmp_path_factory.mktemp("engine"), {"a.csv": CSV})[0]


def test_the_default_and_the_environment(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(dataset))
    with geolookup.open() as engine:
        assert engine.path == dataset
    with geolookup.open(SMALL) as engine:
        assert engine.path != dataset  # a path given counts more
    monkeypatch.setenv("GEOLOOKUP_DATASET", "")
    with geolookup.open() as engine:
        assert engine.path != dataset
    monkeypatch.delenv("GEOLOOKUP_DATASET", raising=False)
    with geolookup.open() as engine:
        assert engine.path == Path(BUNDLED)
        assert engine.metadata.name == "geolookup-world"
        assert engine.get("8.8.8.8", "location.city_name") == "Mountain View"


@pytest.mark.usefixtures("_no_default_engine")
def test_own_columns_of_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(own.add_own(SMALL, tmp_path / "own")))
    for text in ("8.8.8.8", "10.1.2.3", "9.9.9.9", "fd00::1"):
        assert geolookup.own(text) == own.expected(own.ROWS, text)
    assert geolookup.own("[10.1.2.3]", clean=True) == geolookup.own("10.1.2.3")


class _PathLike:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return str(self._path)


def test_kinds_of_path(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds: tuple[Any, ...] = (Path, str, _PathLike)
    for kind in kinds:
        with geolookup.open(kind(dataset)) as engine:
            assert engine.path == dataset
    monkeypatch.chdir(dataset.parent)
    with geolookup.open(dataset.name) as engine:
        monkeypatch.chdir(dataset)
        assert engine.path == dataset  # a relative path is kept absolute
    others: tuple[Any, ...] = (b"dataset", 1, 1.5, object(), ["a"])
    for path in others:
        with pytest.raises(TypeError):
            geolookup.open(path)


def refusal(path: Path) -> geolookup.DatasetError:
    with pytest.raises(geolookup.DatasetError) as caught:
        geolookup.open(path)
    error = caught.value
    line = f"{error.path}: {error.problem}; {error.remedy}"
    assert str(error) == line.replace("\0", "\\x00")  # as a terminal may show it
    return error


def test_what_is_no_dataset(tmp_path: Path, dataset: Path) -> None:
    for name in ("missing", "missing/deeper", "a\0b", "x" * 300):
        error = refusal(tmp_path / name)
        assert str(tmp_path / name) in error.path
        assert error.remedy
    assert refusal(tmp_path).problem == "no dataset here"
    assert "geolookup build" in refusal(tmp_path).remedy
    copy = shutil.copytree(dataset, tmp_path / "copy")
    path = copy / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for version in (0, 2, 99, "1", None, 1.5, 2.0, True, [1]):
        path.write_text(json.dumps(manifest | {"format_version": version}), encoding="utf-8")
        error = refusal(copy)
        assert error.path == str(path)
        assert repr(version) in error.problem
        assert "geolookup build" in error.remedy
    for text in ("", "{", "[]", "{}", '"x"', '{"format":"other"}', "[" * 100_000):
        path.write_text(text, encoding="utf-8")
        assert refusal(copy).path == str(path), text[:20]


def test_repr(dataset: Path) -> None:
    with geolookup.open(dataset) as engine:
        assert repr(engine) == f"<geolookup.Engine {str(dataset)!r}>"
    assert str(dataset) in repr(engine)  # closed ones are printed too


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/smaps")
def test_all_pages_of_a_preloaded_dataset_are_mapped(tmp_path: Path) -> None:
    folder = shutil.copytree(BUNDLED, tmp_path / "dataset")
    paths = [folder / name for name in (fmt.IPV4, fmt.IPV6, fmt.LOCATION, fmt.NETWORK)]
    with geolookup.open(folder) as engine:
        assert any(resident < size for size, resident in map(mapping, paths))
        expected = engine.lookup("8.8.8.8", at=0)
    with geolookup.open(folder, preload=True) as engine:
        assert all(0 < size == resident for size, resident in map(mapping, paths))
        assert engine.lookup("8.8.8.8", at=0) == expected


def mapping(path: Path) -> tuple[int, int]:
    """Return the kilobytes of a mapped file, and how many of them are in memory."""
    _, _, actual = Path("/proc/self/smaps").read_text(encoding="utf-8").partition(f" {path}\n")
    fields = dict(line.split(":")[:2] for line in actual.splitlines()[:5])
    return int(fields["Size"].split()[0]), int(fields["Rss"].split()[0])
