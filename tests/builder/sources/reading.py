"""What the tests of readers share: recipes of one source, and inputs that are damaged."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.errors import BuildError
from tests.conftest import build_at


def one(format_: str, path: str, *options: str) -> str:
    """A recipe of one source; ``options`` are lines of TOML."""
    lines = "\n".join(options)
    return f'[dataset]\nname = "t"\n[[source]]\nformat = "{format_}"\npath = "{path}"\n{lines}\n'


def refused(folder: Path, name: str, content: str | bytes, text: str) -> BuildError:
    """The one-line error that a file ends a build with, every row being allowed to be bad."""
    with pytest.raises(BuildError) as caught:
        build_at(folder, {name: content}, text)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    return caught.value


def hostile(row: str, ending: str = "\n") -> Iterator[tuple[str, bytes]]:
    """Files that hold the good ``row`` and something that no good file holds."""
    good = (row + ending).encode()
    yield "cut in a row", good * 3 + good[: len(good) // 2]
    yield "too wide", good * 3 + row.encode() + b",x|x\tx" + ending.encode()
    yield "byte order mark", b"\xef\xbb\xbf" + good
    yield "other line ends", good.replace(ending.encode(), b"\r\n" if ending == "\n" else b"\n")
    yield "empty lines", b"\n\n" + good + b"\n" + good
    yield "no line end", good.rstrip()
    yield "NUL", good + b"\0\0\0" + ending.encode() + good
    yield "big cell", good * 3 + b"9" * (1 << 20) + ending.encode() + good


def unreadable(row: str) -> Iterator[tuple[str, bytes]]:
    """Files of which nothing can be made."""
    good = (row + "\n").encode()
    yield "", b""
    yield ".gz", gzip.compress(b"")
    yield ".gz", gzip.compress(good * 1000)[:-20]
    yield ".gz", good
    yield ".zip", good
    yield "", "näher\n".encode("latin-1") + good
    yield "", good.decode().encode("utf-16")
    yield "", b"PK\x03\x04" + bytes(range(256))
    yield "", b"first,last,country_code\n"
