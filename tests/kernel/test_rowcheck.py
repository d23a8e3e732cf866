"""The compiled check of rows beside ``dataset.rows``: both accept a text of the scan.

The scan leaves all other texts to ``dataset.rows``. So it may refuse anything, but must accept the
usual texts of compilers, or a first read is slow.
"""

from __future__ import annotations

import json
import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.datasets import SMALL
from tests.fuzz.kernels import as_defined, certain
from tests.fuzz.target import scrambled
from tests.internals.contract import fields
from tests.internals.dataset import Dataset, rows
from tests.kernel.modules import needs_compiled
from tests.tiers import scaled

_LATITUDE = rows.Kind(rows.NUMBER, rows.UNKNOWN, -90, 90)
_BETWEEN_LONG_NUMBERS = rows.Kind(rows.NUMBER, rows.UNKNOWN, -1.2345678901234567, 55.75396728515625)
_AREA = rows.Kind(rows.NUMBER, rows.UNKNOWN, 0.0, 1.7e308)
_ASN = rows.Kind(rows.WHOLE, rows.ABSENT, 1, (1 << 32) - 1)
_STRING, _STRINGS, _BOOL = map(rows.Kind, (rows.STRING, rows.STRINGS, rows.BOOL))

pytestmark = needs_compiled
RIGHT = [
    (_LATITUDE, ["0", "-90", "90", "48.137", "-0.1", "0.0001", "37.75100000000001", "null", "9.5"]),
    (_LATITUDE, ["33.33333333333333", "-1.2345678901234567", "55.75396728515625"]),
    (_BETWEEN_LONG_NUMBERS, ["-1.2345678901234567", "55.75396728515625"]),
    (_AREA, ["1234567.25", "999999999999999", "0.44"]),
    (_ASN, ["1", "15169", "4294967295", ""]),
    (_STRING, ['"a"', '"Zürich"', '"東京"', '"😀"', '"\x7f"', '"\u2028"', "null"]),
    (_STRINGS, ["[]", '["de"]', '["de","fr-CH"]', "null"]),
    (_BOOL, ["true", "false", "null"]),
]
WRONG = [
    (_LATITUDE, ["", "-0", "00", "01", "1.", ".5", "1.50", "-", "+1", "1e1", "1E1", "90.1", "-91"]),
    (_LATITUDE, ["0.00001", "0.10000000000000001", "NaN", "nan", "inf", "1_0", " 1", "1 ", "٣"]),
    (_LATITUDE, ["12.345678901234567\0", '12.345678901234567\0,"x"', "1\0", "0.5\0"]),
    (_BETWEEN_LONG_NUMBERS, ["-1.2345678901234569", "55.753967285156257"]),
    (_AREA, ["-1", "1e400", "123456789012345678.0", "1e16", "1.2345678901234567E+300"]),
    (_ASN, ["0", "null", "4294967296", "01", "-1", "1.0", "99999999999999999999"]),
    (_STRING, ['""', '"', '"a', 'a"', '"a"b"', '"\x1f"', '"\\u0061"', '"\ud800"', "1", ""]),
    (_STRINGS, ["[", "]", '["a"', '["a",]', '["a" ,"b"]', '[""]', "[1]", '[["a"]]', '["a"]]']),
    (_BOOL, ["True", "1", "truefalse", ""]),
]


def cases(listed: list[tuple[rows.Kind, list[str]]]) -> list[tuple[rows.Kind, bytes]]:
    return [(kind, text.encode("utf-8", "surrogatepass")) for kind, all_ in listed for text in all_]


def test_what_is_right_is_accepted() -> None:
    for kind, text in cases(RIGHT):
        assert as_defined((kind,), text), text
        assert certain((kind,), text), text
        assert certain((kind, kind), text + b"\n" + text), text
        assert not certain((kind, kind), text), text
        assert not certain((kind,), text + b"\n" + text), text
        assert not certain((kind,), text + b"\n"), text


def test_what_is_wrong_is_not() -> None:
    for kind, text in cases(WRONG):
        assert not as_defined((kind,), text), text
        assert not certain((kind,), text), text


@given(
    st.floats(allow_nan=False) | st.floats(-200, 200) | st.decimals(-99, 99, places=7).map(float)
)
def test_numbers(value: float) -> None:
    text = rows.number_text(value).encode()
    for kind in (_LATITUDE, _AREA):
        assert as_defined((kind,), text) == (kind.least <= value <= kind.most)
        assert as_defined((kind,), text) or not certain((kind,), text)
        if kind.least <= value <= kind.most and 1e-4 <= abs(value) < 1e14:
            assert certain((kind,), text)


@given(st.text(min_size=1))
def test_strings(value: str) -> None:
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    is_text = not any(0xD800 <= ord(item) < 0xE000 for item in value)
    assert as_defined((_STRING,), text) == is_text
    assert certain((_STRING,), text) == (is_text and b"\\" not in text)


def test_numbers_near_to_shortest_ones() -> None:
    rng = random.Random(1)
    for _ in range(scaled(3_000, 300_000)):
        value = rng.choice((rng.uniform(-99, 99), struct.unpack("d", rng.randbytes(8))[0]))
        text = f"{value:.{rng.randint(0, 18)}f}" if rng.random() < 0.5 else repr(value)
        for kind in (_LATITUDE, _AREA):
            row = text.encode()
            assert as_defined((kind,), row) or not certain((kind,), row), text


@pytest.mark.parametrize("table", list(rows.KINDS))
def test_rows_of_a_dataset_and_rows_near_to_them(table: str) -> None:
    rng, dataset, kinds = random.Random(table), Dataset(SMALL), rows.KINDS[table]
    texts = {
        fields.LOCATION: dataset.locations,
        fields.NETWORK: dataset.networks,
        fields.COUNTRY: dataset.countries,
    }[table]
    stored = [texts[row] for row in range(min(len(texts), scaled(200, 2_000)))]
    for row in stored:
        assert certain(kinds, row) or b"\\" in row
    for _ in range(scaled(2_000, 100_000)):
        row = scrambled(rng.choice(stored), rng)
        assert as_defined(kinds, row) or not certain(kinds, row), row
