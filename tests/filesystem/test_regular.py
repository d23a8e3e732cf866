"""Only regular files are opened, and nothing is waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from geolookup.filesystem.regular import open_regular


def test_a_file_and_a_link_to_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    for name in ("a", "link"):
        with open_regular(tmp_path / name) as stream:
            assert stream.read() == b"x"


@pytest.mark.skipif(os.name != "posix", reason="FIFOs and devices are POSIX")
def test_anything_else(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path / "link", Path("/dev/zero"), Path("/dev/tty")):
        with pytest.raises(OSError, match=r"not a regular file|No such"):
            open_regular(path)
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "nothing")
