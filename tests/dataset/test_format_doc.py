"""docs/reference/format.md: its tables name the parts of a dataset, its example runs."""

from __future__ import annotations

import ipaddress
import json
import re
import runpy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from tests.conftest import ROOT, build_at
from tests.internals.contract import STATED, fields
from tests.internals.dataset import canonical
from tests.internals.dataset import layout as fmt
from tests.own_sources import own_dataset

TEXT = (ROOT / "docs" / "reference" / "format.md").read_text(encoding="utf-8")
CSV = """\
network,country_code,region_code,city_name,postal_code,latitude,longitude,time_zone,asn,isp
1.1.1.0/24,AU,QLD,South Brisbane,4101,-27.4767,153.017,Australia/Brisbane,13335,Cloudflare
8.8.8.0/24,US,CA,Mountain View,94043,37.4224,-122.0842,America/Los_Angeles,15169,Google
8.8.4.0/24,US,CA,Mountain View,94043,37.4224,-122.0842,America/Los_Angeles,,"Goo ""gle"", Inc."
9.9.0.0/16,CH,,Zürich,,,,,19281,
200.0.0.0/8,,,,,,,,64500,Nowhere
2001:4860::/32,US,CA,Mountain View,94043,37.4224,-122.0842,America/Los_Angeles,15169,Google
2620:fe::/48,CH,,Zürich,,,,,19281,
"""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # More than one entry of the sparse index, and low halves that differ within one high half.
    rows = [f"2a00::{at:x}00/120,NL,,Place {at},,,,,{at},\n" for at in range(1, 200)]
    rows += [f"2a00:{at:x}::/32,NL,,Place {at},,,,,{at},\n" for at in range(1, 200)]
    return build_at(tmp_path_factory.mktemp("format"), {"ranges.csv": CSV + "".join(rows)})[0]


