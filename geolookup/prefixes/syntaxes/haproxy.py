"""HAProxy: the patterns of an ACL, a file of prefixes; changes are commands of its Runtime API."""

from __future__ import annotations

from collections.abc import Iterator

from geolookup.prefixes.syntaxes.lines import lines
from geolookup.prefixes.syntaxes.plain import whole
from geolookup.prefixes.syntaxes.protocol import Changes, Syntax
from geolookup.prefixes.syntaxes.settings import Settings


def _changes(changes: Changes, settings: Settings) -> Iterator[bytes]:
    """Add first, so that no address that stays in the list leaves the ACL in between.

    ``prompt`` keeps the connection open: without it HAProxy reads a single line. ``quit`` ends it:
    if a client closes its half first, the commands that HAProxy has not read yet are lost.
    """
    yield b"prompt\n"
    for command, lists in (("add", changes.added), ("del", changes.removed)):
        for batches in lists.values():
            yield from lines(f"{command} acl {settings.acl} ", batches)
    yield b"quit\n"


SYNTAX = Syntax("haproxy", whole, _changes, frozenset({"acl"}))
