"""Patches and manifests of other writers: PatchError, before memory is taken for them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geolookup.archives.delta import apply_patch, file_patches
from geolookup.archives.delta.streams import PatchError, encode_numbers
from geolookup.dataset import layout as fmt
from tests.archives.delta.random_files import write
from tests.tiers import scaled

NUMBERS, TEXTS = fmt.EXPLAINED_NUMBERS, fmt.ZONE
LITERAL, CHANGES, STEPS = (bytes([method]) for method in range(3))
NONE = struct.pack("<QQ", 0, 0)
#: An alignment that keeps all rows; columns and bytes that do not differ.
SAME, UNCHANGED = NONE * 2, CHANGES + NONE * 3


def numbers(*values: int, dtype: type[Any] = np.uint32) -> bytes:
    return encode_numbers(np.array(values, dtype))


def forged(count: int, frame: bytes) -> bytes:
    return struct.pack("<QQ", count, len(frame)) + frame


def compressed(size: int) -> bytes:
    frame: bytes = pa.Codec("zstd", compression_level=19).compress(bytes(size), asbytes=True)
    return frame


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A base of five numbers and three texts, and a target that differs in one of each."""
    folder = tmp_path_factory.mktemp("pair")
    for name, (value, zone) in {"base": (9, "UTC"), "target": (8, "Asia/Tokyo")}.items():
        tables = {
            NUMBERS: pa.table({"value": np.array([1, 2, 3, 4, value], np.uint32)}),
            TEXTS: pa.table({"zone": ["Europe/Berlin", zone, "Europe/Paris"]}),
        }
        write(folder / name, tables)
    return folder / "base", folder / "target"


def test_composed_by_hand(pair: tuple[Path, Path]) -> None:
    """The composed patches below fail for the reason that they name, and not for their form."""
    patch = SAME + CHANGES + numbers(4) + numbers(8) + NONE + UNCHANGED
    assert bytes(apply_patch(*pair, NUMBERS, patch)) == (pair[1] / NUMBERS).read_bytes()


def cells(*columns: bytes) -> bytes:
    """The patch of a column by changes: positions, then values or lengths and bytes."""
    return SAME + CHANGES + b"".join(columns)


def texts(*columns: bytes) -> bytes:
    """The patch of a column of texts: positions, lengths and bytes."""
    return SAME + b"".join(columns)


def letters(count: int) -> bytes:
    return numbers(*[65] * count, dtype=np.uint8)


#: Patches by what is said of them.
HOSTILE: dict[str, dict[str, list[bytes]]] = {
    NUMBERS: {
        "truncated": [
            *(b"", SAME, cells(NONE[:7]), cells(numbers(4)[:-1])),
            cells(struct.pack("<QQ", 1, 2**64 - 1)),  # a frame beyond the end
        ],
        "follow": [SAME + UNCHANGED * 2 + b"\0"],
        "way 3": [SAME + b"\3" + NONE * 3 + UNCHANGED],
        "6 values where 5": [
            *(cells(numbers(*[0] * 6)), SAME + LITERAL + numbers(*range(6))),
            numbers(*[0] * 6),  # more deleted rows than there are
        ],
        "values where 5": [cells(forged(2**64 - 1, b"")), SAME + LITERAL + numbers(1, 2, 3, 4)],
        "damaged": [
            # A count that no frame fills, a frame that holds more, and none.
            cells(forged(5, compressed(4))),
            cells(forged(1, compressed(1 << 26))),
            cells(forged(5, b"none")),
        ],
        "beyond the end": [
            cells(numbers(5), numbers(0)),
            # Gaps that wrap, and those whose sum does.
            cells(numbers(0, 2**32 - 1, 0)),
            cells(numbers(*[2**32 - 1] * 5)),
            SAME + STEPS + numbers(5) + numbers(1),
            numbers(5) + NONE,  # a deleted row
        ],
        "1 values where 2": [cells(numbers(1, 1), numbers(7))],
        "1 values where 0": [cells(NONE * 2, numbers(7))],
        "rows of the base": [numbers(0) + NONE, NONE + numbers(0)],
    },
    TEXTS: {
        "lengths of texts": [
            texts(numbers(1), numbers(9), letters(9)),
            texts(numbers(1), numbers(11), letters(11)),
            texts(numbers(1), numbers(10), letters(9)),
            texts(numbers(0, 0), numbers(2**32 - 1, 2**32 - 1), letters(10)),  # they wrap
        ],
        "36 values where 35": [texts(numbers(1), numbers(36), letters(36))],
        "beyond the end": [texts(numbers(3), numbers(10), letters(10))],
        "2 values where 1": [texts(numbers(1), numbers(5, 5), letters(10))],
    },
}


def test_hostile_patches(pair: tuple[Path, Path]) -> None:
    for name, problems in HOSTILE.items():
        for problem, patches in problems.items():
            for number, patch in enumerate(patches):
                with pytest.raises(PatchError) as caught:
                    apply_patch(*pair, name, patch)
                assert problem in str(caught.value), number


def test_truncated(pair: tuple[Path, Path]) -> None:
    for name, patch in file_patches(*pair):
        for size in range(0, len(patch), scaled(3, 1)):
            with pytest.raises(PatchError):
                apply_patch(*pair, name, patch[:size])


@settings(max_examples=scaled(12, 300))
@given(data=st.data())
def test_flipped(pair: tuple[Path, Path], data: st.DataObject) -> None:
    name, whole = data.draw(st.sampled_from(list(file_patches(*pair))))
    patch = bytearray(whole)
    for at in data.draw(st.lists(st.integers(0, len(patch) - 1), min_size=1, max_size=4)):
        patch[at] = data.draw(st.sampled_from([0, 1, 2, 127, 255, patch[at] ^ 1]))
    try:
        result = apply_patch(*pair, name, bytes(patch))
    except PatchError:
        return
    assert len(result) == (pair[1] / name).stat().st_size
