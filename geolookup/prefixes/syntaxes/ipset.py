"""ipset: a set of type ``hash:net`` for each family, for ``ipset restore``.

``ipset restore`` takes effect line by line. So a whole list fills a second set, and ``swap``
puts it in the place of the first at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from geolookup.prefixes.syntaxes.lines import lines
from geolookup.prefixes.syntaxes.protocol import Changes, Lists, Syntax, set_name
from geolookup.prefixes.syntaxes.settings import Settings

_FAMILIES = {4: "inet", 6: "inet6"}
#: The most elements of a set. It is the same for each list, because ``create -exist`` refuses a
#: set that was created with another limit. The kernel enlarges the hash table by itself.
_MOST = 1 << 24


def _whole(lists: Lists, settings: Settings) -> Iterator[bytes]:
    for family, batches in lists.items():
        name = set_name(family, settings)
        fresh = f"{name}_new"
        for each in (name, fresh):
            kind = f"hash:net family {_FAMILIES[family]} maxelem {_MOST}"
            yield f"create {each} {kind} -exist\n".encode()
        yield f"flush {fresh}\n".encode()
        yield from lines(f"add {fresh} ", batches)
        yield f"swap {name} {fresh}\ndestroy {fresh}\n".encode()


def _changes(changes: Changes, settings: Settings) -> Iterator[bytes]:
    """Add first, so that no address that stays in the list leaves the set in between.

    With ``-exist`` the file can be applied again after a failure halfway.
    """
    for command, lists in (("add", changes.added), ("del", changes.removed)):
        for family, batches in lists.items():
            yield from lines(f"{command} {set_name(family, settings)} ", batches, " -exist\n")


SYNTAX = Syntax("ipset", _whole, _changes, frozenset({"name"}))
