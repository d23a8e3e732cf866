"""Each column that MaxMind's formats offer, with a value from a file as the vendor writes it."""

from __future__ import annotations

from pathlib import Path

from geolookup_builder.sources import FORMATS
from geolookup_builder.vendor_columns import COLUMNS, offered_column, with_language

from geolookup.contract.schema import TYPES, own_field
from tests.builder.sources.own.cases import CASES
from tests.builder.sources.own.deliveries import delivered
from tests.skips import needs

pytestmark = needs("maxminddb")


def test_the_table() -> None:
    names = [column.name for column in COLUMNS]
    assert len(set(names)) == len(names)
    for column in COLUMNS:
        own_field(column.name.replace("LANG", "de"), column.type)  # no name of the contract
        assert column.type in TYPES
        assert len(column.meaning.split()) <= 12, column
    offered = {name for source_format in FORMATS.values() for name in source_format.offers}
    assert offered == set(names)
    assert with_language("city_name_pt_br") == ("city_name_LANG", "pt-BR")
    assert with_language("region_name_zh_hans") == ("region_name_LANG", "zh-Hans")
    for name in ("city_name", "city_name_", "name_de", "city_name_deu", "subdivision_2_name_de"):
        assert with_language(name) == (name, "")
        assert offered_column(name) is None


def test_every_column_of_every_format(tmp_path: Path) -> None:
    tested: dict[str, set[str]] = {case.format: set() for case in CASES}
    for at, case in enumerate(CASES):
        folder = tmp_path / str(at)
        folder.mkdir()
        known = delivered(folder, case.files, case.format, case.path)
        assert known == case.known, (case.format, case.files)
        for names in case.known.values():
            tested[case.format] |= {with_language(name)[0] for name in names}
    for name, columns in tested.items():
        assert columns == FORMATS[name].offers, name
