"""The published files: metadata, links of the package page, content of wheel and sdist."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import geolookup
from tests.cli.program import run
from tests.conftest import ROOT
from tests.datasets import once

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
#: The one place of the project's address; every other URL of the project begins with it.
HOME = PROJECT["urls"]["Repository"]
#: The branch, and how the path of a file, an image and a folder begins behind the address.
KINDS = {"blob": Path.is_file, "raw": Path.is_file, "tree": Path.is_dir}
#: Leftovers of a build, and other files than sources: copied into no build.
LEFT_OUT = shutil.ignore_patterns(
    *(".git", ".venv*", ".*_cache", ".hypothesis", ".fuzz", "__pycache__", "*.egg-info"),
    *("*.so", "*.pyd", "*.c", "cache", "results", "dist"),
)


def test_version_and_metadata() -> None:
    text = (ROOT / "geolookup" / "__init__.py").read_text(encoding="utf-8")
    assert re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE) == [geolookup.__version__]
    assert "version" not in PROJECT
    dynamic = PYPROJECT["tool"]["setuptools"]["dynamic"]["version"]
    assert dynamic == {"attr": "geolookup.__version__"}
    # It costs no import of the metadata.
    code = (
        "import sys, geolookup; print(geolookup.__version__, 'importlib.metadata' in sys.modules)"
    )
    assert _printed("-c", code).split() == [geolookup.__version__, "False"]
    assert geolookup.__version__ in run("--version").stdout.split()
    versions = [
        classifier.rpartition(" ")[2]
        for classifier in PROJECT["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", classifier)
    ]
    assert PROJECT["requires-python"] == f">={versions[0]}"
    built = PYPROJECT["tool"]["cibuildwheel"]["build"]
    for item in versions:
        assert f"cp{item.replace('.', '')}-*" in built
    jobs = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    (tested,) = re.findall(r"python: \[(.+)\]", jobs)
    assert re.findall(r"[\d.]+", tested) == versions


def _printed(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


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


def test_links_of_the_readme_and_of_the_package_page() -> None:
    text = _prose((ROOT / "README.md").read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(links) > 15
    anchors = {_anchor(match) for match in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    assert {link[1:] for link in links if link.startswith("#")} <= anchors
    files = [link for link in links if not link.startswith(("https://", "#"))]
    assert [file for file in files if not (ROOT / file.partition("#")[0]).exists()] == []
    text = _prose(runpy.run_path(str(ROOT / "setup.py"))["package_page"]())
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    of_the_project = [link for link in links if link.startswith(HOME)]
    assert len(of_the_project) > 15
    for item in of_the_project:
        _assert_exists(item)


def _prose(text: str) -> str:
    return re.sub(r"^```.*?^```$|`[^`\n]+`", "", text, flags=re.MULTILINE | re.DOTALL)


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.fixture(scope="module")
def built() -> Path:
    """The folder of the sdist and of the wheel."""
    pytest.importorskip("build", reason="[engines] brings it")
    return once("packaging-built", _build)


def _build(folder: Path) -> None:
    """Build the sdist and, from it, the wheel. Neither needs the extension to be compiled."""
    shutil.copytree(ROOT, folder / "source", ignore=_left_out)
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(folder / "source")]
    if all(_is_installed(item) for item in PYPROJECT["build-system"]["requires"]):
        command.append("--no-isolation")  # else the tools come from the network
    environment = {**os.environ, "CC": "/nonexistent/cc"}
    subprocess.run(command, check=True, capture_output=True, env=environment)


def _is_installed(requirement: str) -> bool:
    wanted = Requirement(requirement)
    try:
        return version(wanted.name) in wanted.specifier
    except PackageNotFoundError:
        return False


def _left_out(folder: str, names: list[str]) -> set[str]:
    result = LEFT_OUT(folder, names)
    return {*result, "build"} if Path(folder) == ROOT else result


def _sources(*folders: str, keep: Callable[[Path], bool] = lambda _path: True) -> set[str]:
    """Return the paths of the files in some folders of the checkout."""
    return {
        path.relative_to(ROOT / base).as_posix()
        for base, _, folder in (folder.rpartition("/") for folder in folders)
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
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        metadata = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        text = archive.read(metadata).decode()
    wanted = _sources(
        "geolookup",
        "builder/geolookup_builder",
        keep=lambda path: path.suffix not in (".pyx", ".pxi", ".h"),
    )
    assert names == wanted
    assert "geolookup/py.typed" in names
    assert f"\nVersion: {geolookup.__version__}\n" in text
    assert "\nProject-URL: " in text
    assert "\nDescription-Content-Type: text/markdown\n" in text
    assert f"]({HOME}/raw/main/docs/terminal.svg)" in text


@pytest.mark.long
def test_sdist_holds_every_source(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        held = {member.name.partition("/")[2] for member in tar if member.isfile()}
    parts = (".ci", ".github", "benchmarks", "builder", "docs", "geolookup", "sample_data", "tests")
    pages = {path.name for path in ROOT.glob("*.md")}
    assert _sources(*(part for part in parts if (ROOT / part).is_dir())) | pages <= held
