"""What docs/http.md shows is what happens."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from geolookup.http.answers import OUTCOMES
from geolookup.http.settings import HEAD_LIMIT
from tests.conftest import ROOT
from tests.http.serving import free_port

PAGE = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
_SESSION = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl here")
def test_the_session_prints_what_is_shown(tmp_path: Path) -> None:
    pytest.importorskip("granian")
    (session,) = _SESSION.findall(PAGE)
    lines = session.replace("8000", str(free_port())).splitlines()
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    shown = [line for line in lines if not line.startswith("$ ")]
    scripts = Path(sys.executable).parent
    done = subprocess.run(
        ["/bin/bash", "-m", "-c", "\n".join(commands)],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.splitlines() == shown, done.stderr + (tmp_path / "log").read_text()


def test_every_status_is_in_the_table() -> None:
    said = {int(status) for status in re.findall(r"^\| (\d{3})", PAGE, re.MULTILINE)}
    assert {outcome.status for outcome in OUTCOMES} <= said
    assert f"{HEAD_LIMIT >> 10} KiB" in PAGE
