"""What docs/tables/files.md shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from geolookup.files.formats import FORMATS
from tests.conftest import ROOT
from tests.sessions import run, sessions

PAGE = (ROOT / "docs" / "tables" / "files.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_sessions(tmp_path: Path) -> None:
    files = re.findall(r"^```csv (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for name, text in files:
        (tmp_path / name).write_text(text, encoding="utf-8")
    shown = "".join(re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    found = list(sessions(shown))
    assert (len(files), len(found)) == (1, 4)
    for command, output in found:
        done = run(command, tmp_path)
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
