"""The files of a dataset beside Arrow and json: offsets, digests, fragments, jump table.

Strategy: everything that the runtime reads without Arrow is compared with what Arrow and the
standard library read of the same files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import strategies as st

from geolookup.errors import BuildError
from tests.conftest import build_at
from tests.corrupt.forging import manifest
from tests.internals.builder import json_texts, row_texts
from tests.internals.contract import fields
from tests.internals.dataset import SEPARATOR, canonical, crc32c, jump_table
from tests.internals.dataset import layout as fmt

TEXT = "network,country_code,city_name,latitude,longitude,asn,isp,user_type\n" + "".join(
    f"8.{n}.0.0/{16 + n % 8},{('US', 'SE', '')[n % 3]},Ö {n % 7},{n / 7},{-n / 3},{n % 5},"
    f"{'x' * n * 9},{'hosting' if n % 2 else ''}\n"
    f"2a00:{n:x}::/{32 + n % 9},CY,,,,{n},,\n"
    for n in range(100)
)
TABLES = {
    fmt.LOCATION: fields.PLACE_MEMBERS,
    fmt.NETWORK: fields.NETWORK_MEMBERS,
    fmt.COUNTRY: (
        *fields.COUNTRY_MEMBERS,
        *(f"currency_{name}" for name in fields.CURRENCY_MEMBERS),
    ),
}


@pytest.fixture(scope="module", params=["full", "empty"])
def dataset(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of some hundred intervals, and one of none."""
    text = TEXT if request.param == "full" else "network,isp\n"
    return build_at(tmp_path_factory.mktemp("files"), {"a.csv": text})[0]


def table(dataset: Path, name: str) -> pa.Table:
    with pa.ipc.open_file(dataset / name) as reader:
        assert reader.num_record_batches == 1
        return reader.read_all()


def described(column: dict[str, Any], array: pa.Array) -> Iterator[tuple[Any, pa.Buffer]]:
    """Each buffer as the manifest has it, beside the buffer that Arrow reads."""
    own = array.buffers() if not pa.types.is_dictionary(array.type) else array.indices.buffers()
    yield from zip(column["buffers"], own, strict=True)
    if pa.types.is_dictionary(array.type):
        assert column["dictionary"]["length"] == len(array.dictionary)
        yield from described(column["dictionary"], array.dictionary)


def _lies(content: bytes, position: Any, buffer: pa.Buffer | None) -> None:
    if buffer is None:
        assert position is None
        return
    offset, size = position
    assert offset % 8 == 0
    assert 0 <= offset <= len(content) - size
    assert content[offset : offset + size] == buffer.to_pybytes()


def test_the_manifest_is_canonical_and_says_where_each_buffer_lies(dataset: Path) -> None:
    document = manifest(dataset)
    assert (dataset / fmt.MANIFEST).read_bytes() == canonical(document)
    assert set(document["files"]) == set(fmt.FILES)
    counts = {name: table(dataset, name).num_rows for name in fmt.FILES}
    assert document["counts"] == {
        "ipv4_intervals": counts[fmt.IPV4],
        "ipv6_intervals": counts[fmt.IPV6],
        "locations": counts[fmt.LOCATION] - 1,
        "networks": counts[fmt.NETWORK] - 1,
        "countries": counts[fmt.COUNTRY] - 1,
        "zones": counts[fmt.ZONE] - 1,
    }
    for name, says in manifest(dataset)["files"].items():
        content = (dataset / name).read_bytes()
        assert says["bytes"] == len(content), name
        assert says["sha256"] == hashlib.sha256(content).hexdigest(), name
        rows = table(dataset, name)
        assert says["rows"] == rows.num_rows, name
        assert list(says["columns"]) == sorted(rows.column_names), name
        for column in rows.column_names:
            array = rows[column].chunk(0)
            assert says["columns"][column]["type"] == str(array.type)
            for position, buffer in described(says["columns"][column], array):
                _lies(content, position, buffer)


