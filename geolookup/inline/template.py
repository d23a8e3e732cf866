"""Templates of tags: text with the paths of fields in braces, filled with the values of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import Formatter
from typing import Any

from geolookup.contract.fields import FIELDS
from geolookup.contract.paths import unknown_path

#: What stands for a value that is unknown, for values that all are, and for a private address.
_UNKNOWN, _ALL_UNKNOWN, _PRIVATE = "-", "unknown", "private"
_ZONE = "time.zone"
#: The fields that depend on the rows of an address alone.
_PATHS = {each.path for each in FIELDS if each.group not in ("", "time")} | {_ZONE}


class Template:
    """A text with the paths of fields in braces; ``{{`` and ``}}`` are braces.

    Raises ValueError for a path that is none, or whose value depends on more than the network
    that the address is in: ``ip``, ``ip_type`` and, but for ``time.zone``, the members of ``time``.
    ``shown`` writes a value that is known.
    """

    def __init__(self, text: str, shown: Callable[[Any], str]) -> None:
        self._shown = shown
        self._form, self.paths = _parsed(text)

    def tag(self, values: Sequence[Any]) -> str:
        """Return the tag for the values of ``paths``."""
        if self.paths and not any(value is not None for value in values):
            return _ALL_UNKNOWN
        shown = self._shown
        return self._form % tuple([_UNKNOWN if each is None else shown(each) for each in values])

    def private(self) -> str:
        """Return the tag of a private address."""
        return _PRIVATE if self.paths else self._form % ()


def _parsed(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text as the left side of the ``%`` operator, and the paths of its fields."""
    parts, paths = [], []
    for literal, path, form, conversion in Formatter().parse(text):
        parts.append(literal.replace("%", "%%"))
        if path is not None:
            if form or conversion:
                raise ValueError(f"{{{path}}} takes no format; write the path alone")
            paths.append(_checked(path))
            parts.append("%s")
    return "".join(parts), tuple(paths)


def _checked(path: str) -> str:
    if path in _PATHS:
        return path
    if path in {each.path for each in FIELDS}:
        known = f"write a member of location, currency or network, or {_ZONE}"
        raise ValueError(f"{{{path}}} depends on more than the network of the address; {known}")
    raise unknown_path(path)
