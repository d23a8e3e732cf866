"""``geolookup report`` and ``map``: one line for an error, and nothing half-written."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.datasets import SMALL

pytest.importorskip("jinja2")
pytest.importorskip("PIL")
pytest.importorskip("vl_convert")

Command = tuple[str, str]
#: Runs the program without a module.
_WITHOUT = """
import sys
from geolookup.cli import main
sys.modules[sys.argv.pop(1)] = None
main()
"""


@pytest.fixture
def map_command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """The arguments of ``map``, without its outputs."""
    addresses = tmp_path_factory.mktemp("input") / "addresses.txt"
    addresses.write_text("8.8.8.8\n" * 9, encoding="utf-8")
    return "map", str(addresses)


@pytest.fixture(params=["report", pytest.param("map", marks=pytest.mark.long)])
def command(request: pytest.FixtureRequest, map_command: Command) -> Command:
    """The arguments of a command that makes a page, without its outputs."""
    return ("report", str(SMALL)) if request.param == "report" else map_command


def _refused(folder: Path, *arguments: str) -> str:
    """Run the command where it must fail; returns its one line. The folder stays as it was."""
    before = sorted((each, each.lstat().st_mtime_ns) for each in folder.rglob("*"))
    done = run(*arguments, folder=folder)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert sorted((each, each.lstat().st_mtime_ns) for each in folder.rglob("*")) == before
    return done.stderr.removeprefix("geolookup: ").rstrip("\n")


@pytest.mark.parametrize(
    ("module", "package"),
    [("jinja2", "jinja2"), ("PIL", "pillow"), ("vl_convert", "vl-convert-python")],
)
@pytest.mark.long
def test_without_the_extra_one_line_names_it(
    tmp_path: Path, command: Command, module: str, package: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, module, *command, "--output", "page.html"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    problem = f"page.html: needs the package {package}; pip install 'geolookup[report]'"
    assert (done.returncode, done.stderr) == (2, f"geolookup: {problem}\n")
    assert not [*tmp_path.iterdir()]


def test_an_existing_page_stays(tmp_path: Path, command: Command) -> None:
    (tmp_path / "page.html").write_text("mine")
    line = _refused(tmp_path, *command, "--output", "page.html")
    assert line == "page.html: exists already; choose another name or use --force"


def test_a_missing_folder_is_named(tmp_path: Path, command: Command) -> None:
    line = _refused(tmp_path, *command, "--output", "no/page.html")
    assert line == "no: no such folder; create it first"


def test_a_folder_is_no_page(tmp_path: Path, command: Command) -> None:
    (tmp_path / "here").mkdir()
    line = _refused(tmp_path, *command, "--output", "here", "--force")
    assert line == "here: is a folder; name a file to write"


def test_no_dataset(tmp_path: Path) -> None:
    line = _refused(tmp_path, "report", "nowhere", "--output", "page.html")
    assert line.startswith(f"{tmp_path / 'nowhere'}: no dataset here; ")


@pytest.mark.parametrize("name", ["notes.txt", "holiday.png"])
def test_a_folder_with_files_of_others_stays(tmp_path: Path, command: Command, name: str) -> None:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    outputs = ("--output", "page.html", "--png", "pictures")
    line = _refused(tmp_path, *command, *outputs, "--force")
    assert line == "pictures: is not empty and not a picture; choose another name"


@pytest.mark.parametrize(
    ("page", "pictures"), [("page.html", "page.html"), ("here/page.html", "here")]
)
def test_the_page_and_the_pictures_have_places_of_their_own(
    tmp_path: Path, command: Command, page: str, pictures: str
) -> None:
    (tmp_path / "here").mkdir()
    line = _refused(tmp_path, *command, "--output", page, "--png", pictures, "--force")
    assert line == f"{pictures}: is the page or holds it; choose another folder"


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder in which root may not write")
def test_a_folder_that_may_not_be_written(tmp_path: Path, command: Command) -> None:
    line = _refused(tmp_path, *command, "--output", "/proc/page.html")
    assert line.startswith("/proc/page.html: cannot be written (")


@pytest.mark.long
def test_pictures_are_replaced_by_force_only(tmp_path: Path, map_command: Command) -> None:
    # Those of ``report`` are written by the same function, and take ten times as long.
    outputs = ("--output", "page.html", "--png", "pictures")
    assert run(*map_command, *outputs, folder=tmp_path).returncode == 0
    before = {each.name for each in (tmp_path / "pictures").iterdir()}
    (tmp_path / "page.html").unlink()
    line = _refused(tmp_path, *map_command, *outputs)
    assert line == "pictures: exists already; choose another name or use --force"
    assert run(*map_command, *outputs, "--force", folder=tmp_path).returncode == 0
    assert {each.name for each in (tmp_path / "pictures").iterdir()} == before


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="names of files are bytes on POSIX only")
@pytest.mark.parametrize(
    "name", ["a <b>&\"'", "new\nline", "\x1b[31mred", "\udcff", "ü 日本 \u202e"]
)
def test_names_of_files_are_shown_in_one_line(tmp_path: Path, name: str) -> None:
    # Arrow opens no path that is not UTF-8.
    dataset = tmp_path / f"{name.encode(errors='replace').decode()}-data"
    shutil.copytree(SMALL, dataset)
    done = run("report", str(dataset), "--output", f"{name}.html", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert "\x1b" not in done.stdout
    assert (tmp_path / f"{name}.html").read_text(encoding="utf-8").endswith("</html>")


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_leaves_no_page(tmp_path: Path, command: Command, number: signal.Signals) -> None:
    (tmp_path / "page.html").write_text("old")
    started = [sys.executable, "-m", "geolookup", *command, "--force", "--output", "page.html"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        started, cwd=tmp_path, env=environment, stderr=subprocess.PIPE
    ) as process:
        while len([*tmp_path.iterdir()]) == 1 and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(number)
        _, printed = process.communicate()
    assert b"Traceback" not in printed
    assert (tmp_path / "page.html").read_text() == "old"
    killed = number == signal.SIGKILL
    assert process.returncode == (-number if killed else 128 + number)
    assert len([*tmp_path.iterdir()]) == (2 if killed else 1)
    assert run(*command, "--output", "new.html", folder=tmp_path).returncode == 0
    assert {each.name for each in tmp_path.iterdir()} == {"page.html", "new.html"}
