"""The fields of one dataset: the contract's, then its own columns.

A recipe declares own columns in ``[columns]``; the manifest of the dataset repeats them. Each is a
``Field`` of the group ``own``, with the path ``own.NAME``. It belongs to no envelope.
"""

from __future__ import annotations

import re

from geolookup.contract.fields import (
    BOOLEAN,
    ERROR_CODE,
    FIELDS,
    NAMES,
    OWN,
    REAL,
    TEXT,
    TEXTS,
    Field,
    by_layer,
)

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

#: The types of own columns, as recipes and manifests write them.
TYPES = {"text": TEXT, "integer": "int64", "real": REAL, "boolean": BOOLEAN, "texts": TEXTS}
#: The members of a column in the manifest.
MEMBERS = ("name", "type", "group", "description", "private")
MAX_COLUMNS = 100
_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
#: Names of the contract's fields, of ranges in files, and of other columns in ``own.arrow``.
_RESERVED = frozenset(
    (
        *(part for name in NAMES for part in (name, name.rpartition(".")[2])),
        *(field.source_column for field in FIELDS),
        *("first", "last", "netmask", "row", "json", OWN, ERROR_CODE.path),
    )
)


class Schema:
    """The fields of one dataset, and the lists that follow from them."""

    __slots__ = ("by_source_column", "columns", "fields", "layers", "own", "stated", "stored")

    def __init__(self, own: Iterable[Field] = ()) -> None:
        self.own = tuple(own)
        self.fields = (*FIELDS, *self.own)
        #: the fields that a table of the dataset stores
        self.stored = tuple(field for field in self.fields if field.table)
        #: the columns that an enriched table can have
        self.columns = (*self.fields, ERROR_CODE)
        #: by layer, the columns that a source row may state
        self.stated = by_layer(self.fields)
        self.layers = tuple(self.stated)
        self.by_source_column = {
            field.source_column: field for field in self.fields if field.source_column
        }

    def in_table(self, table: str) -> tuple[Field, ...]:
        """Return the fields that a table of the dataset stores, in the order of its columns."""
        return tuple(field for field in self.fields if field.table == table)

    @property
    def private_layers(self) -> tuple[str, ...]:
        """The layers that are known in special-purpose space too."""
        return tuple(dict.fromkeys(field.layer for field in self.own if field.private))


#: The schema of a dataset without own columns.
CONTRACT = Schema()


def own_field(
    name: str,
    type: str,  # noqa: A002 - the name of the member
    *,
    group: str = "",
    description: str = "",
    private: bool = False,
) -> Field:
    """Return the field of an own column; its type is one of ``TYPES``.

    Raises ValueError for a name or type that no column can have; the text is problem and remedy.
    Raises TypeError for a member of another type.
    """
    if not isinstance(description, str) or not isinstance(private, bool):
        raise TypeError
    for text in (name, group or name):
        if not isinstance(text, str) or not _NAME.fullmatch(text):
            problem = f"{text!r} cannot be a name"
            raise ValueError(f"{problem}; write lower-case letters, digits and _, such as site_id")
    if name in _RESERVED:
        raise ValueError(f"{name!r} is a name of the contract; choose another, such as my_{name}")
    if type not in TYPES:
        raise ValueError(f"{type!r} is not a type of a column; write one of {', '.join(TYPES)}")
    return Field(
        f"{OWN}.{name}",
        TYPES[type],
        description,
        table=OWN,
        layer=f"{OWN}.{group or name}",
        source_column=f"{OWN}.{name}",
        private=private,
        short_name=f"{OWN}.{name}",
    )


def own_schema(columns: Sequence[Mapping[str, Any]]) -> Schema:
    """Return the schema of own columns, given by their members in the manifest.

    Raises ValueError for columns that a recipe cannot declare, TypeError for another member.
    """
    if not columns:
        return CONTRACT
    if len(columns) > MAX_COLUMNS:
        raise ValueError(f"{len(columns)} own columns; declare {MAX_COLUMNS} at most")
    own = [own_field(**column) for column in columns]
    for field in own:
        same = [other for other in own if other.layer == field.layer]
        if [other.path for other in own].count(field.path) > 1:
            raise ValueError(f"{field.member!r} is there twice; keep one of them")
        if len({other.private for other in same}) > 1:
            raise ValueError(f"only some columns of {field.layer} are private; declare all alike")
        if field.path != field.layer and any(other.path == field.layer for other in own):
            raise ValueError(f"{field.layer} is a group and a column; rename one of them")
    return Schema(own)


def column_members(field: Field) -> dict[str, Any]:
    """Return the members of an own column in the manifest; those by default are left out."""
    group = field.layer.rpartition(".")[2]
    members = {
        "name": field.member,
        "type": next(name for name, kind in TYPES.items() if kind == field.type),
        "group": "" if group == field.member else group,
        "description": field.meaning,
        "private": field.private,
    }
    return {name: value for name, value in members.items() if value}
