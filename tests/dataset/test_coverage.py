"""Known addresses by field, against a count over all networks."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

import geolookup
from geolookup.contract.fields import FIELDS
from geolookup.dataset.coverage import Known, known_addresses
from tests.conftest import Build
from tests.datasets import SMALL
from tests.tiers import scaled

STORED = [field.path for field in FIELDS if field.table]
IN_RECORDS = [path for path in STORED if path != "time.zone"]  # a record has no time object
PUBLIC_IPV4 = 3_702_258_689


def counted(engine: geolookup.Engine) -> dict[str, dict[str, int]]:
    found = {family: dict.fromkeys(["any", *IN_RECORDS], 0) for family in ("ipv4", "ipv6")}
    for network, record in engine.networks():
        of_family, size = found[f"ipv{network.version}"], network.num_addresses
        of_family["any"] += size
        for path in IN_RECORDS:
            group, _, member = path.partition(".")
            of_family[path] += size * (record[group].get(member) is not None)
    return found


def test_counts_are_those_of_all_networks(sample: geolookup.Engine) -> None:
    known, wanted = known_addresses(SMALL), counted(sample)
    assert known["ipv4"].of == PUBLIC_IPV4
    assert known["ipv6"].of == wanted["ipv6"]["any"]
    for family, each in known.items():
        assert list(each.with_value) == STORED
        for path in IN_RECORDS:
            assert each.with_value[path] == wanted[family][path], (family, path)


def test_zones_are_known_where_answers_have_one(build: Build) -> None:
    rows = "8.8.8.0/24,US,America/Denver\n9.0.0.0/8,US,\n2001:4860::/32,FR,Europe/Paris\n"
    dataset, _ = build({"a.csv": "network,country_code,time_zone\n" + rows})
    known = known_addresses(dataset)
    assert known["ipv4"].with_value["time.zone"] == 256
    assert known["ipv4"].with_value["location.country_code"] == 256 + 2**24
    assert known["ipv6"] == Known(2**96, known["ipv6"].with_value)
    assert known["ipv6"].share("time.zone") == 1


def test_nothing_is_known_of_an_empty_dataset(build: Build) -> None:
    known = known_addresses(build({"a.csv": "network,country_code\n"})[0])
    assert {share for each in known.values() for share in map(each.share, STORED)} == {0}


@pytest.mark.parametrize("place", range(2, 1200, scaled(33, 1)))
def test_a_flipped_byte_of_a_schema_is_a_dataset_error_or_none(place: int, tmp_path: Path) -> None:
    copy = shutil.copytree(SMALL, tmp_path / "copy")
    data = bytearray((copy / "ipv6.arrow").read_bytes())
    data[place] ^= 0xFF
    (copy / "ipv6.arrow").write_bytes(data)
    with suppress(geolookup.DatasetError):
        known_addresses(copy)


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.string()], ids=str)
def test_a_column_of_another_type_is_a_dataset_error(kind: pa.DataType, tmp_path: Path) -> None:
    copy = shutil.copytree(SMALL, tmp_path / "copy")
    with pa.memory_map(str(SMALL / "ipv4.arrow")) as source:
        table = pa.ipc.open_file(source).read_all()
    column = pa.array([0] * len(table)).cast(kind)
    with pa.ipc.new_file(copy / "ipv4.arrow", table.set_column(0, "start", column).schema) as sink:
        sink.write_table(table.set_column(0, "start", column).combine_chunks())
    with pytest.raises(geolookup.DatasetError, match="damaged"):
        known_addresses(copy)


@pytest.mark.parametrize("name", ["ipv4.arrow", "location.arrow", "country.arrow"])
def test_a_damaged_file_is_a_dataset_error(name: str, tmp_path: Path) -> None:
    copy = shutil.copytree(SMALL, tmp_path / "copy")
    (copy / name).write_bytes(b"nonsense")
    with pytest.raises(geolookup.DatasetError, match="damaged"):
        known_addresses(copy)