def rows_under(heading: str) -> list[list[str]]:
    """The body rows of the first table under a heading, as cells."""
    section = re.split(rf"(?m)^#+ {re.escape(heading)}$", TEXT)[1]
    table = re.split(r"\n\n", section[section.index("\n|") + 1 :])[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")[2:]]


def columns_under(heading: str) -> list[tuple[str, str]]:
    """The names and types of the columns in the block under a heading."""
    section = re.split(rf"(?m)^### {re.escape(heading)}$", TEXT)[1]
    block = section.partition("```text\n")[2].partition("```")[0]
    return re.findall(r"(?m)^(\w+): (\S+)(?: |$)", block)


def named(cell: str) -> list[str]:
    return re.findall(r"`([^`]*)`", cell)


def in_words(kind: pa.DataType) -> str:
    """An Arrow type in the document's words, independent of Arrow's version."""
    if pa.types.is_dictionary(kind):
        assert kind.index_type in (pa.int8(), pa.int16(), pa.int32())
        return f"dictionary<{kind.value_type}>"
    return f"list<{kind.value_type}>" if pa.types.is_list(kind) else str(kind)


def test_columns_are_those_of_the_files(dataset: Path) -> None:
    files = [named(row[0])[0] for row in rows_under("Dataset format")]
    assert files == [*fmt.ANSWERING, fmt.OWN, *fmt.PROVENANCE.values()]
    assert {*fmt.FILES, fmt.MANIFEST} == {path.name for path in dataset.iterdir()}
    for file in fmt.FILES:
        with pa.ipc.open_file(dataset / file) as reader:
            schema = reader.schema
            assert reader.num_record_batches == 1
        if file in fmt.PROVENANCE.values():
            family = fmt.IPV6 if file == fmt.PROVENANCE[6] else fmt.IPV4
            starts = [entry for entry in columns_under(family) if entry[0].startswith("start")]
            layers = columns_under(fmt.PROVENANCE[4])[1:]
            # Layers that nobody decides are left out.
            listed = starts + [entry for entry in layers if entry[0] in schema.names]
        else:
            listed = columns_under(file)
        assert listed == [(column.name, in_words(column.type)) for column in schema], file


def test_provenance_is_by_layer_and_position_of_the_source(dataset: Path) -> None:
    assert list(fields.LAYERS) == list(STATED)
    assert [name for name, _ in columns_under(fmt.PROVENANCE[4])[1:]] == list(STATED)
    with pa.ipc.open_file(dataset / fmt.PROVENANCE[4]) as reader:
        rows = reader.read_all().to_pylist()
    at = {str(ipaddress.ip_address(row["start"])): row for row in rows}
    names = ("location", "asn", "isp")
    assert [at["8.8.8.0"][name] for name in names] == [1, 1, 1]
    assert [at["9.9.0.0"][name] for name in names] == [1, 1, 0]
    assert [at["9.10.0.0"][name] for name in names] == [0, 0, 0]
    assert set(rows[0]) == {"start", *names}  # nobody decides the other layers


def test_json_columns_hold_the_fields_in_the_order_of_the_columns() -> None:
    for table in (fields.LOCATION, fields.NETWORK, fields.COUNTRY):
        listed = [name for name, _ in columns_under(fmt.TABLES[table])]
        in_order = [field.column for field in fields.in_table(table)]
        assert listed[-1 - len(in_order) :] == [*in_order, "json"]


def test_manifest_has_the_keys_listed(dataset: Path) -> None:
    text = (dataset / fmt.MANIFEST).read_bytes()
    manifest = json.loads(text)
    listed = {named(row[0])[0]: row[1] for row in rows_under("The manifest")}
    assert set(listed) == set(manifest)
    assert text == canonical(manifest)
    assert named(listed["format"]) == [f'"{fmt.FORMAT}"']
    assert listed["format_version"] == str(fmt.FORMAT_VERSION)
    assert set(named(listed["counts"])) == set(manifest["counts"])
    assert set(named(listed["coverage"])) == {*manifest["coverage"], "ipv4", "ipv6"}
    assert all(set(named(listed["files"])) == set(file) for file in manifest["files"].values())
    assert all(set(source) < set(named(listed["sources"])) for source in manifest["sources"])
    assert all(set(credit) == set(named(listed["credits"])) for credit in manifest["credits"])


def test_own_columns_as_the_page_states_them() -> None:
    dataset = own_dataset()
    listed = {named(row[0])[0]: row[1] for row in rows_under(fmt.OWN) if "`" in row[0]}
    with pa.ipc.open_file(dataset / fmt.OWN) as reader:
        schema = reader.schema
    own = [
        column["name"] for column in json.loads((dataset / fmt.MANIFEST).read_bytes())["columns"]
    ]
    assert schema.names == [*own, *listed]
    types = {in_words(schema.field(name).type) for name in own}
    assert types == {*named(rows_under(fmt.OWN)[0][1])}
    for family in (fmt.IPV4, fmt.IPV6):
        with pa.ipc.open_file(dataset / family) as reader:
            assert reader.schema.names[-1] == "own"


def test_lookup_by_hand_agrees_with_the_engine(dataset: Path) -> None:
    by_hand = runpy.run_path(str(ROOT / "docs" / "reference" / "read_dataset.py"))["Dataset"](
        dataset
    )
    addresses = ["8.8.8.8", "8.8.4.4", "9.9.255.255", "9.10.0.0", "200.1.2.3", "223.255.255.255"]
    addresses += ["2620:fe::fe", "2a00::7f12", "2a00::ffff:0:1", "2a00:80::1", "2fff::", "4000::"]
    with geolookup.open(dataset) as engine:
        for text in addresses:
            country, location, network = by_hand.answer(text)
            data: Any = engine.lookup(text)["data"]
            assert [*country[:-3], *location] == list(data["location"].values())
            assert country[-3:] == list(data["currency"].values())
            known = data["network"]
            assert network == [known.get(name) for name in fields.NETWORK_MEMBERS]
