"""Paths of an answer as callers write them: groups, names of other products, errors."""

from __future__ import annotations

from geolookup.contract.fields import ENTRIES, FIELDS, PATHS, Field
from geolookup.errors import near_match

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable

_KNOWN = "write location, time, currency, network or a member, such as location.country_code"


def expand(paths: Iterable[str], fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the fields that paths name, groups expanded, each once, in the order given.

    Raises ValueError for a path that names none of those ``fields``.
    """
    chosen: dict[Field, None] = {}
    for path in paths:
        # "location" is the group of its members; the empty text is the group of ip.
        matches = [field for field in fields if path in (field.path, field.group) and path]
        if not matches:
            raise unknown_path(path, *(field.path for field in fields if field.path not in PATHS))
        chosen.update(dict.fromkeys(matches))
    return tuple(chosen)


def unknown_path(path: object, *more: str) -> ValueError:
    """Return the error for a path that is neither in ``PATHS`` nor in ``more``.

    Arguments in the wrong order make an address the path: the text does not contain it.
    """
    if not isinstance(path, str) and hasattr(path, "__iter__"):
        return ValueError("no field or group: get takes one path, get_many takes several")
    if is_address_or_network(path):
        return ValueError(f"no field or group, but an address; {_KNOWN}")
    called = path_of_name(str(path))
    hint = near_match(called or path, (called,) if called else (*PATHS, *more), fallback=_KNOWN)
    return ValueError(f"no field or group {path!r}; {hint}")


def path_of_name(name: str) -> str | None:
    """Return the path of the field that has this name elsewhere, or None.

    Other products' names are ``countryCode``, ``country.iso_code`` or ``zip``. A member without
    its object (``city_name``) and a column (``location_city_name``) count as well.
    """
    # "country.iso_code" -> "countryisocode" and "isocode".
    whole, last = _plain(name), _plain(name.rpartition(".")[2])
    others = {other: entry.path for entry in ENTRIES for other in entry.other_names.split()}
    # reversed: of equal member names the first field in contract order wins.
    own = {_plain(field.member): field.path for field in reversed(FIELDS)}
    own |= {_plain(field.path): field.path for field in FIELDS}
    paths = (names.get(word) for word in (whole, last) for names in (others, own))
    return next(filter(None, paths), None)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def is_address_or_network(value: object) -> bool:
    """Return whether a value is an address or a network, also as ``clean=True`` reads it.

    Such a value stands in no message.
    """
    from geolookup.contract.address import is_address
    from geolookup.contract.cleaning import clean_text

    return is_address(str(clean_text(str(value).partition("/")[0])))
