"""The texts of lists of prefixes, and of their changes, from templates.

``syntaxes`` is the table of the syntaxes. No import here is slow: ``geolookup prefixes --help``
reads that table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import product, repeat
from string import Template
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

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
#: The members of ``Changes``.
ListName = Literal["added", "removed"]
_WORD = r"[A-Za-z][A-Za-z0-9_]{0,22}", "a letter, then letters, digits and _, at most 23 characters"
_TARGET = (
    r"[A-Za-z][A-Za-z0-9_-]{0,27}",
    "a letter, then letters, digits, _ and -, at most 28 characters",
)
_VALUE = r"[A-Za-z0-9_.-]{1,64}", "letters, digits and . _ -, at most 64 characters"
_ACL = (
    r"#[0-9]{1,9}|[A-Za-z0-9_./@:+-]{1,1024}",
    "a path of letters, digits and . _ / @ : + -, or # and a number",
)
#: Chains of iptables, because a file would empty them, and targets of its rules.
_RESERVED = ("INPUT", "FORWARD", "OUTPUT", "ACCEPT", "DROP", "QUEUE", "RETURN")
_PREFIX = re.compile(rb"(?<![\w.:/])[0-9A-Fa-f.:]+/[0-9]+(?![\w.:/])")
#: Stands for the text of an entry while a template is filled in.
_ENTRY = "\0"


class Changes(NamedTuple):
    """The entries added to lists and removed from them. Both have the same families."""

    added: Lists
    removed: Lists


def _setting(default: str, form: tuple[str, str], described: str) -> Any:
    return field(default=default, metadata={"form": form, "help": described})


@dataclass(frozen=True)
class Settings:
    """Names in an output, set by the user.

    A name is not escaped in the output. Its form keeps it one word in every syntax, so no name
    can add a rule, and within the length that each tool accepts with its suffix.
    """

    name: str = _setting(
        "geolookup", _WORD, "Name of the set, chain, variable, constant or object group."
    )
    table: str = _setting("geolookup", _TARGET, "Table of nftables that has the sets.")
    target: str = _setting("DROP", _TARGET, "Target of the rules of iptables.")
    value: str = _setting("1", _VALUE, "Value of nginx's variable for addresses in the list.")
    acl: str = _setting(
        "/etc/haproxy/geolookup.lst",
        _ACL,
        "File of the ACL in HAProxy's configuration, or # and its number.",
    )

    def __post_init__(self) -> None:
        """Raise ValueError for a name that is not a word of the syntaxes."""
        for setting in fields(self):
            pattern, form = setting.metadata["form"]
            text = getattr(self, setting.name)
            if not re.fullmatch(pattern, text, re.ASCII):
                raise ValueError(f"{setting.name} {line_text(text)!r} is not {form}")
        if self.name in _RESERVED:
            raise ValueError(f"name {self.name!r} belongs to iptables; choose another name")


@dataclass(frozen=True)
class Entries:
    """The entries of a family: the template of one, and the text between two.

    ``of`` chooses one of the lists of changes. With ``limit``, the two templates of ``command``
    stand around each ``limit`` entries.
    """

    template: str
    of: ListName = "added"
    separator: str = ""
    limit: int | None = None
    command: tuple[str, str] = ("", "")


#: A file, from top to bottom: a template is written once, entries for each family, and a tuple
#: of templates and entries for each family in turn.
Form = tuple[str | Entries | tuple[str | Entries, ...], ...]


@dataclass(frozen=True)
class Syntax:
    """A syntax: its name, and the forms of a list and of changes.

    A template may have ``$prefix`` (of entries), ``$family`` (4 or 6), ``$kind`` (the tool's word
    for the family, of ``kinds``), ``$set`` (the set of the family) and members of ``Settings``.
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
    def settings(self) -> set[str]:
        """The members of ``Settings`` that a text of this syntax has."""
        blank = Settings(**{name: f"x{name}" for name in vars(Settings())})
        steps = [*_steps(self.whole, (4, 6)), *_steps(self.changes or (), (4, 6))]
        texts = "".join(
            "".join((step.template, *step.command)) if isinstance(step, Entries) else step
            for _, step in steps
        )
        result = Template(texts).safe_substitute(self._words(4, blank))
        return {name for name, text in vars(blank).items() if text in result}

    def list_text(self, lists: Lists, settings: Settings) -> Iterator[bytes]:
        """Yield the bytes of lists."""
        if self.write is not None:
            return self.write(lists)
        return self._text(self.whole, Changes(lists, {}), settings)

    def changes_text(self, changes: Changes, settings: Settings) -> Iterator[bytes]:
        """Yield the bytes of changes; nothing if the tool does not read them."""
        return self._text(self.changes or (), changes, settings)

    def prefixes_in(self, content: bytes) -> list[str]:
        """Return the words of the form of a prefix in a list that was written."""
        return [word.decode("ascii") for word in _PREFIX.findall(self.restore(content))]

    def _text(self, form: Form, changes: Changes, settings: Settings) -> Iterator[bytes]:
        is_first = True  # no separator precedes the first entry
        for family, step in _steps(form, changes.added):
            words = self._words(family, settings)
            if isinstance(step, str):
                yield Template(step).substitute(words).encode()
                is_first = True
                continue
            batches = getattr(changes, step.of)[family]
            if self.adapt is not None:
                batches = map(self.adapt, repeat(family), batches)
            for block in _blocks(step, words, batches):
                yield block[len(step.separator) :] if is_first else block
                is_first = False

    def _words(self, family: int, settings: Settings) -> dict[str, object]:
        kind = self.kinds[family == 6]
        name = f"{settings.name}_v{family}"
        return {**vars(settings), "family": family, "kind": kind, "set": name, "prefix": _ENTRY}


def _steps(form: Form, families: Iterable[int]) -> Iterator[tuple[int, str | Entries]]:
    """Yield the templates and entries of a form in order, with the family of each; 0 for none."""
    for step in form:
        if isinstance(step, str):
            yield 0, step
        else:
            of_family = step if isinstance(step, tuple) else (step,)
            yield from product(families, of_family)


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
    for texts in _groups(batches, entries.limit) if entries.limit else batches:
        if len(texts):
            lines = bytes_of(join(before, texts.cast(pa.large_binary()), after)).to_pybytes()
            yield begin + lines + end


def _groups(batches: Iterable[pa.Array], size: int) -> Iterator[pa.Array]:
    """Yield the texts of all batches in groups of ``size`` texts; the last may be smaller."""
    import pyarrow as pa

    pending = pa.array([], pa.string())
    for texts in batches:
        pending = pa.concat_arrays([pending, texts])
        while len(pending) >= size:
            yield pending[:size]
            pending = pending[size:]
    yield pending
