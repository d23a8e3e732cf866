"""The keys of an MMDB file in the build report and in messages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from geolookup.errors import line_text
from geolookup_builder.build_report import KeysRead
from geolookup_builder.sources.formats.mmdb_products import REGISTERED, Product

_SHOWN = 8  # keys, in messages
_REPORTED = 100  # ignored keys, in the build report
_CHARACTERS = 60  # of a key or a text of the file
_LANGUAGE = re.compile(r"\.names\.[^.]+$")


def shown(keys: Collection[str]) -> str:
    """Return some of the keys for a message, in order."""
    return ", ".join(_short(key) for key in sorted(keys)[:_SHOWN])


def shown_kind(kinds: Sequence[str]) -> str:
    """Return the database type, the first of ``kinds``, for a message."""
    return f"database type {_short(kinds[0])!r}" if kinds else "no database type"


def keys_read(product: Product, kinds: Sequence[str], seen: Collection[str]) -> KeysRead:
    """Return which of the keys ``seen`` in a file became fields, and which are not read."""
    fields = {name: _stating(product, name, seen) for name in _names(product)}
    used = {key for keys in fields.values() for key in keys}
    ignored = [_short(key) for key in sorted(set(_unread(used, seen)))]
    return KeysRead(
        f"{product.name} ({shown_kind(kinds)})",
        {name: keys for name, keys in fields.items() if keys},
        dict(product.constants),
        tuple(ignored[:_REPORTED]),
        max(0, len(ignored) - _REPORTED),
    )


def _names(product: Product) -> list[str]:
    names = dict.fromkeys((*product.fields, *product.words))
    return [name for name in names if name != REGISTERED]


def _stating(product: Product, name: str, seen: Collection[str]) -> tuple[str, ...]:
    """Return the keys that may state a field, in order of precedence."""
    keys = [*product.words.get(name, ()), *product.fields.get(name, ())]
    if name == "country_code":
        keys += product.fields.get(REGISTERED, ())
    return tuple(key for key in keys if key in seen)


def _unread(used: set[str], seen: Collection[str]) -> Iterator[str]:
    """Yield the keys that are not read: the shortest path under which nothing is read.

    The names in other languages are one key.
    """
    read = {path for key in used for path in _above(key)}
    for key in seen:
        if key not in used:
            shorter = reversed(_above(key))
            unread = next((path for path in shorter if path not in read), key)
            yield _LANGUAGE.sub(".names.*", unread)


def _above(key: str) -> list[str]:
    """Return the paths above a key, the longest first."""
    steps = key.split(".")
    return [".".join(steps[:length]) for length in range(len(steps) - 1, 0, -1)]


def _short(text: str) -> str:
    line = line_text(text)
    return line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS]}…"
