"""Patches and manifests of other writers: PatchError, before memory is taken for them."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
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
from tests.damage import copied
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


Change = Callable[[dict[str, Any]], None]


def column(**members: object) -> Change:
    return lambda file: file["columns"]["value"].update(members)


HOSTILE_FILES: dict[str, Change] = {
    "no size": lambda file: file.pop("bytes"),
    "size 0": lambda file: file.update(bytes=0),
    "negative rows": lambda file: file.update(rows=-1),
    "rows as text": lambda file: file.update(rows="5"),
    "more rows than bytes": lambda file: file.update(rows=2**60),
    "columns as a list": lambda file: file.update(columns=[]),
    "a column as a number": lambda file: file["columns"].update(value=5),
    "no buffers": lambda file: file["columns"]["value"].pop("buffers"),
    "a buffer of text": column(buffers=["x"]),
    "a buffer beyond the end": column(buffers=[None, [8, 2**62]]),
    "a buffer before the beginning": column(buffers=[None, [-8, 8]]),
    "a negative length": column(buffers=[None, [80, -8]]),
    "an infinite offset": column(buffers=[None, [1e999, 8]]),
    "the same column twice": lambda file: file["columns"].update(more=file["columns"]["value"]),
    "a dictionary without length": column(dictionary={}),
    "a dictionary as a list": column(dictionary=[1]),
    "a dictionary of 2^60 values": column(
        dictionary={"type": "string", "length": 2**60, "buffers": []}
    ),
}


def test_hostile_manifests(pair: tuple[Path, Path], tmp_path: Path) -> None:
    patch = dict(file_patches(*pair))[NUMBERS]
    for title, change in HOSTILE_FILES.items():
        stated = json.loads((pair[1] / fmt.MANIFEST).read_bytes())
        change(stated["files"][NUMBERS])
        (tmp_path / fmt.MANIFEST).write_text(json.dumps(stated), encoding="utf-8")
        with pytest.raises(PatchError) as caught:
            apply_patch(pair[0], tmp_path, NUMBERS, patch)
        assert re.search("describe|outside|overlap", str(caught.value)), title
    stated = json.loads((pair[1] / fmt.MANIFEST).read_bytes())
    stated["files"][NUMBERS]["columns"]["value"]["buffers"][0] = [0, 0]  # empty, at the beginning
    (tmp_path / fmt.MANIFEST).write_text(json.dumps(stated), encoding="utf-8")
    result = bytes(apply_patch(pair[0], tmp_path, NUMBERS, patch))
    assert result == (pair[1] / NUMBERS).read_bytes()
    with pytest.raises(PatchError, match="not describe"):
        apply_patch(*pair, "../x", SAME)
    base = copied(pair[0], tmp_path / "base")  # of another size
    (base / NUMBERS).write_bytes((base / NUMBERS).read_bytes() + b"x")
    with pytest.raises(PatchError, match="size"):
        apply_patch(base, pair[1], NUMBERS, patch)


@pytest.mark.parametrize("name", [fmt.IPV4_JUMP, fmt.IPV6_SPARSE_INDEX])
def test_an_index_over_nothing(tmp_path: Path, name: str) -> None:
    """The starts that it follows from are missing, are none, or are does not precede it it."""
    column = "interval" if name == fmt.IPV4_JUMP else "start_high"
    index = pa.table({column: np.arange(5)})
    starts = {"start": np.zeros(1, np.uint32), "start_high": np.zeros(1, np.uint64)}
    full, empty = pa.table(starts), pa.table(starts).slice(0, 0)
    families = {fmt.IPV4: full, fmt.IPV6: full}
    write(base := tmp_path / "base", {name: index})
    write(none := tmp_path / "none", {name: index, **dict.fromkeys(families, empty)})
    write(late := tmp_path / "late", {name: index, **families})
    for family in families:
        (late / family).unlink()
    for pair, problem in (
        ((base, base), "has no starts"),
        ((base, none), "has no starts"),
        ((late, late), "does not precede it"),
    ):
        with pytest.raises(PatchError, match=problem):
            apply_patch(*pair, name, SAME + UNCHANGED * 2)


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


def test_changes_over_texts_with_bytes_between_them(tmp_path: Path) -> None:
    """Of such a base nothing is copied by lengths: its offsets may lead anywhere."""
    offsets, data = pa.py_buffer(np.array([1, 2, 4], np.int32)), pa.py_buffer(b"abcdefgh")
    gappy = pa.StringArray.from_buffers(2, offsets, data)
    write(tmp_path / "base", {TEXTS: pa.table({"zone": gappy})})
    write(tmp_path / "target", {TEXTS: pa.table({"zone": ["a", "bc"]})})
    with pytest.raises(PatchError, match="bytes between them"):
        apply_patch(tmp_path / "base", tmp_path / "target", TEXTS, SAME + NONE * 3 + UNCHANGED)
