"""Patches and manifests that no ``changed`` wrote: PatchError, before memory is taken for them."""

from __future__ import annotations

import json
import re
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geolookup.archives.delta.applied import applied
from geolookup.archives.delta.changed import changed
from geolookup.archives.delta.streams import PatchError, written
from geolookup.dataset import layout as fmt
from tests.archives.delta.random_files import write
from tests.tiers import scaled

NUMBERS, TEXTS = fmt.EXPLAINED_NUMBERS, fmt.ZONE
LITERAL, CHANGES, STEPS = (bytes([method]) for method in range(3))
NONE = struct.pack("<QQ", 0, 0)
#: An alignment that keeps all rows; columns and bytes that do not differ.
SAME, UNCHANGED = NONE * 2, CHANGES + NONE * 3


def numbers(*values: int, dtype: type[Any] = np.uint32) -> bytes:
    return written(np.array(values, dtype))


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
    assert bytes(applied(*pair, NUMBERS, patch)) == (pair[1] / NUMBERS).read_bytes()


HOSTILE_NUMBERS = {
    "empty": (b"", "truncated"),
    "only an alignment": (SAME, "truncated"),
    "a head cut short": (SAME + CHANGES + NONE[:7], "truncated"),
    "a frame cut short": (SAME + CHANGES + numbers(4)[:-1], "truncated"),
    "a frame beyond the end": (SAME + CHANGES + struct.pack("<QQ", 1, 2**64 - 1), "truncated"),
    "bytes at the end": (SAME + UNCHANGED * 2 + b"\0", "follow"),
    "an unknown way": (SAME + b"\3" + NONE * 3 + UNCHANGED, "way 3"),
    "more changes than rows": (SAME + CHANGES + numbers(*[0] * 6), "6 values where 5"),
    "2^64 - 1 values": (SAME + CHANGES + forged(2**64 - 1, b""), "values where 5"),
    "a count that no frame fills": (SAME + CHANGES + forged(5, compressed(4)), "damaged"),
    "a frame that holds more": (SAME + CHANGES + forged(1, compressed(1 << 26)), "damaged"),
    "no frame": (SAME + CHANGES + forged(5, b"none"), "damaged"),
    "a position beyond the end": (SAME + CHANGES + numbers(5) + numbers(0), "beyond the end"),
    "gaps whose sum wraps": (SAME + CHANGES + numbers(0, 2**32 - 1, 0), "beyond the end"),
    "gaps that wrap": (SAME + CHANGES + numbers(*[2**32 - 1] * 5), "beyond the end"),
    "fewer values than positions": (
        SAME + CHANGES + numbers(1, 1) + numbers(7),
        "1 values where 2",
    ),
    "an inserted value too much": (SAME + CHANGES + NONE * 2 + numbers(7), "1 values where 0"),
    "literal values short of one": (SAME + LITERAL + numbers(1, 2, 3, 4), "4 values where 5"),
    "literal values and one more": (SAME + LITERAL + numbers(*range(6)), "6 values where 5"),
    "a step beyond the end": (SAME + STEPS + numbers(5) + numbers(1), "beyond the end"),
    "a deleted row beyond the end": (numbers(5) + NONE, "beyond the end"),
    "a deleted row, and none inserted": (numbers(0) + NONE, "rows of the base"),
    "an inserted row, and none deleted": (NONE + numbers(0), "rows of the base"),
    "more deleted than there are": (numbers(*[0] * 6), "6 values where 5"),
}


def texts(positions: bytes, lengths: bytes, data: bytes) -> bytes:
    return SAME + CHANGES + positions + lengths + data


def letters(count: int) -> bytes:
    return numbers(*[65] * count, dtype=np.uint8)


HOSTILE_TEXTS = {
    "shorter": (texts(numbers(1), numbers(9), letters(9)), "lengths of texts"),
    "longer": (texts(numbers(1), numbers(11), letters(11)), "lengths of texts"),
    "other lengths than bytes": (texts(numbers(1), numbers(10), letters(9)), "lengths of texts"),
    "lengths that wrap": (
        texts(numbers(0, 0), numbers(2**32 - 1, 2**32 - 1), letters(10)),
        "lengths of texts",
    ),
    "more bytes than the file": (texts(numbers(1), numbers(36), letters(36)), "36 values where 35"),
    "a position beyond the end": (texts(numbers(3), numbers(10), letters(10)), "beyond the end"),
    "more lengths than texts": (texts(numbers(1), numbers(5, 5), letters(10)), "2 values where 1"),
    "an unknown way": (SAME + b"\2", "way 2"),
    "literal offsets short of one": (SAME + LITERAL + numbers(0, 1, 2), "3 values where 4"),
}


def test_hostile_patches(pair: tuple[Path, Path]) -> None:
    for name, patches in {NUMBERS: HOSTILE_NUMBERS, TEXTS: HOSTILE_TEXTS}.items():
        for title, (patch, problem) in patches.items():
            with pytest.raises(PatchError) as caught:
                applied(*pair, name, patch)
            assert problem in str(caught.value), title


def place(file: dict[str, Any], stated: list[float]) -> None:
    file["columns"]["value"]["buffers"] = [None, stated]


