"""The bundled dataset is what the recipe in sample_data compiles to, byte for byte."""

from __future__ import annotations

import csv
import filecmp
import io
from bisect import bisect_right
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from geolookup_builder.build_report import BuildReport
from geolookup_builder.compile import compile_dataset
from geolookup_builder.overlaid_sources import Options

import geolookup
from geolookup.dataset.manifest import read_manifest
from geolookup.progress import Progress
from geolookup.store.paths import BUNDLED
from sample_data import make
from tests.conftest import ROOT
from tests.oracle import COUNTRIES
from tests.tables import real_columns
from tests.tables.real_columns import text_of
from tests.test_real_data import integer, swept

#: The Arrow that wrote the committed files. Another lays the same content out its own way;
#: the generation (over the content) must then agree.
LOCKED_PYARROW = "26.0.1"


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BuildReport]:
    output = tmp_path_factory.mktemp("bundled") / "world"
    recipe = ROOT / "sample_data" / "recipe.toml"
    return output, compile_dataset(recipe, output, Options(max_rejects=0), Progress())


def test_generation_and_bytes_are_the_same(rebuilt: tuple[Path, BuildReport]) -> None:
    assert read_manifest(rebuilt[0]).generation == geolookup.verify(BUNDLED).generation
    names = sorted(path.name for path in Path(BUNDLED).iterdir())
    assert sorted(path.name for path in rebuilt[0].iterdir()) == names
    if pa.__version__ == LOCKED_PYARROW:
        assert filecmp.cmpfiles(rebuilt[0], BUNDLED, names, shallow=False) == (names, [], [])
    # One country code is no longer assigned (AN); nothing else is invalid.
    sources = rebuilt[1].sources
    assert not any(source.rejected for source in sources)
    assert [dict(source.nulled) for source in sources if source.nulled] == [{"country_code": 1}]


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


def publisher(name: str, family: int) -> tuple[list[real_columns.Range], list[str]]:
    """The ranges of a publisher's file, and the first cell after each."""
    path = make.FOLDER / "world" / f"{name}.csv.zst"
    with pa.input_stream(path, compression="zstd") as stream:
        rows = csv.reader(io.StringIO(stream.read().decode(), newline=""))
        result = list(rows)
    ranges = [(integer(row[0]), integer(row[1]), family) for row in result]
    return ranges, [row[2] for row in result]


def collected(name: str, field: str) -> Any:
    """A trie of the prefixes of a file that was collected by hand, with the cell of a field."""
    pytricia = pytest.importorskip("pytricia", reason="the longest-prefix oracle is pytricia")
    trie = {4: pytricia.PyTricia(32), 6: pytricia.PyTricia(128)}
    with (make.FOLDER / f"{name}.csv").open(encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            trie[ip_network(row["network"]).version][row["network"]] = row[field]
    return trie


@pytest.mark.long
@pytest.mark.parametrize("path", ["location.country_code", "network.asn"])
def test_columns_are_what_the_sources_say(path: str) -> None:
    """Places come before the publisher's countries, its AS before the networks' AS."""
    is_country = path == "location.country_code"
    name = "country" if is_country else "asn"
    rows = {of: publisher(f"{name}-ipv{of}", of) for of in (4, 6)}
    deciding = {of: swept(ranges) for of, (ranges, _) in rows.items()}
    first, field = ("places", "country_code") if is_country else ("networks", "asn")
    trie = collected(first, field)

    def published(of: int, value: int) -> str | None:
        starts, owners = deciding[of]
        owner = owners[bisect_right(starts, value) - 1]
        actual = None if owner is None else rows[of][1][owner]
        return None if actual == "0" or (is_country and actual not in COUNTRIES) else actual

    def oracle(of: int, value: int) -> str | int | None:
        by_hand = trie[of].get(text_of(of, value)) or None
        if is_country:
            return by_hand or published(of, value)
        number = published(of, value) or by_hand
        return None if number is None else int(number)

    with geolookup.open(BUNDLED) as engine:
        for family, (ranges, _) in rows.items():
            real_columns.check(engine, ranges, family, 60_000, oracle, path)
