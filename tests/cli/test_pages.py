"""``geolookup report`` and ``map``: one line for an error, and nothing half-written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.program import refusal, run, started
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
    for outputs, problem in (
        (("old.html",), "old.html: exists already; choose another name or use --force"),
        (("no/page.html",), "no: no such folder; create it first"),
        (("here", "--force"), "here: is a folder; name a file to write"),
    ):
        for command in commands:
            assert _refused(tmp_path, *command, "--output", *outputs) == problem
    report = (*commands[0], "--against", str(SMALL), "--force", "--rows")
    problem = "here/../x.csv: is the file of --rows; choose another file"
    assert _refused(tmp_path, *report, "x.csv", "--output", "here/../x.csv") == problem
    line = _refused(tmp_path, "report", "nowhere", "--output", "page.html")
    assert line.startswith(f"{tmp_path / 'nowhere'}: no dataset here; ")


@pytest.mark.parametrize("args", [("report",), ("map", "addresses.txt")], ids=" ".join)
def test_a_page_in_a_file_and_on_standard_output(tmp_path: Path, args: tuple[str, ...]) -> None:
    """``report`` without a name is of the dataset that lookups answer from."""
    (tmp_path / "addresses.txt").write_text("8.8.8.8\n" * 9, encoding="utf-8")
    done = run(*args, "--output", "page.html", folder=tmp_path)
    assert done.stdout.startswith("page.html: ")
    text = (tmp_path / "page.html").read_text("utf-8")
    done = run(*args, "--output", "-", folder=tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", text)
    assert len([*tmp_path.iterdir()]) == 2
