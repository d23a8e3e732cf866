"""The keys of MMDB records in messages and in the build report."""

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


def keys_text(keys: Collection[str]) -> str:
    """Return some of the keys for a message, in order."""
    return ", ".join(_short(key) for key in sorted(keys)[:_SHOWN])


def kind_text(kinds: Sequence[str]) -> str:
    """Return the database type, the first of ``kinds``, for a message."""
    return f"database type {_short(kinds[0])!r}" if kinds else "no database type"


def keys_read(product: Product, kinds: Sequence[str], paths: Collection[str]) -> KeysRead:
    """Return which of the keys at ``paths`` of a file became fields, and which are not read."""
    fields = {name: _field_keys(product, name, paths) for name in _names(product)}
    keys_used = {key for keys in fields.values() for key in keys}
    ignored = [_short(key) for key in sorted(set(_unread(keys_used, paths)))]
    return KeysRead(
        f"{product.name} ({kind_text(kinds)})",
        {name: keys for name, keys in fields.items() if keys},
        dict(product.constants),
        tuple(ignored[:_REPORTED]),
        max(0, len(ignored) - _REPORTED),
    )


def _names(product: Product) -> list[str]:
    names = dict.fromkeys((*product.fields, *product.words))
    return [name for name in names if name != REGISTERED]


def _field_keys(product: Product, name: str, paths: Collection[str]) -> tuple[str, ...]:
    """Return the keys that may state a field, in order of precedence."""
    keys = [*product.words.get(name, ()), *product.fields.get(name, ())]
    if name == "country_code":
        keys += product.fields.get(REGISTERED, ())
    return tuple(key for key in keys if key in paths)


def _unread(keys_used: set[str], paths: Collection[str]) -> Iterator[str]:
    """Yield the keys that are not read: the shortest path under which nothing is read.

    The names in other languages are one key.
    """
    parents = {path for key in keys_used for path in _above(key)}
    for key in paths:
        if key not in keys_used:
            shorter = reversed(_above(key))
            unread = next((path for path in shorter if path not in parents), key)
            yield _LANGUAGE.sub(".names.*", unread)


def _above(key: str) -> list[str]:
    """Return the paths above a key, the longest first."""
    steps = key.split(".")
    # "city.names.en" has "city.names" and "city" above it.
    return [".".join(steps[:length]) for length in range(len(steps) - 1, 0, -1)]


def _short(text: str) -> str:
    line = line_text(text)
    return line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS]}…"
