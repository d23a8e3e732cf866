"""What a user may name in an output, and what such a name may contain.

A name stands in the output as it is. The rules keep it one word in every syntax, so that no name
can add a rule, and within the length that each tool accepts with what is appended to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from geolookup.errors import line_text

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,22}", re.ASCII)
_VALUE = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
_ACL = re.compile(r"#[0-9]{1,9}|[A-Za-z0-9_./@:+-]{1,1024}", re.ASCII)
_PLACE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,27}", re.ASCII)
#: Chains that iptables has, which a file would empty, and targets of its rules.
_RESERVED = ("INPUT", "FORWARD", "OUTPUT", "ACCEPT", "DROP", "QUEUE", "RETURN")
_WORD_FORM = "a letter, then letters, digits and _, at most 23 characters"
_PLACE_FORM = "a letter, then letters, digits, _ and -, at most 28 characters"
_FORMS = {
    "name": (_WORD, _WORD_FORM),
    "table": (_PLACE, _PLACE_FORM),
    "target": (_PLACE, _PLACE_FORM),
    "value": (_VALUE, "letters, digits and . _ -, at most 64 characters"),
    "acl": (_ACL, "a path of letters, digits and . _ / @ : + -, or # and a number"),
}


@dataclass(frozen=True)
class Settings:
    """Names in an output; a syntax reads those that it ``takes``.

    name: the set, chain, variable, constant or object group. table: the table of nftables that
    has the sets. target: what the rules of iptables do. value: what nginx's variable is in the
    list. acl: the file of patterns as HAProxy's configuration names it, or ``#`` and the number
    of an ACL.
    """

    name: str = "geolookup"
    table: str = "geolookup"
    target: str = "DROP"
    value: str = "1"
    acl: str = "/etc/haproxy/geolookup.lst"

    def __post_init__(self) -> None:
        """Raise ValueError for a name that is not a word of the syntaxes."""
        for each in fields(self):
            pattern, form = _FORMS[each.name]
            text = getattr(self, each.name)
            if not pattern.fullmatch(text):
                raise ValueError(f"{each.name} {line_text(text)!r} is not {form}")
        if self.name in _RESERVED:
            raise ValueError(f"name {self.name!r} belongs to iptables; choose another name")
