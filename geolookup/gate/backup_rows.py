"""The rows of a backup: checked one by one, and copied into a new database.

A backup can come from anywhere. So its schema must be ours, and each value must be one that
geolookup writes. Runs are copied without their time: after a restore, no request is recent.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from reprlib import repr as short_repr
from typing import NamedTuple

from geolookup.gate.account_store import is_time
from geolookup.gate.accounts_schema import foreign_object, problem_of
from geolookup.gate.audit import ACTIONS
from geolookup.gate.keys import DIGEST_BYTES, ENVIRONMENTS, IDENTIFIER_DIGITS
from geolookup.gate.names import is_line, is_name
from geolookup.gate.plans import MAX_QUOTA

Rule = Callable[[object], bool]
#: The highest number of a row.
_MOST_ROWS = 2**53


class UnfitError(Exception):
    """A database that is not a whole accounts file with rows as geolookup writes them."""


class Table(NamedTuple):
    """A table, and the rule of each column that is copied; the first column is its key."""

    name: str
    rules: Mapping[str, Rule]

    @property
    def select(self) -> str:
        """The statement that reads the rows."""
        columns = ", ".join(self.rules)
        key = next(iter(self.rules))
        return f"SELECT {columns} FROM {self.name} ORDER BY {key}"  # noqa: S608 - constants

    @property
    def insert(self) -> str:
        """The statement that adds a row."""
        columns, values = ", ".join(self.rules), ", ".join("?" * len(self.rules))
        return f"INSERT INTO {self.name} ({columns}) VALUES ({values})"  # noqa: S608 - constants


def _within(least: int, most: int) -> Rule:
    return lambda value: type(value) is int and least <= value <= most


def _one_of(*values: str) -> Rule:
    return lambda value: isinstance(value, str) and value in values


def _or_null(rule: Rule) -> Rule:
    return lambda value: value is None or rule(value)


def _is_digest(value: object) -> bool:
    return isinstance(value, bytes) and len(value) == DIGEST_BYTES


def _is_identifier(value: object) -> bool:
    return isinstance(value, str) and bool(_IDENTIFIER.fullmatch(value))


_IDENTIFIER = re.compile(f"[0-9a-f]{{{IDENTIFIER_DIGITS}}}")
_is_row = _within(1, _MOST_ROWS)
ACCOUNTS = (
    Table(
        "account",
        {
            "id": _is_row,
            "name": is_name,
            "plan": is_name,
            "created": is_time,
        },
    ),
    Table("run", {"account": _is_row, "used": _within(0, MAX_QUOTA)}),
    Table(
        "key",
        {
            "digest": _is_digest,
            "environment": _one_of(*ENVIRONMENTS),
            "account": _is_row,
            "created": is_time,
            "expires": _or_null(is_time),
            "revoked": _within(0, 1),
        },
    ),
)
LOG = Table(
    "log",
    {
        "id": _is_row,
        "at": is_time,
        "action": _one_of(*ACTIONS),
        "user": is_line,
        "uid": _or_null(_within(0, 2**32)),
        "sudo_user": _or_null(is_line),
        "key": _or_null(_is_identifier),
        "account": _or_null(is_name),
        "detail": _or_null(is_line),
    },
)
_UNCOUNTED = "SELECT 1 FROM account WHERE id NOT IN (SELECT account FROM run)"


def check(db: sqlite3.Connection) -> None:
    """Raise UnfitError unless a database is a sound accounts file, and nothing else."""
    problem = problem_of(db) or foreign_object(db)
    if problem is None and db.execute("PRAGMA integrity_check").fetchone() != ("ok",):
        problem = "is damaged"
    if problem is not None:
        raise UnfitError(problem)


def copy(source: sqlite3.Connection, target: sqlite3.Connection, *tables: Table) -> None:
    """Copy the rows of tables; raise UnfitError for rows that geolookup does not write."""
    for table in tables:
        target.executemany(table.insert, _checked_rows(source, table))
    for orphan in target.execute("PRAGMA foreign_key_check"):
        raise UnfitError(f"has a {orphan[0]} without its account")
    if target.execute(_UNCOUNTED).fetchone() is not None:
        raise UnfitError("has an account without its usage")


def _checked_rows(source: sqlite3.Connection, table: Table) -> Iterator[tuple[object, ...]]:
    for number, row in enumerate(source.execute(table.select), 1):
        for (column, rule), value in zip(table.rules.items(), row, strict=True):
            if not rule(value):
                problem = f"table {table.name}, row {number}: {column} is {short_repr(value)}"
                raise UnfitError(problem)
        yield row
