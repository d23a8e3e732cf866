"""The log says once that the extension is missing, or older than its sources."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import python
from tests.conftest import ROOT
from tests.kernel.modules import compiled, needs_compiled

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")

#: Runs each of its arguments as code, in a fork of its own, as where the extension was not built.
#: Prints the exit status, the output and the errors of each.
_IN_FORKS = """
import json, os, sys, tempfile
import click

if without := os.environ.pop("WITHOUT"):
    sys.modules["geolookup.kernel." + without] = None
shown = []
for code in sys.argv[1:]:
    streams = [tempfile.TemporaryFile("w+", encoding="utf-8") for _ in range(2)]
    child = os.fork()
    if not child:
        for number, stream in enumerate(streams, 1):
            os.dup2(stream.fileno(), number)
        exec(code)
        sys.exit()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    shown.append((status, *(stream.seek(0) or stream.read() for stream in streams)))
print(json.dumps(shown))
"""
MISSING = "the compiled kernel is missing"
#: Opens two engines, and names their kernel.
TWICE = (
    "import geolookup, logging; logging.basicConfig(); "
    "[geolookup.open() for _ in range(2)]; print(geolookup.Engine.kernel)"
)
Shown = list[Any]  # exit status, output, errors


def command(*arguments: str) -> str:
    return f"sys.argv[1:] = {arguments!r}; from geolookup.cli import main; main()"


def run(*codes: str, kernel: str = "", without: str = "_compiled") -> list[Shown]:
    done = python(_IN_FORKS, *codes, GEOLOOKUP_KERNEL=kernel, WITHOUT=without)
    shown: list[Shown] = json.loads(done.stdout)
    return shown


@pytest.mark.long
def test_the_log_and_commands_say_so_once() -> None:
    asked = (TWICE, command("lookup", "8.8.8.8"), command("info"))
    for number, (status, output, errors) in enumerate(run(*asked)):
        assert status == 0
        assert output == "python\n" if number == 0 else "python" in output or "8.8.8.8" in output
        (line,) = errors.splitlines()
        assert MISSING in line
        assert MISSING not in output
        if number == 0:
            assert line.startswith(f"WARNING:geolookup:{MISSING}")
            sources = f"these are the sources in {ROOT}: run Python in "
            assert all(words in line for words in ("C compiler", "pip install", sources))
    # Whoever asks for the Python kernel knows.
    for status, output, errors in run(*asked[:2], kernel="python"):
        assert (status, errors) == (0, "")
        assert "python" in output or "8.8.8.8" in output


UNKNOWN = "GEOLOOKUP_KERNEL is 'x'; write python or compiled, or unset it"


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernel", "without", "problem"),
    [
        ("compiled", "_compiled", f"GEOLOOKUP_KERNEL is 'compiled', but {MISSING}"),
        ("x", "", UNKNOWN),
        ("x", "_compiled", UNKNOWN),
    ],
)
def test_a_kernel_that_does_not_exist_is_refused(kernel: str, without: str, problem: str) -> None:
    """By commands, by ``python -m geolookup`` and when a dataset is opened; help is shown."""
    module = "import runpy; sys.argv[1:] = 'info',; runpy.run_module('geolookup', {}, '__main__')"
    codes = command("lookup", "8.8.8.8"), module, "import geolookup; geolookup.open()"
    *refused, opened, helped = run(
        *codes, command("lookup", "--help"), kernel=kernel, without=without
    )
    for status, output, errors in refused:
        assert (status, output) == (2, "")
        (line,) = errors.splitlines()
        assert line.startswith(f"geolookup: {problem}")
    assert f"geolookup.errors.SettingsError: {problem}" in opened[2]
    assert (opened[0], helped[0]) == (1, 0)


@pytest.mark.long
@needs_compiled
def test_an_extension_that_is_older_than_its_sources(tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "geolookup", tmp_path / "geolookup", ignore=shutil.ignore_patterns("world")
    )
    folder = tmp_path / "geolookup" / "kernel"
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from geolookup import kernel; "
    code += "kernel.check_kernel(); kernel.check_kernel()"
    now = max(path.stat().st_mtime for path in folder.iterdir()) + 10
    os.utime(folder / Path(compiled.__file__).name, (now, now))
    for changed, selected, noticed in (
        *(("many.py", "", False), ("_scan.pxi", "", True), ("_scan.pxi", "python", False)),
        *(("_words.h", "compiled", True), ("_search.pxi", "", True)),
    ):
        before = (folder / changed).stat().st_mtime
        os.utime(folder / changed, (now + 10, now + 10))
        done = python(code, GEOLOOKUP_KERNEL=selected)
        said = f"the compiled kernel is older than its sources in {folder}: run 'python setup.py"
        assert done.stderr.count(said) == len(done.stderr.splitlines()) == noticed, changed
        os.utime(folder / changed, (before, before))
    for path in folder.glob("*.pyx"):
        path.unlink()  # as where it is installed
    assert python(code).stderr == ""
