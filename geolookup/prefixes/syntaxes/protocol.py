"""The interface of a syntax: it writes lists of prefixes, and their changes, for one tool."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pyarrow as pa

from geolookup.prefixes.syntaxes.settings import Settings

#: By family, the entries of a list in address order, in batches. A family without an entry
#: has no batch, or an empty one; a family that was not asked for is missing.
Lists = Mapping[int, Iterable[pa.Array]]


class Changes(NamedTuple):
    """What was added to lists and what was removed from them. Both have the same families."""

    added: Lists
    removed: Lists


_PREFIX = re.compile(rb"(?<![\w.:/])[0-9A-Fa-f.:]+/[0-9]+(?![\w.:/])")


def prefix_words(content: bytes) -> list[str]:
    """Return the words of a file that have the form of a prefix."""
    return [word.decode("ascii") for word in _PREFIX.findall(content)]


#: What the entries of a list are: texts of prefixes, texts of ranges, or structs of ``network``
#: (the text of a prefix) and the value of each field that was asked for. Each family has a batch
#: of structs, perhaps an empty one, so that their members are known.
Entries = Literal["prefix", "range", "row"]


@dataclass(frozen=True)
class Syntax:
    """A syntax: its name, how it writes lists and changes, and the settings that it takes.

    ``whole`` yields the bytes of lists. ``changes`` yields those of changes; it is None where the
    tool replaces lists as a whole. ``takes`` names members of ``Settings``. ``words`` returns the
    prefixes in the bytes of a list. ``entries`` is what the lists consist of.
    """

    name: str
    whole: Callable[[Lists, Settings], Iterator[bytes]]
    changes: Callable[[Changes, Settings], Iterator[bytes]] | None = None
    takes: frozenset[str] = frozenset()
    words: Callable[[bytes], list[str]] = prefix_words
    entries: Entries = "prefix"


def set_name(family: int, settings: Settings) -> str:
    """Return the name of the set of a family."""
    return f"{settings.name}_v{family}"
