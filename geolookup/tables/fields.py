"""What can be asked of a table: contract paths, and the columns that they name."""

from __future__ import annotations

from collections.abc import Iterable

from geolookup.contract.fields import COLUMNS, ERROR_CODE, FIELDS, Field
from geolookup.contract.paths import expanded

#: What an address alone tells, so that interval ids cannot.
OF_ADDRESS = (*(field for field in FIELDS if not field.group), ERROR_CODE)
OF_ROW = tuple(field for field in FIELDS if field not in OF_ADDRESS)


def of_table(paths: str | Iterable[str] | None) -> tuple[Field, ...]:
    """Return the fields that paths name, groups expanded, each once, in the order given.

    None: all but ``ip``, which the table has already, and ``error_code``.
    Raises ValueError for a path that the contract does not have.
    """
    if paths is None:
        return tuple(field for field in FIELDS if field.path != "ip")
    return _expanded(paths)


def of_rows(paths: str | Iterable[str] | None) -> tuple[Field, ...]:
    """Return the fields that paths name, of those that an interval id leads to; None: all of them.

    Raises ValueError for a path that the contract does not have, and for a field of the address.
    """
    if paths is None:
        return OF_ROW
    found = _expanded(paths)
    for field in found:
        if field in OF_ADDRESS:
            raise ValueError(f"{field.path!r} is not a row's but its address's: use enrich")
    return found


def _expanded(paths: str | Iterable[str]) -> tuple[Field, ...]:
    return expanded([paths] if isinstance(paths, str) else paths, COLUMNS)
