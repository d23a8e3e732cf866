"""The data section, read by maxminddb; the rule of the verifier in Go: every value that begins
outside of others is a record."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.internals.export import pointers
from tests.skips import needs, optional

decoder, maxminddb = optional("maxminddb.decoder"), optional("maxminddb")
pytestmark = needs("maxminddb")
_SEPARATOR = 16
_MARKER = b"\xab\xcd\xefMaxMind.com"


def begins(data: bytes) -> list[int]:
    """Return where values begin, one after the other to the end of the data section."""
    actual, reader = [0], decoder.Decoder(data, 0)
    while actual[-1] < len(data):
        actual.append(reader.decode(actual[-1])[1])
    assert actual.pop() == len(data)
    return actual


def referred(tree: bytes, nodes: int) -> set[int]:
    """Return the positions in the data section to which records of 24 bits lead."""
    values = (int.from_bytes(tree[at : at + 3], "big") for at in range(0, 6 * nodes, 3))
    return {value - nodes - _SEPARATOR for value in values if value > nodes}


def check(path: Path) -> None:
    with maxminddb.open_database(path, maxminddb.MODE_MEMORY) as reader:
        about = reader.metadata()
    assert about.record_size == 24
    content = path.read_bytes()
    tree, end = 6 * about.node_count, content.rindex(_MARKER)
    assert content[tree : tree + _SEPARATOR] == bytes(_SEPARATOR)
    data = content[tree + _SEPARATOR : end]
    actual = begins(data) if data else []
    assert sorted(referred(content, about.node_count)) == actual


def test_each_value_outside_of_others_is_a_record(files: dict[str, Path]) -> None:
    for path in files.values():
        check(path)


def test_pointers() -> None:
    for position, size in (
        *((0, 2), (2_047, 2), (2_048, 3), (526_335, 3), (526_336, 4), (134_744_063, 4)),
        *((134_744_064, 5), ((1 << 32) - 1, 5)),
    ):
        (actual,) = pointers(np.array([position])).to_pylist()
        assert len(actual) == size
        reader = decoder.Decoder(actual, 0, pointer_test=True)
        assert reader.decode(0) == (position, size)
