"""The compiler verifies what it wrote before that gets its name."""

from __future__ import annotations

from pathlib import Path

import pytest
from geolookup_builder import write

from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import Manifest
from geolookup.integrity import verify
from tests.builder.building import unwritable
from tests.conftest import build_at
from tests.damage import CSV


def test_a_dataset_that_reads_back_otherwise_gets_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from a disk that changes a byte behind the compiler's back."""
    kept, report = build_at(tmp_path, {"a.csv": CSV})
    before = sorted(path.name for path in tmp_path.iterdir())
    written = write.write_manifest

    def then_changed(folder: Path, manifest: Manifest) -> None:
        written(folder, manifest)
        content = bytearray((folder / fmt.LOCATION).read_bytes())
        content[content.index(b"Dublin")] ^= 1
        (folder / fmt.LOCATION).write_bytes(content)

    monkeypatch.setattr(write, "write_manifest", then_changed)
    error = unwritable(tmp_path, {"a.csv": CSV})
    assert error.path == str(tmp_path / "dataset")
    assert "the written dataset is damaged: location.arrow: its digest" in str(error)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert verify(kept, deep=True).generation == report.generation
