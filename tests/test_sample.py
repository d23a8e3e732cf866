"""The bundled dataset is what the recipe in sample_data compiles to, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from geolookup_builder.compile import Options, compile_dataset

import geolookup
from geolookup.dataset.manifest import read_manifest
from geolookup.progress import Progress
from tests.conftest import ROOT

#: The Arrow that wrote the committed files. Another lays the same content out its own way;
#: the generation, which is over the content, is then what has to agree.
LOCKED_PYARROW = "26.0.1"
SAMPLE = ROOT / "geolookup" / "sample"


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("sample") / "sample"
    recipe = ROOT / "sample_data" / "recipe.toml"
    report = compile_dataset(recipe, output, Options(max_rejects=0), Progress())
    assert not any(source.nulled for source in report.sources)
    return output


def test_generation_is_the_same(rebuilt: Path) -> None:
    assert read_manifest(rebuilt).generation == read_manifest(SAMPLE).generation


def test_bytes_are_the_same(rebuilt: Path) -> None:
    names = sorted(path.name for path in SAMPLE.iterdir())
    assert sorted(path.name for path in rebuilt.iterdir()) == names
    if pa.__version__ == LOCKED_PYARROW:
        for name in names:
            assert (rebuilt / name).read_bytes() == (SAMPLE / name).read_bytes(), name


def test_is_the_default() -> None:
    with geolookup.open() as engine:
        assert engine.path == SAMPLE
        assert engine.metadata.name == "geolookup-sample"
