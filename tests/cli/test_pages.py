"""``geolookup report`` and ``map``: one line for an error, and nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import held, refusal, refused, run, started
from tests.datasets import SMALL
from tests.skips import needs

pytestmark = needs("jinja2", "PIL", "vl_convert")

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


@pytest.fixture
def commands(map_command: Command) -> list[Command]:
    """The arguments of the commands that make pages, without their outputs."""
    return [("report", str(SMALL)), map_command]


def _refused(folder: Path, *arguments: str) -> str:
    """Run the command where it must fail; returns its one line. The folder stays as it was."""
    before = sorted((path, path.lstat().st_mtime_ns) for path in folder.rglob("*"))
    line = refusal(*arguments, folder=folder)
    assert sorted((path, path.lstat().st_mtime_ns) for path in folder.rglob("*")) == before
    return line


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "package"),
    [("jinja2", "jinja2"), ("PIL", "pillow"), ("vl_convert", "vl-convert-python")],
)
def test_without_the_extra_one_line_names_it(
    tmp_path: Path, commands: list[Command], module: str, package: str
) -> None:
    for command in commands:
        args = (module, *command, "--output", "page.html")
        with started(
            *args, folder=tmp_path, python=("-c", _WITHOUT), stderr=subprocess.PIPE
        ) as process:
            _, told = process.communicate(timeout=60)
        problem = f"page.html: needs the package {package}; pip install 'geolookup[report]'"
        assert (process.returncode, told.decode()) == (2, f"geolookup: {problem}\n")
        assert not [*tmp_path.iterdir()]


def test_outputs_that_cannot_be_written(tmp_path: Path, commands: list[Command]) -> None:
    (tmp_path / "old.html").write_text("mine", encoding="utf-8")
    (tmp_path / "here").mkdir()
    for name in ("notes.txt", "holiday.png"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    target = "is the page or holds it; choose another folder"
    foreign = "is not empty and not a picture; choose another name"
    for outputs, problem in (
        (("old.html",), "old.html: exists already; choose another name or use --force"),
        (("no/page.html",), "no: no such folder; create it first"),
        (("here", "--force"), "here: is a folder; name a file to write"),
        (("page.html", "--png", "notes.txt", "--force"), f"notes.txt: {foreign}"),
        (("page.html", "--png", "holiday.png", "--force"), f"holiday.png: {foreign}"),
        (("page.html", "--png", "page.html", "--force"), f"page.html: {target}"),
        (("here/page.html", "--png", "here", "--force"), f"here: {target}"),
    ):
        for command in commands:
            assert _refused(tmp_path, *command, "--output", *outputs) == problem
    line = _refused(tmp_path, "report", "nowhere", "--output", "page.html")
    assert line.startswith(f"{tmp_path / 'nowhere'}: no dataset here; ")


def test_a_page_on_standard_output(tmp_path: Path, map_command: Command) -> None:
    assert run(*map_command, "--output", "page.html", folder=tmp_path).returncode == 0
    done = run(*map_command, "--output", "-", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (tmp_path / "page.html").read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    refused(*map_command, "--output", "-", "--png", ".", folder=tmp_path)


@pytest.mark.long
def test_pictures_are_replaced_by_force_only(tmp_path: Path, map_command: Command) -> None:
    # Those of ``report`` are written by the same function, and take ten times as long.
    outputs = ("--output", "page.html", "--png", "pictures")
    assert run(*map_command, *outputs, folder=tmp_path).returncode == 0
    before = {path.name for path in (tmp_path / "pictures").iterdir()}
    (tmp_path / "page.html").unlink()
    line = _refused(tmp_path, *map_command, *outputs)
    assert line == "pictures: exists already; choose another name or use --force"
    assert run(*map_command, *outputs, "--force", folder=tmp_path).returncode == 0
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == before


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("name", ["report", "map"])
def test_a_signal_leaves_no_page(
    tmp_path: Path, commands: list[Command], name: str, number: signal.Signals
) -> None:
    """The process waits where it gives the new page its name."""
    (command,) = (item for item in commands if item[0] == name)
    (tmp_path / "page.html").write_text("old", encoding="utf-8")
    args = (*command, "--force", "--output", "page.html")
    with held("os.rename", "page.html", *args, folder=tmp_path) as process:
        assert len([*tmp_path.iterdir()]) == 2
        process.send_signal(number)
        printed, told = process.communicate(timeout=60)
    assert b"Traceback" not in printed + told
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "old"
    killed = number == signal.SIGKILL
    assert process.returncode == (-number if killed else 128 + number)
    assert len([*tmp_path.iterdir()]) == (2 if killed else 1)
    assert run(*command, "--output", "new.html", folder=tmp_path).returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"page.html", "new.html"}