def test_fragments_equal_the_typed_columns(dataset: Path) -> None:
    """An unknown asn has no text; everything else is the JSON of its value. Row 0 is unknown."""
    for name, members in TABLES.items():
        rows = table(dataset, name).to_pylist()
        assert {rows[0][member] for member in members} == {None}
        for row in rows:
            assert row[fmt.CHECKSUMS] == crc32c(row["json"].encode())
            texts = row["json"].split(SEPARATOR)
            for member, text in zip(members, texts, strict=True):
                value = row[member]
                if member == "asn" and value is None:
                    assert text == ""
                    continue
                assert json.loads(text) == value
                plain = int(value) if isinstance(value, float) and value.is_integer() else value
                assert text == json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    assert table(dataset, fmt.ZONE)["zone"][0].as_py() is None


def test_intervals_ascend_and_each_row_is_used_once(dataset: Path) -> None:
    ipv4, ipv6 = table(dataset, fmt.IPV4), table(dataset, fmt.IPV6)
    for column, name in (("location", fmt.LOCATION), ("network", fmt.NETWORK)):
        used = {0, *ipv4[column].to_pylist(), *ipv6[column].to_pylist()}
        assert used == set(range(table(dataset, name).num_rows))
        columns = [item for item in table(dataset, name).column_names if "json" not in item]
        rows = [tuple(row.values()) for row in table(dataset, name).select(columns).to_pylist()]
        assert len(set(rows)) == len(rows)
    ipv6 = table(dataset, fmt.IPV6)
    halves = zip(ipv6["start_high"].to_pylist(), ipv6["start_low"].to_pylist(), strict=True)
    starts = {fmt.IPV4: table(dataset, fmt.IPV4)["start"].to_pylist(), fmt.IPV6: list(halves)}
    for name, values in starts.items():
        assert values[0] in (0, (0, 0))
        assert values == sorted(set(values))
        rows = table(dataset, name).select(["location", "network"]).to_pylist()
        assert all(one != other for one, other in pairwise(rows))
    sparse = table(dataset, fmt.IPV6_SPARSE_INDEX)["start_high"].to_pylist()
    assert sparse == ipv6["start_high"].to_pylist()[:: fmt.SPARSE_STRIDE]


def test_jump_table(dataset: Path) -> None:
    """Entry b is the interval that the first address of bucket b lies in; one more is the last."""
    for count in (1, 2, 255, 256, 257, 5000, 70_000):
        rng = np.random.default_rng(count)
        starts = np.unique(np.append(rng.integers(0, 1 << 32, count - 1, np.uint32), np.uint32(0)))
        result = jump_table(starts)
        bits = min(max(len(starts).bit_length() - 3, 8), 20)
        assert len(result) == (1 << bits) + 1
        assert result[-1] == len(starts) - 1
        for bucket in rng.integers(0, 1 << bits, 300).tolist():
            first, last = bucket << 32 - bits, (bucket + 1 << 32 - bits) - 1
            for address in (first, last, int(rng.integers(first, last + 1))):
                interval = int((starts <= address).sum()) - 1
                assert result[bucket] <= interval <= result[bucket + 1]
            assert result[bucket] == int((starts <= first).sum()) - 1
    starts = table(dataset, fmt.IPV4)["start"].to_numpy()
    assert np.array_equal(table(dataset, fmt.IPV4_JUMP)["interval"].to_numpy(), jump_table(starts))


texts = st.lists(st.none() | st.text(), min_size=1)


def test_rows_are_joined_by_line_feeds_up_to_2_gib(monkeypatch: pytest.MonkeyPatch) -> None:
    one = json_texts(pa.array(["a\nb", None], pa.string()))
    assert row_texts([one, json_texts(pa.array([1, 2]))]).to_pylist() == ['"a\\nb"\n1', "null\n2"]
    monkeypatch.setattr(pc, "binary_join_element_wise", lambda *texts: len(texts))
    column = pa.array(["x" * (1 << 20)], pa.string())
    assert row_texts([column] * 2047) == 2048
    with pytest.raises(BuildError, match="more than 2 GiB"):
        row_texts([column] * 2048)
