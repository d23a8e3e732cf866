"""The published files: metadata, links of the package page, content of wheel and sdist."""

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


def _printed(*arguments: str, python: str | Path = sys.executable) -> str:
    command = [python, *arguments]
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


@pytest.fixture(scope="module")
def sdist(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the unpacked sdist."""
    (archive,) = built.glob("*.tar.gz")
    folder = tmp_path_factory.mktemp("sdist")
    # Not ``extractall``: early releases of Python 3.11 have no filters, later ones ask for one.
    subprocess.run(["tar", "-xzf", archive, "-C", folder], check=True)
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel, and beside it the packages of this one; its Python."""
    (wheel,) = built.glob("*.whl")
    environment = tmp_path_factory.mktemp("installed") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    install = ["install", "--quiet", "--no-index", "--no-deps", "--ignore-installed", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, *install], check=True)
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    beside = Path(_printed("-c", code, python=python).strip(), "beside.pth")
    beside.write_text("\n".join(item for item in sys.path if "-packages" in item) + "\n", "utf-8")
    return python


@pytest.mark.long
def test_sdist_holds_every_source(sdist: Path) -> None:
    held = {path.relative_to(sdist).as_posix() for path in sdist.rglob("*") if path.is_file()}
    parts = (".ci", ".github", "benchmarks", "builder", "docs", "geolookup", "sample_data", "tests")
    pages = {path.name for path in ROOT.glob("*.md")}
    assert _sources(*(part for part in parts if (ROOT / part).is_dir())) | pages <= held


#: What the sdist's tests of these modules need beside the installed wheel.
OF_THE_SDIST = [
    *("tests/test_engine_lookup.py", "tests/dataset/test_format_doc.py"),
    *("tests/test_sample_data.py", "tests/builder/test_recipe.py"),
]


@pytest.mark.long
def test_the_installed_wheel_passes_its_tests(sdist: Path, installed: Path, tmp_path: Path) -> None:
    """With what cibuildwheel copies, and with all of the sdist but the packages."""
    settings = PYPROJECT["tool"]["cibuildwheel"]
    command = settings["test-command"].split()
    assert command[:3] == ["python", "-m", "pytest"]
    _run_away(sdist, settings["test-sources"], command[3:], installed, tmp_path / "wheels")
    everything = [
        path.name for path in sdist.iterdir() if path.name not in ("geolookup", "builder")
    ]
    _run_away(sdist, everything, ["-q", *OF_THE_SDIST], installed, tmp_path / "sdist")


def _run_away(
    sdist: Path, names: list[str], arguments: list[str], python: Path, folder: Path
) -> None:
    """Run tests in a folder with copies of these files and folders, on the installed packages."""
    for name in names:
        kind = shutil.copytree if (sdist / name).is_dir() else shutil.copy
        folder.mkdir(exist_ok=True)
        kind(sdist / name, folder / name)
    (folder / "where.py").write_text(_WHERE, encoding="utf-8")
    # The wheel has no compiled kernel, so its tests skip.
    left_out = (
        *("GEOLOOKUP_KERNEL", "GEOLOOKUP_NO_SKIP"),
        *("GEOLOOKUP_TESTS_DATASETS", "PYTHONPATH"),
    )
    environment = {key: text for key, text in os.environ.items() if key not in left_out}
    options = ["-m", "pytest", "-p", "where", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        [python, *options], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


#: A plugin of pytest: the packages under test come from the environment.
_WHERE = """
import sys
from pathlib import Path
import geolookup, geolookup_builder
for module in (geolookup, geolookup_builder):
    path = Path(module.__file__)
    assert path.is_relative_to(sys.prefix) and "site-packages" in path.parts, path
"""
