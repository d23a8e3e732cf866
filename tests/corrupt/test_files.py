"""Damage to whole files: truncated, swapped, empty, of another kind, not to be read."""

from __future__ import annotations

import os
import shutil
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import redirect_stderr
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path

import pytest

import geolookup
from geolookup.dataset import layout as fmt
from geolookup.errors import DatasetError
from geolookup.integrity import Report, examine, verify
from tests.corrupt.probe import Probe, look_up, probes
from tests.damage import CSV, copied, survey, whole, without
from tests.servers import PATIENCE
from tests.tiers import scaled

FILES = (fmt.MANIFEST, *fmt.FILES, *fmt.EXPLAINING)
_PAGE = 4096
_NOBODY = 65534
#: Files that say nothing of what differs between the two datasets.
_ALIKE = (
    *(fmt.IPV6_SPARSE_INDEX, fmt.COUNTRY, fmt.ZONE),
    *(fmt.EXPLAINED_FILES, fmt.EXPLAINED_TABLES, fmt.EXPLAINED_RANGES),
)


def other() -> Path:
    text = CSV.replace("37.4", "38.4").replace("Paris", "Tours").replace("15169", "15170")
    text = text.replace("\n20.0.0.0/8", "\n21.0.0.0/8").replace("2001:4860::", "2001:4861::")
    head, *rows = text.splitlines(keepends=True)
    rows[3], rows[4] = rows[4], rows[3]
    return whole("full", "".join([head, "\n", *rows]), "other")  # on other lines


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return copied(whole("full"), tmp_path / "copy")


@pytest.fixture(name="probes", scope="module")
def _probes() -> list[Probe]:
    return probes()


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
    assert survey(dataset) == "refused", name
    with pytest.raises(DatasetError) as caught:
        use(dataset)
    of_dataset = name == fmt.MANIFEST and caught.value.path == str(dataset)
    assert of_dataset or caught.value.path == str(dataset / name)


def test_whole_datasets_and_none_at_all(dataset: Path, tmp_path: Path) -> None:
    for item in (whole("full"), other()):
        report = verify(item)
        assert report == verify(item, deep=True)
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


def test_data_truncated_and_lengthened(dataset: Path, probes: list[Probe]) -> None:
    for name in FILES:
        with without(dataset / name) as content:
            for byte in (b"\0", b"\xff"):
                (dataset / name).write_bytes(byte * len(content))
                damage_of(dataset, name)
                survey(dataset)
                look_up(dataset, probes)
            if name == fmt.MANIFEST:
                for size in range(0, len(content), scaled(199, 3)):
                    (dataset / name).write_bytes(content[:size])
                    damage_of(dataset, name)
                    look_up(dataset, probes)
                continue
            more = (1, 8, len(content) - 8, *range(_PAGE, len(content), _PAGE))
            for size in (0, len(content) - 1, *more[: scaled(0, len(more))]):
                (dataset / name).write_bytes(content[:size])
                assert "bytes, but the manifest says" in damage_of(dataset, name).problem
                refused(dataset, name)
                look_up(dataset, probes)
            for step in (1, 8)[: scaled(1, 2)]:
                (dataset / name).write_bytes(content + bytes(step))
                damage_of(dataset, name)
                refused(dataset, name)
                look_up(dataset, probes)
    assert survey(dataset) == "answered"


def test_a_file_of_another_dataset(dataset: Path, probes: list[Probe]) -> None:
    for name in FILES:
        content = (other() / name).read_bytes()
        if name in _ALIKE:
            assert content == (dataset / name).read_bytes(), name
            continue
        with without(dataset / name):
            (dataset / name).write_bytes(content)
            with pytest.raises(DatasetError):
                verify(dataset)
            look_up(dataset, probes, explain=True)


def test_two_files_swapped(dataset: Path, probes: list[Probe]) -> None:
    for one, two in combinations(sorted(fmt.FILES), 2):
        with without(dataset / one) as first, without(dataset / two) as second:
            (dataset / one).write_bytes(second)
            (dataset / two).write_bytes(first)
            found_in = {Path(damage.path).name for damage in examine(dataset).damages}
            assert found_in == {one, two}
            look_up(dataset, probes)
    assert verify(dataset)


def test_missing_a_folder_or_a_pipe(dataset: Path, probes: list[Probe]) -> None:
    for name in FILES:
        path = dataset / name
        with without(path):
            damage_of(dataset, name)
            refused(dataset, name)
            look_up(dataset, probes)
            path.mkdir()
            assert "not a plain file" in damage_of(dataset, name).problem
            refused(dataset, name)
            look_up(dataset, probes)
            if hasattr(os, "mkfifo"):
                path.rmdir()
                os.mkfifo(path)
                assert "not a plain file" in damage_of(dataset, name).problem  # and does not wait


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
        copy = shutil.copytree(whole("full"), Path(folder) / "dataset")
        if os.geteuid() == 0:
            for path in (Path(folder), copy, *copy.iterdir()):
                os.chown(path, _NOBODY, _NOBODY)
        yield Path(folder)


@pytest.mark.skipif(os.name != "posix", reason="the permissions are POSIX's")
def test_permission_denied(of_nobody: Path, tmp_path: Path) -> None:
    probes()  # skips here rather than there
    log = tmp_path / "log"
    process = get_context("spawn").Process(target=denied, args=(of_nobody, log), daemon=True)
    process.start()
    process.join(PATIENCE)
    assert process.exitcode == 0, log.read_text(encoding="utf-8")
