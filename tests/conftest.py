"""Fixtures that more than one test module needs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import geolookup
from tests.datasets import SMALL

if TYPE_CHECKING:
    from tests.internals.builder import BuildReport

ROOT = Path(__file__).resolve().parent.parent
pytest_plugins = ["tests.tiers", "tests.skips", "tests.browser"]

#: Tests and the processes that they start answer from the small dataset by default.
os.environ["GEOLOOKUP_DATASET"] = str(SMALL)

# They ask servers of this machine only, whatever proxy the environment names.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "*"

#: Processes find the tests here, with PYTHONSAFEPATH too.
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH") or str(ROOT)])

# A run starts hundreds of processes: each would compile the sources and the tests anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

#: Spark's Java processes live for seconds: the second compiler would take most of their time.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# Where keys are trusted, files that a group may write are refused; tests make such by hand.
os.umask(os.umask(0o077) | 0o022)

# Shells start commands in the background with SIGINT ignored, and processes inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before ``-m`` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of real data: ``-m "not data"`` leaves them out."""
    for item in items:
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker("data")


@pytest.fixture(scope="session", autouse=True)
def _syncing(pytestconfig: pytest.Config) -> Generator[None, None, None]:
    """No sync to disk in the fast tier, where it would take half of the time of a build."""
    with pytest.MonkeyPatch.context() as patch:
        if not pytestconfig.getoption("--all"):
            patch.setattr(os, "fsync", lambda _descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_store_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Generator[None, None, None]:
    """No test reads or changes the store of the user who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOLOOKUP_STORE", str(tmp_path_factory.mktemp("user") / "store"))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_age_notice() -> Generator[None, None, None]:
    """What commands print on the bundled dataset does not depend on today's date."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOLOOKUP_AGE_NOTICE", "0")
        yield


@pytest.fixture
def _no_default_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls of the package open the default dataset anew."""
    monkeypatch.setattr(geolookup._default, "_engine", None)
    geolookup._default._swap(None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data, not part of the project."""
    folder = Path(os.environ.get("GEOLOOKUP_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set GEOLOOKUP_SHARED_DATA")
    return folder


Build = Callable[..., tuple[Path, "BuildReport"]]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Compile ``{file name: text}`` by a recipe text; returns the dataset and the report."""
    return lambda *args, **kwargs: build_at(tmp_path, *args, **kwargs)


def build_at(
    folder: Path, files: dict[str, str | bytes], recipe: str | None = None, **options: Any
) -> tuple[Path, BuildReport]:
    """Write files and a recipe (default: every .csv as a source, by name) and compile them.

    Sources may be empty, unless ``empty`` says what the recipe says of that.
    """
    # Imported here: processes that tests start import this module, most of them to build nothing.
    from tests.internals.builder import Options, compile_recipe, load
    from tests.internals.progress import Progress

    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(data)
    if recipe is None:
        names = sorted(name for name in files if name.endswith(".csv"))
        recipe = '[dataset]\nname = "test"\n' + "".join(
            f'[[source]]\nformat = "csv"\npath = "{name}"\n' for name in names
        )
    empty = options.pop("empty", 'empty = "ok"\n')
    recipe = recipe.replace("[[source]]\n", f"[[source]]\n{empty}")
    (folder / "recipe.toml").write_text(recipe, encoding="utf-8")
    output = folder / "dataset"
    selection = Options(**{"force": True, "max_rejected": 10**9, "max_nulled": "100%", **options})
    report, _ = compile_recipe(load(folder / "recipe.toml"), output, selection, Progress())
    return output, report


@pytest.fixture(scope="session")
def sample() -> Generator[geolookup.Engine, None, None]:
    """An engine on the small dataset."""
    with geolookup.open(SMALL) as engine:
        yield engine
