"""Two commands that write the same output at once: without --force none replaces the other's."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import OutputError
from tests.builder.building import isps, unwritable
from tests.cli.program import run
from tests.conftest import build_at
from tests.internals.builder import output_files
from tests.internals.filesystem import atomic
from tests.internals.integrity import VerifiedDataset, verify
from tests.internals.signing import keys
from tests.skips import needs

FILES = {"a.csv": "network,isp\n8.8.8.0/24,first\n"}
TAKEN = "another process has written it meanwhile"


def test_two_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second begins before the first ends, and ends after it."""
    verified = output_files.verify

    def another_ends_now(folder: Path, output: Path) -> VerifiedDataset:
        patch.setattr(output_files, "verify", verified)
        (tmp_path / "b.csv").write_text("network,isp\n8.8.8.0/24,second\n", encoding="utf-8")
        done = run("build", str(tmp_path / "b.csv"), "--output", str(output))
        assert done.returncode == 0
        return verified(folder, output)

    with monkeypatch.context() as patch:
        patch.setattr(output_files, "verify", another_ends_now)
        error = unwritable(tmp_path, dict(FILES), force=False)
    assert str(error) == f"{tmp_path / 'dataset'}: {TAKEN}; {error.remedy}"
    assert "--force" in error.remedy
    verify(tmp_path / "dataset")
    assert isps(tmp_path / "dataset", "8.8.8.8") == ["second"]
    assert {path.name for path in tmp_path.iterdir()} == {*FILES, "b.csv", "recipe.toml", "dataset"}
    build_at(tmp_path, dict(FILES))
    assert isps(tmp_path / "dataset", "8.8.8.8") == ["first"]


@pytest.mark.parametrize("links", [True, False])
def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool) -> None:
    def refuse(*_arguments: Any) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    def write(text: str, *, force: bool) -> None:
        with atomic.staged_file(output, force=force) as fresh:
            fresh.write_text(text, encoding="utf-8")

    if not links:
        monkeypatch.setattr(Path, "hardlink_to", refuse)
    output = tmp_path / "output"
    write("first", force=False)
    with pytest.raises(OutputError, match=TAKEN):
        write("second", force=False)
    assert (output.read_bytes(), output.stat().st_nlink) == (b"first", 1)
    write("third", force=True)
    assert output.read_bytes() == b"third"
    assert [path.name for path in tmp_path.iterdir()] == ["output"]


MAKERS: dict[str, Callable[[Path], object]] = {
    "folder": lambda path: (path / "x").mkdir(parents=True),
    "file": Path.touch,
    "link": lambda path: path.symlink_to(path.parent),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_folders(tmp_path: Path, kind: str) -> None:
    output = tmp_path / kind

    def write() -> None:
        with atomic.staged_folder(output, force=False) as fresh:
            (fresh / "mine").touch()
            MAKERS[kind](output)

    with pytest.raises(OutputError, match=TAKEN):
        write()
    assert not (output / "mine").exists()
    assert [path.name for path in tmp_path.iterdir()] == [kind]


@needs("cryptography")
def test_two_pairs_of_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys of the one that ends first stay: datasets may be signed with them already."""
    encoded, path = keys.pem_of, tmp_path / "key"

    def another_ends_now(key: keys.PublicKey) -> bytes:
        monkeypatch.setattr(keys, "pem_of", encoded)
        assert run("mirror", "keys", "create", str(path), alone=True).returncode == 0
        return encoded(key)

    monkeypatch.setattr(keys, "pem_of", another_ends_now)
    with pytest.raises(OutputError, match=TAKEN):
        keys.generate(path)
    pair = keys.read_private(path).public, keys.read_public(tmp_path / "key.pub")
    assert pair[0] == pair[1]
    assert {item.name for item in tmp_path.iterdir()} == {"key", "key.pub"}
