"""Names of accounts and plans, and other texts that commands print in one line."""

from __future__ import annotations

from reprlib import repr as short_repr
from typing import TypeGuard

from geolookup.errors import line_text

#: Characters of a name.
_LONGEST_NAME = 200
#: Characters of another text of the audit log, such as the path of a backup.
_LONGEST_LINE = 1_000


def is_name(value: object) -> bool:
    """Return whether a value can be the name of an account or a plan."""
    return is_line(value) and value.strip() == value and 0 < len(value) <= _LONGEST_NAME


def is_line(value: object) -> TypeGuard[str]:
    """Return whether a value is a text that a line shows unchanged: without control characters."""
    return isinstance(value, str) and len(value) <= _LONGEST_LINE and line_text(value) == value


def as_line(text: str) -> str:
    """Return a text as a line, with control characters escaped."""
    return line_text(text)[:_LONGEST_LINE]


def refusal(kind: str, name: str) -> str:
    """Return the message for a name that is refused."""
    return (
        f"{short_repr(name)} is not a name of {kind}; write 1 to {_LONGEST_NAME} characters,"
        " no spaces around, no control or bidirectional characters"
    )
