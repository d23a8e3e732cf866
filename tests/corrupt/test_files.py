"""Damage to whole files: truncated, swapped, empty, of another kind, not to be read."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from geolookup.dataset import layout as fmt
from geolookup.errors import DatasetError
from geolookup.integrity import Report, examine, verify
from tests.conftest import build_at
from tests.corrupt.probe import KERNELS, Probe, addresses
from tests.corrupt.sweep import RECIPE
from tests.damage import CSV, copied
from tests.tiers import scaled

FILES = (fmt.MANIFEST, *fmt.FILES, *fmt.EXPLAINING)
_PAGE = 4096
#: Files that say nothing of what differs between the two datasets.
_ALIKE = (
    *(fmt.IPV6_SPARSE_INDEX, fmt.COUNTRY, fmt.ZONE),
    *(fmt.EXPLAINED_FILES, fmt.EXPLAINED_TABLES, fmt.EXPLAINED_RANGES),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_at(tmp_path_factory.mktemp("whole"), {"a.csv": CSV}, RECIPE)[0]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of other values, whose files mostly have the same sizes."""
    text = CSV.replace("37.4", "38.4").replace("Paris", "Tours").replace("15169", "15170")
    text = text.replace("\n20.0.0.0/8", "\n21.0.0.0/8").replace("2001:4860::", "2001:4861::")
    head, *rows = text.splitlines(keepends=True)
    rows[3], rows[4] = rows[4], rows[3]
    text = "".join([head, "\n", *rows])  # on other lines
    return build_at(tmp_path_factory.mktemp("other"), {"a.csv": text}, RECIPE)[0]


@pytest.fixture
def dataset(whole: Path, tmp_path: Path) -> Path:
    return copied(whole, tmp_path / "copy")


@pytest.fixture(scope="module", params=KERNELS)
def probe(request: pytest.FixtureRequest, whole: Path) -> Probe:
    if request.param == "compiled":
        pytest.importorskip("geolookup.kernel._compiled", reason="the extension was not built")
    return Probe(request.param, addresses(whole))


def found(dataset: Path, name: str) -> DatasetError:
    """The first damage, which is in the file that was damaged."""
    with pytest.raises(DatasetError) as caught:
        verify(dataset)
    assert caught.value.path in (str(dataset / name), str(dataset))
    assert "\n" not in str(caught.value)
    return caught.value


def test_whole_datasets(whole: Path, other: Path) -> None:
    for dataset in (whole, other, Path(__file__).parents[2] / "geolookup" / "world"):
        assert verify(dataset) == verify(dataset, deep=True)
        report = verify(dataset)
        names = [path for path in dataset.iterdir() if path.name != fmt.MANIFEST]
        assert report.files == len(names)
        assert report.bytes == sum(path.stat().st_size for path in names)


def test_the_manifest_truncated(dataset: Path, probe: Probe) -> None:
    path = dataset / fmt.MANIFEST
    content = path.read_bytes()
    for size in range(0, len(content), scaled(51, 3)):
        path.write_bytes(content[:size])
        found(dataset, fmt.MANIFEST)
        if size % 50 == 0 or size > len(content) - 50:
            probe.survey(dataset)


@pytest.mark.parametrize("name", FILES[1:])
def test_data_truncated_and_lengthened(dataset: Path, probe: Probe, name: str) -> None:
    path = dataset / name
    content = path.read_bytes()
    sizes = {*range(0, len(content), _PAGE), 0, 1, 8, len(content) - 1, len(content) - 8}
    for size in sizes:
        path.write_bytes(content[:size])
        assert "bytes, but the manifest says" in found(dataset, name).problem
        probe.survey(dataset)
    path.write_bytes(content + bytes(8))
    found(dataset, name)
    probe.survey(dataset)


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_dataset(dataset: Path, other: Path, probe: Probe, name: str) -> None:
    content = (other / name).read_bytes()
    if name in _ALIKE:
        assert content == (dataset / name).read_bytes()
        return
    (dataset / name).write_bytes(content)
    with pytest.raises(DatasetError):
        verify(dataset)
    probe.survey(dataset)
    probe.explain(dataset)


def test_two_files_swapped(dataset: Path, probe: Probe) -> None:
    for one in fmt.FILES:
        for two in fmt.FILES:
            if one < two:
                _swap(dataset / one, dataset / two)
                found_in = {Path(each.path).name for each in examine(dataset).damages}
                assert found_in == {one, two}
                probe.survey(dataset)
                _swap(dataset / one, dataset / two)
    assert verify(dataset)


def _swap(one: Path, two: Path) -> None:
    aside = one.with_suffix(".aside")
    one.rename(aside), two.rename(one), aside.rename(two)


@pytest.mark.parametrize("name", FILES)
def test_missing_a_folder_or_a_pipe(dataset: Path, probe: Probe, name: str) -> None:
    path = dataset / name
    path.unlink()
    found(dataset, name)
    probe.survey(dataset)
    path.mkdir()
    assert "not a plain file" in found(dataset, name).problem
    probe.survey(dataset)
    path.rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        assert "not a plain file" in found(dataset, name).problem  # and does not wait


def test_no_folder_at_all(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "nothing", tmp_path / "file", tmp_path):
        with pytest.raises(DatasetError, match="no dataset here"):
            verify(path)


def test_every_damaged_file_is_told(dataset: Path) -> None:
    for name in fmt.FILES[:4]:
        (dataset / name).write_bytes(b"")
    assert [Path(each.path).name for each in examine(dataset).damages] == sorted(fmt.FILES[:4])
    assert len(examine(dataset, limit=2).damages) == 2
    assert examine(dataset, limit=2) != Report(())


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """Run as nobody, whom permissions bind, where the tests run as root."""
    if os.name != "posix" or os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def shown(whole: Path) -> Iterator[Path]:
    """A copy that anybody may read, outside the private folders of the tests."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        copy = shutil.copytree(whole, Path(folder) / "dataset")
        copy.chmod(0o755)
        for path in copy.iterdir():
            path.chmod(0o644)
        yield copy


@pytest.mark.parametrize("name", FILES)
def test_permission_denied(
    shown: Path, probe: Probe, name: str, request: pytest.FixtureRequest
) -> None:
    (shown / name).chmod(0)
    request.getfixturevalue("unprivileged")
    assert "ermission" in str(found(shown, name))
    probe.survey(shown)


def test_permission_to_the_folder_denied(shown: Path, request: pytest.FixtureRequest) -> None:
    shown.chmod(0)
    request.getfixturevalue("unprivileged")
    with pytest.raises(DatasetError):
        verify(shown)
