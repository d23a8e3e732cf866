"""The row codec: what the compiler writes a column at a time, the runtime reads a row at a time."""

from __future__ import annotations

import pyarrow as pa
import pytest
from geolookup_builder.fragments import json_columns, json_texts, plain_texts

from geolookup.contract import fields
from geolookup.dataset import layout as fmt
from geolookup.dataset import rows
from geolookup.dataset.crc32c import crc32c
from geolookup.errors import DatasetError

TEXTS = ["Zürich", 'a "quoted"\nline', "back\\slash", "\x01\x7f\u2028", None]

_EXAMPLES = {
    fields.TEXT: "text",
    fields.TEXTS: ["de", "fr"],
    "double": 0.44,
    "int64": (1 << 63) - 1,
    "bool": False,
}


def written(columns: list[pa.Array], table: str) -> rows.Texts:
    """Write rows as the compiler does; return them as an open dataset has them."""
    made = json_columns(columns)
    _, offsets, data = made["json"].buffers()
    sums = memoryview(made[fmt.CHECKSUMS].to_numpy())
    return rows.Texts("x", memoryview(offsets).cast("i"), memoryview(data), sums, rows.KINDS[table])


def test_rows_read_back_as_written() -> None:
    text = json_texts(pa.array(TEXTS))
    number = json_texts(pa.array([0.0, -33.8688, 1e-7, 90.0, None]))
    names = [text, text, text, text, number, number, text]
    found = written(names, fields.LOCATION)
    for at, known in enumerate(TEXTS):
        place = rows.place(found[at])
        assert tuple(place) == fields.PLACE_MEMBERS
        assert place["city_name"] == known
    assert [rows.place(row)["latitude"] for row in (found[1], found[3], found[4])] == [
        -33.8688,
        90,
        None,
    ]


def test_an_absent_value_is_left_out() -> None:
    asn = json_texts(pa.array([15169, None], pa.uint32()), rows.ABSENT)
    others = [plain_texts([None, "x"]) for _ in fields.NETWORK_MEMBERS[1:]]
    found = written([asn, *others], fields.NETWORK)
    assert rows.network(found[0]) == dict.fromkeys(fields.NETWORK_MEMBERS) | {"asn": 15169}
    assert rows.network(found[1]) == dict.fromkeys(fields.NETWORK_MEMBERS[1:], "x")


def test_a_countrys_row_holds_its_currency() -> None:
    values = {each.path: _EXAMPLES[each.type] for each in fields.in_table(fields.COUNTRY)}
    texts = [plain_texts([value]) for value in values.values()]
    row = rows.split(written(texts, fields.COUNTRY)[0])
    country, currency = rows.country(row), rows.currency(row)
    assert tuple(country) == fields.LOCATION_MEMBERS
    assert {f"location.{name}" for name, value in country.items() if value is None} == {
        f"location.{name}" for name in fields.PLACE_MEMBERS
    }
    known = {f"location.{name}": value for name, value in country.items() if value is not None}
    known |= {f"currency.{name}": value for name, value in currency.items()}
    assert known == values


#: By what is wrong, the texts of a row of two members.
DAMAGED = {
    "a member more": b'"a"\n"b"\n"c"',
    "a member less": b'"a"',
    "two values in one member": b'"a",1\n"b"',
    "not JSON": b'"a"\n"b',
    "not UTF-8": b'"a"\n"\xff"',
    "nested too deeply": b'"a"\n' + b"[" * 100_000,
}


def test_a_row_that_is_not_of_the_table_is_damaged() -> None:
    for why, row in DAMAGED.items():
        offsets = memoryview(pa.array([0, len(row)], pa.int32()).buffers()[1]).cast("i")
        sums = memoryview(pa.array([crc32c(row)], pa.uint32()).buffers()[1]).cast("I")
        texts = rows.Texts("x", offsets, memoryview(row), sums, rows.KINDS["network"][1:3])
        with pytest.raises(DatasetError, match="row 0 is damaged"):
            raise AssertionError(f"{why}: {texts[0]!r}")


def test_a_wrong_checksum_is_found_once_read() -> None:
    kinds, text = rows.KINDS["network"][1:2], json_texts(pa.array(TEXTS))
    made = json_columns([text])
    _, offsets, data = (memoryview(each or b"") for each in made["json"].buffers())
    sums = memoryview(made[fmt.CHECKSUMS].to_numpy())
    found = rows.Texts("x", offsets.cast("i"), data, sums, kinds)
    damaged = rows.Texts("x", found.offsets, found.data, memoryview(bytes(20)).cast("I"), kinds)
    with pytest.raises(DatasetError, match="row 1 is damaged"):
        _ = damaged[1]
    with pytest.raises(DatasetError, match="there is no row 5"):
        _ = found[5]
