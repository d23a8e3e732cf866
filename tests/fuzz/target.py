"""What a fuzz target is: inputs to begin with, a way to change them, and a judge."""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

#: Changes bytes anyhow: libFuzzer's mutations, or ``scrambled`` where it is not there.
Change = Callable[[bytes], bytes]


def anyhow(data: bytes, change: Change, _rng: random.Random) -> bytes:
    return change(data)


@dataclass(frozen=True, slots=True)
class Target:
    """``run`` raises for whatever may not happen, and for nothing else.

    ``planted`` puts a bug into the code under test while its context lasts: fuzzing must find
    it. ``mutate`` changes an input by ``change`` where that makes sense in its format.
    """

    run: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    planted: Callable[[], AbstractContextManager[object]]
    mutate: Callable[[bytes, Change, random.Random], bytes] = anyhow


def check_one_line(error: Exception, begins: str) -> None:
    """Fail unless the text of an error is one line that begins with its place."""
    text = str(error)
    assert text.startswith(begins), text[:200]
    assert len(text.splitlines()) == 1, text[:200]
    text.encode()


def own_folder() -> Path:
    """Return a new folder that ends with this process.

    libFuzzer ends its process without a word; then the one that started it takes the folder away.
    """
    folder = tempfile.mkdtemp(prefix="geolookup-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def emptied(folder: Path) -> Path:
    """Return the folder without what was in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def scrambled(data: bytes, rng: random.Random) -> bytes:
    """Return bytes a few edits away: flipped, inserted, dropped, repeated or cut."""
    letters = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(letters) + 1)
        end = min(at + rng.choice((0, 1, 1, 4, 32)), len(letters))
        new = rng.choice((b"", rng.randbytes(1), bytes(letters[at:end]) * 2, rng.choice(_TELLING)))
        letters[at:end] = new
    return bytes(letters)


_TELLING = (
    *(b"0", b"-1", b"999999999999999999999", b"1e999", b"NaN", b"\0", b"\n", b"\r", b'"', b","),
    *(b"\xff", b"\xef\xbb\xbf", "٣".encode(), b"::", b"/129", b"\t", b"|", b";", b"%00"),
    b"[" * 2000,
)
