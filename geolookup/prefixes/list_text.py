"""The texts of lists of prefixes, and of their changes, from templates.

``syntaxes`` is the table of the syntaxes. No import here is slow: ``geolookup prefixes --help``
reads that table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product, repeat
from string import Template
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from geolookup.errors import line_text

if TYPE_CHECKING:
    import pyarrow as pa

#: By family, the entries of a list in address order, in batches. A family without an entry
#: has no batch, or an empty one; a family that was not asked for is missing.
Lists: TypeAlias = "Mapping[int, Iterable[pa.Array]]"
#: The entries of a list: texts of prefixes, texts of ranges, or structs of ``network`` (the text
#: of a prefix) and the value of each field of ``--by``. Each family has a batch of structs,
#: perhaps an empty one, for their members.
EntryKind = Literal["prefix", "range", "row"]
_PREFIX = re.compile(rb"(?<![\w.:/])[0-9A-Fa-f.:]+/[0-9]+(?![\w.:/])")
#: Stands for the text of an entry while a template is filled in.
_ENTRY = "\0"


class Name(NamedTuple):
    """A name in an output that the user chooses.

    It is not escaped in the output. Its form, the pattern in words, keeps it one word in every
    syntax, so no name can add a rule, and within the length that each tool accepts with its suffix.
    """

    default: str
    pattern: str
    form: str
    help: str


_TARGET = (
    r"[A-Za-z][A-Za-z0-9_-]{0,27}",
    "a letter, then letters, digits, _ and -, at most 28 characters",
)
NAMES = {
    "name": Name(
        "geolookup",
        r"[A-Za-z][A-Za-z0-9_]{0,22}",
        "a letter, then letters, digits and _, at most 23 characters",
        "the set, chain, variable, constant or object group",
    ),
    "table": Name("geolookup", *_TARGET, "the table of nft"),
    "target": Name("DROP", *_TARGET, "the target of iptables"),
    "value": Name(
        "1",
        r"[A-Za-z0-9_.-]{1,64}",
        "letters, digits and . _ -, at most 64 characters",
        "the value of nginx-geo",
    ),
    "acl": Name(
        "/etc/haproxy/geolookup.lst",
        r"#[0-9]{1,9}|[A-Za-z0-9_./@:+-]{1,1024}",
        "a path of letters, digits and . _ / @ : + -, or # and a number",
        "the file of the ACL of haproxy, or # and its number",
    ),
}
#: Chains of iptables, because a file would empty them, and targets of its rules.
_RESERVED = ("INPUT", "FORWARD", "OUTPUT", "ACCEPT", "DROP", "QUEUE", "RETURN")


def checked_names(**chosen: str) -> dict[str, str]:
    """Return all names of an output: the chosen ones, and defaults for the others.

    Raises ValueError for a name that some syntax cannot hold.
    """
    names = {member: name.default for member, name in NAMES.items()} | chosen
    for member, text in names.items():
        if not re.fullmatch(NAMES[member].pattern, text, re.ASCII):
            raise ValueError(f"{member} {line_text(text)!r} is not {NAMES[member].form}")
    if names["name"] in _RESERVED:
        raise ValueError(f"name {names['name']!r} belongs to iptables; choose another name")
    return names


@dataclass(frozen=True)
class Entries:
    """The entries of a family: the template of one, and the text between two.

    ``removed`` selects the entries that changes delete. The templates of ``command`` are written
    before and after each group of at most ``limit`` entries.
    """

    template: str
    removed: bool = False
    separator: str = ""
    limit: int = 1 << 30
    command: tuple[str, str] = ("", "")


#: A file, from top to bottom: a template is written once, entries for each family, and a tuple
#: of templates and entries for each family in turn.
Form = tuple[str | Entries | tuple[str | Entries, ...], ...]


@dataclass(frozen=True)
class Syntax:
    """A syntax: its name, and the forms of a list and of changes.

    A template may have ``$prefix`` (of entries), ``$family`` (4 or 6), ``$kind`` (the tool's word
    for the family, of ``kinds``), ``$set`` (the set of the family) and the keys of ``NAMES``.
    ``changes`` is None if the tool replaces lists as a whole. ``adapt`` makes texts of the entries
    of a family, ``restore`` changes its texts back. ``write`` replaces the form of a list.
    """

    name: str
    whole: Form = ()
    changes: Form | None = None
    kinds: tuple[str, str] = ("", "")
    entries: EntryKind = "prefix"
    adapt: Callable[[int, pa.Array], pa.Array] | None = None
    restore: Callable[[bytes], bytes] = bytes
    write: Callable[[Lists], Iterator[bytes]] | None = None

    @property
    def names(self) -> set[str]:
        """The keys of ``NAMES`` that a text of this syntax has."""
        used = set(re.findall(r"\$\{?(\w+)", repr((self.whole, self.changes))))
        # The set of a family has the name in it.
        return (used | {"name"} if "set" in used else used) & NAMES.keys()

    def text(
        self, lists: Lists, names: Mapping[str, str], removed: Lists | None = None
    ) -> Iterator[bytes]:
        """Yield the bytes of a list, or of changes: ``lists`` to add, ``removed`` to delete."""
        if self.write is not None:
            yield from self.write(lists)
            return
        is_first = True  # no separator precedes the first entry
        form = self.whole if removed is None else self.changes or ()
        for family, step in _steps(form, lists):
            kind, name = self.kinds[family == 6], f"{names['name']}_v{family}"
            words = {**names, "family": family, "kind": kind, "set": name, "prefix": _ENTRY}
            if isinstance(step, str):
                yield Template(step).substitute(words).encode()
                is_first = True
                continue
            batches = (removed if step.removed and removed is not None else lists)[family]
            if self.adapt is not None:
                batches = map(self.adapt, repeat(family), batches)
            for block in _blocks(step, words, batches):
                yield block[len(step.separator) :] if is_first else block
                is_first = False

    def prefixes_in(self, content: bytes) -> list[str]:
        """Return the words of the form of a prefix in a list that was written."""
        return [word.decode("ascii") for word in _PREFIX.findall(self.restore(content))]


def _steps(form: Form, families: Iterable[int]) -> Iterator[tuple[int, str | Entries]]:
    """Yield the templates and entries of a form in order, with the family of each; 0 for none."""
    for step in form:
        if isinstance(step, str):
            yield 0, step
        else:
            yield from product(families, step if isinstance(step, tuple) else (step,))


def _blocks(
    entries: Entries, words: Mapping[str, object], batches: Iterable[pa.Array]
) -> Iterator[bytes]:
    """Yield the bytes of batches of texts, with a separator before each text.

    The values of an Arrow column of texts lie one after the other in memory. With the text
    before and after each of them, that memory is the file.
    """
    import pyarrow as pa

    from geolookup.files.column_text import bytes_of, join

    template = Template(entries.separator + entries.template).substitute(words)
    # "add set \0\n" is split into the texts before and after an entry.
    before, after = (text.encode() for text in template.split(_ENTRY))
    begin, end = (Template(line).substitute(words).encode() for line in entries.command)
    for texts in batches:
        for at in range(0, len(texts), entries.limit):
            part = texts[at : at + entries.limit].cast(pa.large_binary())
            yield begin + bytes_of(join(before, part, after)).to_pybytes() + end
