"""What is published: metadata, links of the package page, content of wheel and sdist."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import geolookup
from tests.conftest import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
#: The one place of the project's address; every other URL of the project begins with it.
HOME = PROJECT["urls"]["Repository"]
#: The branch, and how the path of a file, an image and a folder begins behind the address.
KINDS = {"blob": Path.is_file, "raw": Path.is_file, "tree": Path.is_dir}
#: What a build leaves behind, and what is no source: copied into no build.
LEFT_OUT = shutil.ignore_patterns(
    *(".git", ".venv*", ".*_cache", ".hypothesis", ".fuzz", "__pycache__", "*.egg-info"),
    *("*.so", "*.pyd", "_compiled.c", "cache", "results", "dist"),
)


def test_version_has_one_source() -> None:
    text = (ROOT / "geolookup" / "__init__.py").read_text(encoding="utf-8")
    assert re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE) == [geolookup.__version__]
    assert "version" not in PROJECT
    dynamic = PYPROJECT["tool"]["setuptools"]["dynamic"]["version"]
    assert dynamic == {"attr": "geolookup.__version__"}
    assert _printed("-m", "geolookup", "--version").split()[-1] == geolookup.__version__


def test_version_costs_no_import() -> None:
    code = (
        "import sys, geolookup; geolookup.__version__; print('importlib.metadata' in sys.modules)"
    )
    assert _printed("-c", code) == "False\n"


def _printed(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_metadata_says_what_is_supported() -> None:
    versions = [
        each.rpartition(" ")[2]
        for each in PROJECT["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", each)
    ]
    assert PROJECT["requires-python"] == f">={versions[0]}"
    built = PYPROJECT["tool"]["cibuildwheel"]["build"]
    for each in versions:
        assert f"cp{each.replace('.', '')}-*" in built
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert PROJECT["keywords"]


def test_urls_of_the_project_are_consistent() -> None:
    assert all(url.startswith(HOME) for url in PROJECT["urls"].values())
    host = HOME.rpartition("/")[0]
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        for url in re.findall(re.escape(host) + r"[^\s)\"'>`]*", page.read_text(encoding="utf-8")):
            assert url.startswith(HOME), f"{page.name}: {url}"
            _assert_exists(url)
    for url in PROJECT["urls"].values():
        _assert_exists(url)


def _assert_exists(url: str) -> None:
    kind, _, path = url.removeprefix(HOME).strip("/").partition("/main/")
    if kind in KINDS:
        assert KINDS[kind](ROOT / path.partition("#")[0]), url


def test_links_of_the_readme_work_in_a_checkout() -> None:
    text = _prose((ROOT / "README.md").read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(links) > 15
    anchors = {_anchor(each) for each in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    assert {each[1:] for each in links if each.startswith("#")} <= anchors
    files = [each for each in links if not each.startswith(("https://", "#"))]
    assert [each for each in files if not (ROOT / each.partition("#")[0]).exists()] == []


def test_links_of_the_package_page_need_no_file_beside_it() -> None:
    text = _prose(runpy.run_path(str(ROOT / "setup.py"))["package_page"]())
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert [each for each in links if not each.startswith(("https://", "#"))] == []
    of_the_project = [each for each in links if each.startswith(HOME)]
    assert len(of_the_project) > 15
    for each in of_the_project:
        _assert_exists(each)


def _prose(text: str) -> str:
    return re.sub(r"^```.*?^```$|`[^`\n]+`", "", text, flags=re.MULTILINE | re.DOTALL)


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the sdist and, from it, the wheel. Neither needs the extension to be compiled."""
    pytest.importorskip("build", reason="[engines] brings it")
    folder = tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT, folder / "source", ignore=_left_out)
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(folder / "source")]
    environment = {**os.environ, "CC": "/nonexistent/cc"}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return folder


def _left_out(folder: str, names: list[str]) -> set[str]:
    found = LEFT_OUT(folder, names)
    return {*found, "build"} if Path(folder) == ROOT else found


def _sources(*folders: str, keep: Callable[[Path], bool] = lambda _path: True) -> set[str]:
    """Return the paths of the files in some folders of the checkout."""
    return {
        path.relative_to(ROOT / base).as_posix()
        for base, _, folder in (each.rpartition("/") for each in folders)
        for path in (ROOT / base / folder).rglob("*")
        if path.is_file() and keep(path) and not _ignored(path)
    }


def _ignored(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return any(LEFT_OUT("", [part]) for part in parts)


@pytest.mark.long
def test_wheel_holds_what_runs_and_no_sources_of_the_kernel(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.stat().st_size < 12_000_000
    with zipfile.ZipFile(wheel) as archive:
        names = {each for each in archive.namelist() if ".dist-info/" not in each}
        metadata = next(each for each in archive.namelist() if each.endswith("/METADATA"))
        text = archive.read(metadata).decode()
    wanted = _sources(
        "geolookup",
        "builder/geolookup_builder",
        keep=lambda path: path.suffix not in (".pyx", ".pxi"),
    )
    assert names == wanted
    assert {"geolookup/py.typed", "geolookup/kernel/_compiled.pyi"} <= names
    assert f"\nVersion: {geolookup.__version__}\n" in text
    assert "\nProject-URL: " in text
    assert "\nDescription-Content-Type: text/markdown\n" in text
    assert f"]({HOME}/raw/main/docs/terminal.svg)" in text


@pytest.mark.long
def test_sdist_runs_its_own_tests(built: Path, tmp_path: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    # Not ``extractall``: early releases of Python 3.11 have no filters, later ones ask for one.
    subprocess.run(["tar", "-xzf", sdist, "-C", tmp_path], check=True)
    (folder,) = tmp_path.iterdir()
    there = {each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()}
    parts = (".ci", ".github", "benchmarks", "builder", "docs", "geolookup", "sample_data", "tests")
    pages = {path.name for path in ROOT.glob("*.md")}
    assert _sources(*(each for each in parts if (ROOT / each).is_dir())) | pages <= there
    chosen = [
        *("tests/contract/test_envelope.py", "tests/dataset/test_format_doc.py"),
        *("tests/test_imports.py", "tests/test_sample_data.py", "tests/builder/test_recipe.py"),
        "tests/test_readme.py",
    ]
    # Without the extension, which an sdist does not hold.
    environment = {key: text for key, text in os.environ.items() if key != "GEOLOOKUP_KERNEL"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**environment, "PYTHONPATH": f"{folder}{os.pathsep}{folder / 'builder'}"},
        check=False,
    )
    assert done.returncode == 0, done.stdout
