"""What can be asked of a table: contract paths, and the columns that they name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from geolookup.contract.envelope import PATHS, unknown_path

#: Asked for by name only: it is of the envelope, not of data.
ERROR_CODE = "error_code"
_GROUPS = tuple(path for path in PATHS if any(each.startswith(f"{path}.") for each in PATHS))


@dataclass(frozen=True, slots=True)
class Field:
    """One member of an answer."""

    path: str  # "location.country_code"; "ip", "ip_type" and "error_code" have no dot

    @property
    def name(self) -> str:
        """The name of its column, without any prefix."""
        return self.path.replace(".", "_")

    @property
    def group(self) -> str:
        """The object it is in, "" where it is in none."""
        return self.path.rpartition(".")[0]

    @property
    def member(self) -> str:
        """Its name in that object."""
        return self.path.rpartition(".")[2]


FIELDS = tuple(Field(path) for path in PATHS if path not in _GROUPS)
#: What an address alone tells, so that row numbers cannot.
OF_ADDRESS = (Field("ip"), Field("ip_type"), Field(ERROR_CODE))
OF_ROW = tuple(field for field in FIELDS if field not in OF_ADDRESS)


def of_table(paths: str | Iterable[str] | None) -> tuple[Field, ...]:
    """Return the fields that paths name, groups spelled out, each once, in the order given.

    None: all but ``ip``, which the table has already, and ``error_code``.
    Raises ValueError for a path that the contract does not have.
    """
    if paths is None:
        return tuple(field for field in FIELDS if field.path != "ip")
    return _spelled_out(paths, (*FIELDS, Field(ERROR_CODE)))


def of_rows(paths: str | Iterable[str] | None) -> tuple[Field, ...]:
    """Return the fields that paths name among those a row number leads to; None: all of them.

    Raises ValueError for a path that is none, or that only an address leads to.
    """
    if paths is None:
        return OF_ROW
    found = _spelled_out(paths, (*FIELDS, Field(ERROR_CODE)))
    for field in found:
        if field in OF_ADDRESS:
            raise ValueError(f"{field.path!r} is not a row's but its address's: use enrich")
    return found


def _spelled_out(paths: str | Iterable[str], known: tuple[Field, ...]) -> tuple[Field, ...]:
    chosen: dict[Field, None] = {}
    for path in [paths] if isinstance(paths, str) else paths:
        found = [field for field in known if path in (field.path, field.group) and path]
        if not found:
            raise unknown_path(path, ERROR_CODE)
        chosen.update(dict.fromkeys(found))
    return tuple(chosen)
