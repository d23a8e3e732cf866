"""Plans: rate (requests per second) and quota (requests in all), built in or from TOML.

Also the rule for names of plans and accounts: commands print each in one line.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from os import PathLike, fspath
from reprlib import repr as short_repr
from typing import NamedTuple, TypeGuard

from geolookup.errors import PlansError, line_text
from geolookup.filesystem import open_regular

#: A clock of microseconds cannot resolve more.
MAX_RATE = 1_000_000
#: Every store counts up to it exactly, including Redis's Lua (IEEE 754 doubles).
MAX_QUOTA = 2**53 - 1
#: The members of a table, and their highest values.
_HIGHEST = {"rate": MAX_RATE, "quota": MAX_QUOTA}
#: Characters of a name, and of another text of the audit log, such as the path of a backup.
_LONGEST_NAME, LONGEST_LINE = 200, 1_000


class Plan(NamedTuple):
    """A plan: rate in requests per second, quota in requests (None: unlimited)."""

    name: str
    rate: int
    quota: int | None

    @property
    def limit(self) -> int:
        """The quota as a number."""
        return MAX_QUOTA if self.quota is None else self.quota


#: The plans without a file. A file adds plans, or replaces them by name.
BUILT_IN = {
    "free": Plan("free", rate=5, quota=2000),
    "paid": Plan("paid", rate=25, quota=None),
}


def read_plans(path: str | PathLike[str] | None = None) -> dict[str, Plan]:
    """Return the built-in plans and the plans of a TOML file, in tables ``[plan.NAME]``.

    ``rate`` is an integer from 1 to 1,000,000, in requests per second; ``quota`` an
    integer number of requests, absent for unlimited. Raises PlansError.
    """
    plans = dict(BUILT_IN)
    if path is not None:
        file = fspath(path)
        try:
            with open_regular(file) as stream:
                content = tomllib.load(stream)
        except OSError as error:
            raise PlansError(f"{file}: cannot be read: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise PlansError(f"{file}: not a TOML file: {error}") from None
        tables = content.pop("plan", {})
        if content or not isinstance(tables, dict):
            strange = ", ".join(content) or "plan"
            raise PlansError(f"{file}: {strange} is not expected; write [plan.NAME] tables")
        plans.update({name: _plan(file, name, table) for name, table in tables.items()})
    return plans


def _plan(file: str, name: str, table: object) -> Plan:
    if not is_name(name):
        raise PlansError(f"{file}: {name_problem('a plan', name)}")
    if not isinstance(table, Mapping):
        raise PlansError(f"{file}: plan.{name} is not a table; write [plan.{name}]")
    for member, value in table.items():
        most = _HIGHEST.get(member)
        if most is None:
            raise PlansError(f"{file}: [plan.{name}] has {member!r}; write rate and quota")
        if type(value) is not int or not 1 <= value <= most:
            raise PlansError(
                f"{file}: [plan.{name}] has {member} = {value!r};"
                f" write a whole number from 1 to {most}"
            )
    if "rate" not in table:
        raise PlansError(f"{file}: [plan.{name}] has no rate; write rate = 25, for example")
    return Plan(name, table["rate"], table.get("quota"))


def is_line(value: object) -> TypeGuard[str]:
    """Return whether a value is a text that a line shows unchanged: without control characters."""
    return isinstance(value, str) and len(value) <= LONGEST_LINE and line_text(value) == value


def is_name(value: object) -> bool:
    """Return whether a value can be the name of an account or a plan."""
    return is_line(value) and value.strip() == value and 0 < len(value) <= _LONGEST_NAME


def name_problem(kind: str, name: str) -> str:
    """Return the message about a name that is refused."""
    return (
        f"{short_repr(name)} is not a name of {kind}; write 1 to {_LONGEST_NAME} characters,"
        " no spaces around, no control or bidirectional characters"
    )