Change = Callable[[dict[str, Any]], None]
HOSTILE_FILES: dict[str, Change] = {
    "no size": lambda file: file.pop("bytes"),
    "size 0": lambda file: file.update(bytes=0),
    "negative rows": lambda file: file.update(rows=-1),
    "rows as text": lambda file: file.update(rows="5"),
    "more rows than bytes": lambda file: file.update(rows=2**60),
    "columns as a list": lambda file: file.update(columns=[]),
    "a column as a number": lambda file: file["columns"].update(value=5),
    "no buffers": lambda file: file["columns"]["value"].pop("buffers"),
    "a buffer of text": lambda file: file["columns"]["value"].update(buffers=["x"]),
    "a buffer beyond the end": lambda file: file["columns"]["value"].update(
        buffers=[None, [8, 2**62]]
    ),
    "a buffer before the beginning": lambda file: file["columns"]["value"].update(
        buffers=[None, [-8, 8]]
    ),
    "a negative length": lambda file: place(file, [80, -8]),
    "an infinite offset": lambda file: place(file, [1e999, 8]),
    "the same column twice": lambda file: file["columns"].update(more=file["columns"]["value"]),
    "a dictionary without length": lambda file: file["columns"]["value"].update(dictionary={}),
    "a dictionary as a list": lambda file: file["columns"]["value"].update(dictionary=[1]),
    "a dictionary of 2^60 values": lambda file: file["columns"]["value"].update(
        dictionary={"type": "string", "length": 2**60, "buffers": []}
    ),
}


def test_hostile_manifests(pair: tuple[Path, Path], tmp_path: Path) -> None:
    patch = dict(changed(*pair))[NUMBERS]
    for title, change in HOSTILE_FILES.items():
        stated = json.loads((pair[1] / fmt.MANIFEST).read_bytes())
        change(stated["files"][NUMBERS])
        (tmp_path / fmt.MANIFEST).write_text(json.dumps(stated), encoding="utf-8")
        with pytest.raises(PatchError) as caught:
            applied(pair[0], tmp_path, NUMBERS, patch)
        assert re.search("describe|outside|overlap", str(caught.value)), title


def test_a_file_that_no_manifest_describes(pair: tuple[Path, Path]) -> None:
    with pytest.raises(PatchError, match="not describe"):
        applied(*pair, "../x", SAME)


@pytest.mark.parametrize("name", [fmt.IPV4_JUMP, fmt.IPV6_SPARSE_INDEX])
def test_an_index_over_nothing(tmp_path: Path, name: str) -> None:
    column = "interval" if name == fmt.IPV4_JUMP else "start_high"
    index = pa.table({column: np.arange(5)})
    write(tmp_path / "base", {name: index})
    with pytest.raises(PatchError, match="has no starts"):
        applied(tmp_path / "base", tmp_path / "base", name, SAME + UNCHANGED * 2)
    values = pa.table({"start": np.zeros(0, np.uint32), "start_high": np.zeros(0, np.uint64)})
    write(tmp_path / "none", {name: index, fmt.IPV4: values, fmt.IPV6: values})
    with pytest.raises(PatchError, match="has no starts"):
        applied(tmp_path / "base", tmp_path / "none", name, SAME + UNCHANGED * 2)


def test_a_base_of_another_size(pair: tuple[Path, Path], tmp_path: Path) -> None:
    base = Path(shutil.copytree(pair[0], tmp_path / "base"))
    with (base / NUMBERS).open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(PatchError, match="size"):
        applied(base, pair[1], NUMBERS, dict(changed(*pair))[NUMBERS])


def test_truncated(pair: tuple[Path, Path]) -> None:
    for name, patch in changed(*pair):
        for size in range(0, len(patch), scaled(3, 1)):
            with pytest.raises(PatchError):
                applied(*pair, name, patch[:size])


@settings(max_examples=scaled(12, 300))
@given(data=st.data())
def test_flipped(pair: tuple[Path, Path], data: st.DataObject) -> None:
    name, whole = data.draw(st.sampled_from(list(changed(*pair))))
    patch = bytearray(whole)
    for at in data.draw(st.lists(st.integers(0, len(patch) - 1), min_size=1, max_size=4)):
        patch[at] = data.draw(st.sampled_from([0, 1, 2, 127, 255, patch[at] ^ 1]))
    try:
        found = applied(*pair, name, bytes(patch))
    except PatchError:
        return
    assert len(found) == (pair[1] / name).stat().st_size


def test_an_index_before_its_starts(tmp_path: Path) -> None:
    """A hostile archive has the patch of an index first, or that of its starts not at all."""
    starts = {fmt.IPV4: pa.table({"start": np.zeros(1, np.uint32)})}
    write(tmp_path / "base", {**starts, fmt.IPV4_JUMP: pa.table({"interval": np.arange(5)})})
    (tmp_path / "base" / fmt.IPV4).unlink()
    with pytest.raises(PatchError, match="not there before"):
        applied(tmp_path / "base", tmp_path / "base", fmt.IPV4_JUMP, SAME + UNCHANGED * 2)


def test_changes_over_texts_with_bytes_between_them(tmp_path: Path) -> None:
    """Of such a base nothing is copied by lengths: its offsets may lead anywhere."""
    offsets, data = pa.py_buffer(np.array([1, 2, 4], np.int32)), pa.py_buffer(b"abcdefgh")
    gappy = pa.StringArray.from_buffers(2, offsets, data)
    write(tmp_path / "base", {TEXTS: pa.table({"zone": gappy})})
    write(tmp_path / "target", {TEXTS: pa.table({"zone": ["a", "b"]})})
    with pytest.raises(PatchError, match="way 1"):
        applied(tmp_path / "base", tmp_path / "target", TEXTS, SAME + UNCHANGED)
