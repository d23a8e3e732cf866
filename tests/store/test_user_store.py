"""The user's store: where it is, and when ``geolookup.open()`` opens it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import geolookup
from geolookup.engine import BUNDLED
from geolookup.store import user_store
from tests.cli.program import run
from tests.conftest import Build

CSV = "network,country_code\n8.8.8.0/24,FR\n"


@pytest.fixture
def dataset(build: Build) -> Path:
    return build({"a.csv": CSV})[0]


@pytest.fixture
def store(tmp_path: Path, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's store with one generation."""
    folder = tmp_path / "user"
    geolookup.publish(dataset, folder)
    monkeypatch.setenv("GEOLOOKUP_STORE", str(folder))
    monkeypatch.delenv("GEOLOOKUP_DATASET", raising=False)
    return folder


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "home/.local/share/geolookup/store"),
        ("linux", {"XDG_DATA_HOME": "data"}, "data/geolookup/store"),
        ("linux", {"XDG_DATA_HOME": "./relative"}, "home/.local/share/geolookup/store"),
        ("freebsd14", {"XDG_DATA_HOME": ""}, "home/.local/share/geolookup/store"),
        ("darwin", {"XDG_DATA_HOME": "data"}, "home/Library/Application Support/geolookup/store"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/geolookup/store"),
        ("win32", {}, "home/geolookup/store"),
        ("linux", {"GEOLOOKUP_STORE": "named", "XDG_DATA_HOME": "data"}, "named"),
    ],
)
def test_its_place(
    platform: str,
    environment: dict[str, str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("GEOLOOKUP_STORE", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name, value in environment.items():
        monkeypatch.setenv(name, value if value[:1] in ("", ".") else str(tmp_path / value))
    monkeypatch.setattr(sys, "platform", platform)
    assert Path(user_store.place()) == tmp_path / expected


def test_it_answers_if_it_has_a_generation(store: Path, dataset: Path) -> None:
    with geolookup.open() as engine:
        assert engine.path.parent == store / "generations"
        assert engine.data("8.8.8.8")["location"]["country_code"] == "FR"
    done = run("lookup", "8.8.8.8", env={"GEOLOOKUP_STORE": str(store), "GEOLOOKUP_DATASET": ""})
    assert '"country_code":"FR"' in done.stdout
    assert done.stderr == ""


def test_a_path_and_the_environment_take_precedence(
    store: Path, dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with geolookup.open(BUNDLED) as engine:
        assert str(engine.path) == BUNDLED
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(dataset))
    with geolookup.open() as engine:
        assert engine.path == dataset


@pytest.mark.parametrize("content", ["nothing", "empty", "unfinished"])
def test_without_a_generation_the_bundled_dataset_answers(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "user"
    if content != "nothing":
        store.mkdir()
    if content == "unfinished":  # as a process leaves it that dies before it publishes
        (store / "generations").mkdir()
    monkeypatch.setenv("GEOLOOKUP_STORE", str(store))
    monkeypatch.delenv("GEOLOOKUP_DATASET")
    with geolookup.open() as engine:
        assert str(engine.path) == BUNDLED


@pytest.mark.parametrize("damaged", ["current", "manifest.json", "ipv4.arrow", "generation"])
def test_a_damaged_one_is_an_error_that_names_it(damaged: str, store: Path) -> None:
    (generation,) = (store / "generations").iterdir()
    if damaged == "generation":
        generation.rename(store / "elsewhere")
    else:
        path = store / "current" if damaged == "current" else generation / damaged
        path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(geolookup.DatasetError) as caught:
        geolookup.open()
    assert caught.value.path.startswith(str(store))


def test_the_running_engine_follows_it(store: Path, tmp_path: Path, build: Build) -> None:
    with geolookup.open() as engine:
        changed, _ = build({"a.csv": CSV.replace("FR", "IT")})
        geolookup.publish(changed, store)
        assert engine.reload()
        assert engine.data("8.8.8.8")["location"]["country_code"] == "IT"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_may_not_be_entered(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts as empty, unless the environment names it."""
    data = store.parent / "data"
    (data / "geolookup").mkdir(parents=True)
    store.rename(data / "geolookup" / "store")
    data.chmod(0)
    user = os.geteuid()
    if user == 0:  # root may enter every folder
        os.seteuid(65534)
    try:
        monkeypatch.setenv("GEOLOOKUP_STORE", str(data / "geolookup" / "store"))
        with pytest.raises(geolookup.DatasetError, match="check its permissions"):
            geolookup.open()
        monkeypatch.delenv("GEOLOOKUP_STORE")
        monkeypatch.setenv("XDG_DATA_HOME", str(data))
        assert user_store.current() is None
    finally:
        os.seteuid(user)
        data.chmod(0o700)
    assert user_store.current() == str(data / "geolookup" / "store")
