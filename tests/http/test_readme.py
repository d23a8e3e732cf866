"""The README's calls over HTTP, run as they stand there, on a free port."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.http.serving import free_port

_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_READY = """for _ in $(seq 300); do
    curl -so /dev/null http://127.0.0.1:8000/ && break
    sleep 0.1
done
"""
_ENDED = "kill -TERM $!; wait $!\n"


def test_keys_server_and_calls(tmp_path: Path) -> None:
    pytest.importorskip("granian")
    serve, calls = _BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    script = (serve + _READY + calls + _ENDED).replace("8000", str(free_port()))
    scripts = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    by_curl, end, by_python = done.stdout.partition("}{")
    assert json.loads(by_curl + "}")["data"]["ip"] == "8.8.8.8", done
    assert json.loads(end[1:] + by_python)["data"]["location"]["country_code"] == "US"
