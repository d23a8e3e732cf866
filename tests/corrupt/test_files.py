"""Damage to whole files: truncated, swapped, empty, of another kind, not to be read."""

from __future__ import annotations

import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from multiprocessing import get_context
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import DatasetError
from tests.corrupt.probe import Probe, look_up, probes
from tests.damage import CSV, survey, whole, without
from tests.internals.dataset import layout as fmt
from tests.internals.integrity import Report, examine, verify
from tests.servers import PATIENCE
from tests.tiers import one_of_each, scaled

FILES = (fmt.MANIFEST, *fmt.FILES)
_NOBODY = 65534
#: Files that say nothing of what differs between the two datasets.
_ALIKE = (fmt.IPV6_SPARSE_INDEX, fmt.COUNTRY, fmt.ZONE)


def other() -> Path:
    text = CSV.replace("37.4", "38.4").replace("Paris", "Tours").replace("15169", "15170")
    text = text.replace("\n20.0.0.0/8", "\n21.0.0.0/8").replace("2001:4860::", "2001:4861::")
    head, *rows = text.splitlines(keepends=True)
    rows[3], rows[4] = rows[4], rows[3]
    return whole("".join([head, "\n", *rows]), "other")  # on other lines


def damage_of(dataset: Path, name: str) -> DatasetError:
    with pytest.raises(DatasetError) as caught:
        verify(dataset)
    assert caught.value.path in (str(dataset / name), str(dataset)), name
    assert "\n" not in str(caught.value)
    return caught.value


def use(dataset: Path) -> None:
    with geolookup.open(dataset) as engine:
        for text in ("8.8.8.8", "2a00::"):
            assert engine.lookup(text)["success"]
            engine.explain(text)


def refused(dataset: Path, name: str) -> None:
    """Using the dataset fails too; the manifest's failure is the dataset's."""
    with pytest.raises(DatasetError) as caught:
        use(dataset)
    of_dataset = name == fmt.MANIFEST and caught.value.path == str(dataset)
    assert of_dataset or caught.value.path == str(dataset / name)


def test_whole_datasets_and_none_at_all(dataset: Path, tmp_path: Path) -> None:
    for item in (whole(), other()):
        report = verify(item)
        names = [path for path in item.iterdir() if path.name != fmt.MANIFEST]
        assert report.files == len(names)
        assert report.bytes == sum(path.stat().st_size for path in names)
    for name in fmt.FILES[:4]:
        (dataset / name).write_bytes(b"")
    # Every damaged file is told.
    assert [Path(damage.path).name for damage in examine(dataset).damages] == sorted(fmt.FILES[:4])
    assert len(examine(dataset, limit=2).damages) == 2
    assert examine(dataset, limit=2) != Report(())
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for path in (tmp_path / "nothing", tmp_path / "file", tmp_path):
        with pytest.raises(DatasetError, match="no dataset here"):
            verify(path)


_SIZE = "bytes, but the manifest says"
#: How a file is replaced, and the problem if no lookup can use the file.
DAMAGES: dict[str, tuple[Callable[[Path, bytes], object], str]] = {
    "zeros": (lambda path, content: path.write_bytes(bytes(len(content))), ""),
    "ones": (lambda path, content: path.write_bytes(b"\xff" * len(content)), ""),
    "of another dataset": (
        lambda path, _: path.write_bytes((other() / path.name).read_bytes()),
        "",
    ),
    "empty": (lambda path, _: path.write_bytes(b""), _SIZE),
    "without its last byte": (lambda path, content: path.write_bytes(content[:-1]), _SIZE),
    "half": (lambda path, content: path.write_bytes(content[: len(content) // 2]), _SIZE),
    "with a byte more": (lambda path, content: path.write_bytes(content + b"\0"), _SIZE),
    "a folder": (lambda path, _: path.mkdir(), "s a directory"),
    "missing": (lambda _path, _content: None, "missing"),
}


@pytest.mark.parametrize("kind", one_of_each(DAMAGES, lambda kind: DAMAGES[kind][1]))
def test_a_file_that_is_wrong_as_a_whole(dataset: Path, probes: list[Probe], kind: str) -> None:
    write, problem = DAMAGES[kind]
    for number, name in enumerate(FILES):
        with without(dataset / name) as content:
            write(dataset / name, content)
            if kind == "of another dataset" and name in _ALIKE:
                assert content == (dataset / name).read_bytes(), name
                continue
            if kind == "of another dataset":
                with pytest.raises(DatasetError):  # of this file, or of one that disagrees with it
                    verify(dataset)
            else:
                error = damage_of(dataset, name)
            if problem and (name != fmt.MANIFEST or problem != _SIZE):
                assert name == fmt.MANIFEST or problem in error.problem
                refused(dataset, name)
            if number % scaled(4, 1) == list(DAMAGES).index(kind) % scaled(4, 1):
                look_up(dataset, probes, explain=True)
    assert survey(dataset) == "answered"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_a_pipe_is_not_waited_for(dataset: Path) -> None:
    for name in FILES:
        with without(dataset / name):
            os.mkfifo(dataset / name)
            assert "not a regular file" in damage_of(dataset, name).problem


def denied(folder: Path, log: Path) -> None:
    """Check that a file or folder without permissions is refused; as nobody if this is root."""
    with log.open("w", encoding="utf-8") as stream, redirect_stderr(stream):
        try:
            _check_denied(folder)
        except BaseException:
            traceback.print_exc()
            raise


def _check_denied(folder: Path) -> None:
    os.chdir(folder)  # the folders above may be private
    dataset, checked = Path("dataset"), probes()
    verify(dataset)  # and import everything
    look_up(dataset, checked, explain=True)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    assert verify(dataset)
    for name in FILES:
        (dataset / name).chmod(0)
        assert "ermission denied" in str(damage_of(dataset, name)), name
        look_up(dataset, checked)
        (dataset / name).chmod(0o600)
    dataset.chmod(0)
    with pytest.raises(DatasetError):
        verify(dataset)
    dataset.chmod(0o700)


@pytest.fixture
def of_nobody() -> Iterator[Path]:
    """A folder with a copy of the dataset, whose owner is nobody where the tests run as root."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(whole(), Path(folder) / "dataset")
        if os.geteuid() == 0:
            for path in (Path(folder), copy, *copy.iterdir()):
                os.chown(path, _NOBODY, _NOBODY)
        yield Path(folder)


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="the permissions are POSIX's")
def test_permission_denied(of_nobody: Path, tmp_path: Path) -> None:
    probes()  # skips here rather than there
    log = tmp_path / "log"
    process = get_context("spawn").Process(target=denied, args=(of_nobody, log), daemon=True)
    process.start()
    process.join(PATIENCE)
    assert process.exitcode == 0, log.read_text(encoding="utf-8")
