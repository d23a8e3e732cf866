"""CRC-32C: the vectors of RFC 3720, and the forms of it beside each other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geolookup import kernel
from geolookup.dataset import crc32c as python
from geolookup.dataset.crc32c import crc32c

#: A SCSI Read (10) command PDU.
_READ = bytes.fromhex(
    "01c000000000000000000000000000001400000000000400000000140000001828000000000000000200000000000000"
)
#: Texts and their sums; RFC 3720, section B.4, and that of "123456789", by which CRCs are known.
VECTORS = {
    bytes(32): 0x8A9136AA,
    b"\xff" * 32: 0x62A8AB43,
    bytes(range(32)): 0x46DD794E,
    bytes(range(31, -1, -1)): 0x113FDB5C,
    _READ: 0xD9963A56,
    b"123456789": 0xE3069283,
    b"": 0,
}
FORMS: list[Any] = [kernel.checksums, python.checksums]
if hasattr(kernel.State, "__reduce_cython__"):
    from geolookup.kernel._compiled import _checksums_by_table

    FORMS.append(_checksums_by_table)


def sums(form: Callable[..., None], texts: list[bytes]) -> list[int]:
    data = np.frombuffer(b"".join(texts), np.uint8)
    offsets = np.array([0, *accumulate(map(len, texts))], np.int32)
    found = np.zeros(len(texts), np.uint32)
    form(data, offsets, found)
    return [int(each) for each in found]


def test_the_vectors_of_the_standard() -> None:
    assert [crc32c(text) for text in VECTORS] == [*VECTORS.values()]
    for form in FORMS:
        assert sums(form, [*VECTORS]) == [*VECTORS.values()]


@given(st.lists(st.binary(max_size=40)))
@example([b"x" * length for length in (0, 1, 7, 8, 9, 511, 512, 513, 2000)])
@example([b"%d" % number * (number % 3) for number in range(python._PART + 100)])
def test_all_forms_agree(texts: list[bytes]) -> None:
    """Also of more texts than are summed together."""
    for form in FORMS:
        assert sums(form, texts) == [crc32c(text) for text in texts]


@pytest.mark.parametrize("form", FORMS)
def test_a_text_outside_the_data(form: Any) -> None:
    for offsets in ([0, 3], [-1, 2], [2, 1], [0, 1, 0], [1, 0, 2]):
        found = np.zeros(len(offsets) - 1, np.uint32)
        with pytest.raises(ValueError, match="outside the data"):
            form(np.zeros(2, np.uint8), np.array(offsets, np.int32), found)
    with pytest.raises(ValueError, match="differ in length"):
        form(np.zeros(2, np.uint8), np.array([0, 1, 2], np.int32), np.zeros(1, np.uint32))
