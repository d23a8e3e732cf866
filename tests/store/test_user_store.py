"""The user's store: where it is, and when ``geolookup.open()`` opens it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.cli.program import run
from tests.internals.store import BUNDLED, paths
from tests.store.numbered import number, published, shared


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's store with one generation, number 0."""
    folder = published(tmp_path / "user", 0)
    monkeypatch.setenv("GEOLOOKUP_STORE", str(folder))
    monkeypatch.delenv("GEOLOOKUP_DATASET", raising=False)
    return folder


def test_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases: tuple[tuple[str, dict[str, str], str], ...] = (
        ("linux", {}, "home/.local/share/geolookup/store"),
        ("linux", {"XDG_DATA_HOME": "data"}, "data/geolookup/store"),
        ("linux", {"XDG_DATA_HOME": "./relative"}, "home/.local/share/geolookup/store"),
        ("freebsd14", {"XDG_DATA_HOME": ""}, "home/.local/share/geolookup/store"),
        ("darwin", {"XDG_DATA_HOME": "data"}, "home/Library/Application Support/geolookup/store"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/geolookup/store"),
        ("win32", {}, "home/geolookup/store"),
        ("linux", {"GEOLOOKUP_STORE": "named", "XDG_DATA_HOME": "data"}, "named"),
    )
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for platform, environment, expected in cases:
        with monkeypatch.context() as patch:
            for name in ("GEOLOOKUP_STORE", "XDG_DATA_HOME", "LOCALAPPDATA"):
                value = environment.get(name, "")
                patch.setenv(name, str(tmp_path / value) if value[:1] not in ("", ".") else value)
            patch.setattr(sys, "platform", platform)
            assert Path(paths.user_store()) == tmp_path / expected, (platform, environment)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEOLOOKUP_STORE", "a/store")
    assert paths.user_store() == str(tmp_path / "a" / "store")


def test_it_answers_if_it_has_a_generation(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with geolookup.open() as engine:
        assert engine.path.parent == store / "generations"
        geolookup.mirror(None, tmp_path / "www")
        assert (tmp_path / "www" / "index.json").exists()
        geolookup.publish(shared(2), store)
        assert engine.reload()
        assert number(engine) == 2
    done = run("lookup", "8.8.8.8", env={"GEOLOOKUP_STORE": str(store), "GEOLOOKUP_DATASET": ""})
    assert '"city_name":"Town 2"' in done.stdout
    assert done.stderr == ""
    assert opened(BUNDLED) == BUNDLED  # a path takes precedence, and the environment
    other = tmp_path / "other"
    monkeypatch.setenv("GEOLOOKUP_STORE", str(other))
    for folder in (tmp_path, other, other / "generations"):  # the last as one leaves it that dies
        folder.mkdir(exist_ok=True)
        assert opened() == BUNDLED, folder
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(shared(1)))
    assert opened() == str(shared(1))


def opened(dataset: Any = None) -> str:
    with geolookup.open(dataset) as engine:
        return str(engine.path)


def test_a_damaged_one_is_an_error_that_names_it(store: Path) -> None:
    (generation,) = (store / "generations").iterdir()
    for path in (generation / "ipv4.arrow", generation / "manifest.json", store / "current"):
        path.write_bytes(path.read_bytes()[:-100])
        with pytest.raises(geolookup.DatasetError, match=f"^{path}: "):
            geolookup.open()


def test_a_folder_that_may_not_be_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts as empty, unless the environment names it."""
    store, stat = published(tmp_path / "geolookup" / "store", 0), os.stat

    def refusing(path: Any, *args: Any, **options: Any) -> os.stat_result:
        if str(path).startswith(str(store)):
            raise PermissionError(13, "Permission denied", path)
        return stat(path, *args, **options)

    monkeypatch.delenv("GEOLOOKUP_DATASET", raising=False)
    monkeypatch.delenv("GEOLOOKUP_STORE")
    monkeypatch.setattr(paths, "data_folder", lambda: str(tmp_path))
    assert paths.current_user_store() == str(store)
    with monkeypatch.context() as patch:  # whoever runs the tests: root may enter every folder
        patch.setattr(os, "stat", refusing)
        assert paths.current_user_store() is None
        patch.setenv("GEOLOOKUP_STORE", str(store))
        assert paths.current_user_store() == str(store)
        with pytest.raises(geolookup.DatasetError, match="check its name and permissions"):
            geolookup.open()


@pytest.mark.usefixtures("store")
def test_the_bundled_dataset_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(shared(1), "bundled")
    for name in ("./bundled", Path("bundled"), str(tmp_path / "bundled")):
        assert opened(name) == str(tmp_path / "bundled")
    assert opened("bundled") == BUNDLED
    monkeypatch.setenv("GEOLOOKUP_DATASET", "bundled")
    assert opened() == BUNDLED
    assert f'"path": "{BUNDLED}"' in run("info", "bundled", "--json").stdout
