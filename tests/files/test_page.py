"""What docs/tables/files.md shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from geolookup.files.formats import FORMATS
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "tables" / "files.md").read_text(encoding="utf-8")


def test_the_sessions(tmp_path: Path) -> None:
    files = re.findall(r"^```csv (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for name, text in files:
        (tmp_path / name).write_text(text, encoding="utf-8")
    shown = "".join(re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    sessions = re.split(r"^\$ ", shown, flags=re.MULTILINE)[1:]
    assert (len(files), len(sessions)) == (1, 4)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for session in sessions:
        command, _, output = session.partition("\n")
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        until, ellipsis, _ = output.partition("…\n")
        assert done.stdout.startswith(until)
        assert ellipsis or done.stdout == output


def test_every_format_is_named() -> None:
    table = [line for line in PAGE.splitlines() if line.startswith("| `")]
    names = {name for line in table for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    suffixes = {each for line in table for each in re.findall(r"`(\.\w+)`", line.split("|")[2])}
    assert names == set(FORMATS)
    assert suffixes == {suffix for each in FORMATS.values() for suffix in each.suffixes}
