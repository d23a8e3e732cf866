"""What a fuzz target is: inputs to begin with, ways to change them, and a judge."""

from __future__ import annotations

import atexit
import copy
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

Read = TypeVar("Read")
#: Changes any bytes: libFuzzer's mutations, or ``scrambled`` without it.
Change = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Target:
    """``run`` raises for whatever may not happen, and for nothing else.

    ``mutate`` changes an input by ``change`` where that makes sense in its format.
    """

    run: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    mutate: Callable[[bytes, Change, random.Random], bytes] = lambda data, by, _rng: by(data)


#: Inputs that fuzzing found beyond the seeds, in a folder for each target.
CORPUS = Path(__file__).resolve().parent / "corpus"


def corpus(name: str) -> list[bytes]:
    """Return the kept inputs of a target, in the order of their names."""
    return [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]


def check_one_line(error: Exception, begins: str) -> None:
    """Fail unless the text of an error is one line that begins with its place."""
    text = str(error)
    assert text.startswith(begins), text[:200]
    assert len(text.splitlines()) == 1, text[:200]
    text.encode()


def accepted(
    read: Callable[[], Read],
    refusal: type[Exception],
    subject: object,
    check: Callable[..., object] = check_one_line,
) -> Read | None:
    """Return what is read; None if it is refused by an error that passes a check."""
    try:
        return read()
    except refusal as error:
        check(error, str(subject))
        return None


def own_folder() -> Path:
    """Return a new folder that is removed when this process ends."""
    folder = tempfile.mkdtemp(prefix="geolookup-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


#: The folder for the files of one run.
scratch = cache(own_folder)


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
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 7, 8, 255, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 63, 1 << 64),
    *(-(1 << 63), 10**400, 0.5, -0.0, 1e308, float("inf"), float("nan")),
    *("", "0", "-8", "x", "\ud800"),
    *("../x", "/dev/null", "a\nb", "\0", [], [[]], [0, 0], [8, -8], {}, {"": 0}, [None] * 3),
)


def mutated_json(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change the bytes of a document, or more often its values."""
    return change(data) if rng.randrange(4) == 0 else changed_json(data, rng)


def changed_json(data: bytes, rng: random.Random) -> bytes:
    """Return the document with one to three values changed; bytes that are not JSON stay."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return data
    for _ in range(rng.randint(1, 3)):
        places = list(_places(document))
        if not places:
            break
        holder, key = rng.choice(places)
        _change(holder, key, rng.choice(places), rng)
    return json.dumps(document).encode()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return all (object or array, key or index) of a document."""
    is_list = isinstance(value, list)
    keys = range(len(value)) if is_list else value if isinstance(value, dict) else ()
    return [subject for key in keys for subject in [(value, key), *_places(value[key])]]


def _change(holder: Any, key: Any, other: tuple[Any, Any], rng: random.Random) -> None:
    kind = rng.randrange(4)
    value = holder[key]
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1 and isinstance(value, int):
        holder[key] = value + rng.choice((-64, -8, -4, -1, 1, 4, 8, 64, value, -2 * value))
    elif kind == 2:
        holder[key] = copy.deepcopy(other[0][other[1]])
    else:
        holder[key] = copy.deepcopy(rng.choice(_VALUES))  # later changes may be within it
