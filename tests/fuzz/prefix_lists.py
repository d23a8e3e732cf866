"""A list that ``prefixes --since`` reads: refused in one line, or prefixes of its families.

The first byte of an input says which syntax the file is in.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from ipaddress import ip_address
from unittest import mock

import pyarrow as pa

from geolookup.errors import TableFileError
from geolookup.prefixes import since
from geolookup.prefixes.since import read_list
from geolookup.prefixes.syntaxes import SYNTAXES
from geolookup.prefixes.syntaxes.protocol import Lists
from geolookup.prefixes.syntaxes.settings import Settings
from tests.fuzz.target import Target, check_one_line, own_folder

_folder = cache(own_folder)
_SYNTAXES = [syntax for syntax in SYNTAXES.values() if syntax.changes is not None]
_EMPTY: Lists = {4: [], 6: []}
_LISTS: Lists = {4: [pa.array(["8.8.8.0/24", "9.0.0.0/8"])], 6: [pa.array(["2600::/32"])]}


def seeds() -> Iterator[bytes]:
    for number, syntax in enumerate(_SYNTAXES):
        for lists in (_LISTS, _EMPTY):
            yield bytes([number]) + b"".join(syntax.whole(lists, Settings()))


def run(data: bytes) -> None:
    syntax = _SYNTAXES[(data or b"\0")[0] % len(_SYNTAXES)]
    path = _folder() / "list.txt"
    path.write_bytes(data[1:])
    try:
        lists = read_list(path, syntax)
    except TableFileError as error:
        check_one_line(error, str(path))
        return
    assert set(lists) == {4, 6}
    for family, batches in lists.items():
        for prefix in (text for batch in batches for text in batch.to_pylist()):
            address, _, length = prefix.partition("/")
            assert ip_address(address).version == family
            assert 0 <= int(length) <= ip_address(address).max_prefixlen


def planted() -> AbstractContextManager[object]:
    """Take the family from a colon, and any length."""
    return mock.patch.object(since, "_family", lambda prefix: 6 if ":" in prefix else 4)


TARGET = Target(run, seeds, planted)
