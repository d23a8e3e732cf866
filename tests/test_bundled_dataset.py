"""The bundled dataset is what the recipe in sample_data compiles to, byte for byte."""

from __future__ import annotations

import filecmp
from pathlib import Path

import pyarrow as pa
import pytest

import geolookup
from sample_data import make
from tests.conftest import ROOT
from tests.internals.builder import Options, compile_recipe, load
from tests.internals.dataset import read_manifest
from tests.internals.progress import Progress
from tests.internals.store import BUNDLED

#: The Arrow that wrote the committed files. Another lays the same content out its own way;
#: the generation (over the content) must then agree.
LOCKED_PYARROW = "26.0.1"


@pytest.mark.long
def test_generation_and_bytes_are_the_same(tmp_path: Path) -> None:
    recipe, output = ROOT / "sample_data" / "recipe.toml", tmp_path / "world"
    report, _ = compile_recipe(load(recipe), output, Options(max_rejected=0), Progress())
    assert read_manifest(output).generation == geolookup.verify(BUNDLED).generation
    names = sorted(path.name for path in Path(BUNDLED).iterdir())
    assert sorted(path.name for path in output.iterdir()) == names
    if pa.__version__ == LOCKED_PYARROW:
        assert filecmp.cmpfiles(output, BUNDLED, names, shallow=False) == (names, [], [])
    # One country code is no longer assigned (AN); nothing else is invalid.
    assert not any(source.rejected for source in report.sources)
    assert [dict(source.nulled) for source in report.sources if source.nulled] == [
        {"country_code": 1}
    ]


def test_the_package_has_the_rows_of_the_recipe() -> None:
    for name in make.ROWS:
        assert (make.PACKAGED / name).read_bytes() == (make.FOLDER / name).read_bytes()


def test_addresses_of_national_registries_are_in_their_country() -> None:
    """Whois has the seat of the registry for them: APNIC's, and AFRINIC's for America."""
    expected = {
        "2001:200::1": "JP",  # WIDE
        "2001:44d0::1": "KR",
        "2001:da8::1": "CN",  # CERNET2
        "2001:ee0::1": "VN",
        "2001:df0::1": "NZ",
        "154.5.0.1": "CA",
        # These are in Australia: APNIC itself, and a network of a university.
        "2001:dc0::1": "AU",
        "2001:388::1": "AU",
    }
    with geolookup.open(BUNDLED) as engine:
        actual = {ip: engine.get(ip, "location.country_code") for ip in expected}
    assert actual == expected
