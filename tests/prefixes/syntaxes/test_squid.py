"""What Squid accepts, and which clients its ACL matches."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.prefixes.syntaxes.lists import drawn, whole_text
from tests.prefixes.syntaxes.tools import needs, run

pytestmark = [pytest.mark.long, needs("squid")]
LIST = drawn(1, 300)


def _parsed(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """What Squid says of a configuration with the list."""
    (folder / "list").write_text(text)
    configuration = folder / "squid.conf"
    configuration.write_text(
        f'acl listed src "{folder}/list"\nhttp_access deny listed\nhttp_access allow all\n'
        f"http_port 127.0.0.1:3128\npid_filename {folder}/pid\n"
    )
    return run("squid", "-k", "parse", "-f", str(configuration))


def test_a_list_is_accepted(tmp_path: Path) -> None:
    done = _parsed(tmp_path, whole_text("squid", LIST))
    assert done.returncode == 0
    assert not {"WARNING", "ERROR", "FATAL"} & set(done.stderr.replace(":", " ").split())


def test_a_malformed_file_is_refused(tmp_path: Path) -> None:
    """The check would notice a syntax error."""
    assert _parsed(tmp_path, "1.0.0.0/24\n1.0.1.0/33\n").returncode
