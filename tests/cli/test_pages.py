"""``geolookup report`` and ``map``: one line for an error, and nothing half-written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.program import refusal, run, started
from tests.datasets import SMALL
from tests.skips import needs

pytestmark = needs("jinja2", "PIL", "vl_convert")

#: The commands that make pages, without their outputs.
_COMMANDS = (("report", str(SMALL)), ("map", "addresses.txt"))
#: Runs the program without a module.
_WITHOUT = """
import sys
from geolookup.cli import main
sys.modules[sys.argv.pop(1)] = None
main()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "addresses.txt").write_text("8.8.8.8\n" * 9, encoding="utf-8")
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "package"),
    [("jinja2", "jinja2"), ("PIL", "pillow"), ("vl_convert", "vl-convert-python")],
)
def test_without_the_extra_one_line_names_it(folder: Path, module: str, package: str) -> None:
    python = ("-c", _WITHOUT)
    for command in _COMMANDS:
        args = (module, *command, "--output", "page.html")
        with started(*args, folder=folder, python=python, stderr=subprocess.PIPE) as process:
            _, told = process.communicate(timeout=60)
        problem = f"page.html: needs the package {package}; pip install 'geolookup[report]'"
        assert (process.returncode, told.decode()) == (2, f"geolookup: {problem}\n")
        assert not (folder / "page.html").exists()


def test_outputs_that_cannot_be_written(folder: Path) -> None:
    (folder / "old.html").write_text("mine", encoding="utf-8")
    (folder / "here").mkdir()
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*"))
    rows = ("--against", str(SMALL), "--force", "--rows", "x.csv", "--output", "here/../x.csv")
    for commands, outputs, problem in (
        (_COMMANDS, ("--output", "old.html"), "old.html: exists already; choose another name"),
        (_COMMANDS, ("--output", "no/page.html"), "no: no such folder; create it first"),
        (_COMMANDS, ("--output", "here", "--force"), "here: is a folder; name a file to write"),
        (_COMMANDS[:1], rows, "here/../x.csv: is the file of --rows; choose another file"),
        ([("report", "nowhere")], ("--output", "x.html"), f"{folder / 'nowhere'}: no dataset here"),
    ):
        for command in commands:
            assert refusal(*command, *outputs, folder=folder).startswith(problem)
    assert sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*")) == before


@pytest.mark.parametrize("args", [("report",), ("map", "addresses.txt")], ids=" ".join)
def test_a_page_in_a_file_and_on_standard_output(folder: Path, args: tuple[str, ...]) -> None:
    """``report`` without a name is of the dataset that lookups answer from."""
    assert run(*args, "--output", "page.html", folder=folder).stdout.startswith("page.html: ")
    text = (folder / "page.html").read_text("utf-8")
    done = run(*args, "--output", "-", folder=folder)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", text)
    assert len([*folder.iterdir()]) == 2
