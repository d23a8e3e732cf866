"""The bundled dataset is what the recipe in sample_data compiles to, byte for byte."""

from __future__ import annotations

import filecmp
import random
from collections import Counter
from ipaddress import IPv4Address
from pathlib import Path

import pyarrow as pa
import pytest
from geolookup_builder.compile import Options, compile_dataset
from geolookup_builder.report import BuildReport

import geolookup
from geolookup.dataset.manifest import read_manifest
from geolookup.engine import BUNDLED
from geolookup.progress import Progress
from sample_data import make
from tests.conftest import ROOT

#: The Arrow that wrote the committed files. Another lays the same content out its own way;
#: the generation, which is over the content, is then what has to agree.
LOCKED_PYARROW = "26.0.1"


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BuildReport]:
    output = tmp_path_factory.mktemp("bundled") / "world"
    recipe = ROOT / "sample_data" / "recipe.toml"
    return output, compile_dataset(recipe, output, Options(max_rejects=0), Progress())


def test_generation_is_the_same(rebuilt: tuple[Path, BuildReport]) -> None:
    assert read_manifest(rebuilt[0]).generation == read_manifest(BUNDLED).generation


def test_bytes_are_the_same(rebuilt: tuple[Path, BuildReport]) -> None:
    names = sorted(path.name for path in Path(BUNDLED).iterdir())
    assert sorted(path.name for path in rebuilt[0].iterdir()) == names
    if pa.__version__ == LOCKED_PYARROW:
        assert filecmp.cmpfiles(rebuilt[0], BUNDLED, names, shallow=False) == (names, [], [])


def test_no_row_is_lost_without_a_count(rebuilt: tuple[Path, BuildReport]) -> None:
    """One country code is no longer assigned (AN); nothing else is invalid."""
    sources = rebuilt[1].sources
    assert not any(source.rejected for source in sources)
    assert [dict(source.nulled) for source in sources if source.nulled] == [{"country_code": 1}]


def test_nearly_every_address_is_known() -> None:
    generator, known, drawn = random.Random(7), Counter[str](), 0
    with geolookup.open(BUNDLED) as engine:
        while drawn < 1000:
            answer = engine.lookup(IPv4Address(generator.getrandbits(32)))["data"]
            if answer is not None:
                drawn += 1
                known["country"] += answer["location"]["country_name"] is not None
                known["currency"] += answer["currency"]["code"] is not None
                known["AS"] += "asn" in answer["network"]
    assert known["country"] >= 990
    assert known["currency"] >= 990
    assert known["AS"] >= 850


def test_packaged_rows_are_those_of_sample_data() -> None:
    for name in make.ROWS:
        assert (make.PACKAGED / name).read_bytes() == (make.FOLDER / name).read_bytes()


def test_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEOLOOKUP_DATASET")
    with geolookup.open() as engine:
        assert engine.path == Path(BUNDLED)
        assert engine.metadata.name == "geolookup-world"
