"""The names of fields in calls and options: paths, members, short names and groups.

``location.city_name``, ``city_name`` and ``city`` name one field; ``location`` names a group: all
its members. ``fields.NAMES`` lists the names. An own column has one name, ``own.site_id``. Names of
other products are hints only.
"""

from __future__ import annotations

from geolookup.contract.fields import ENTRIES, FIELDS, GROUPS, NAMES, OWN, OWN_PREFIX, Field
from geolookup.errors import near_match, suggestion

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: The field that a group means where one value is needed.
_ONE_VALUE = {"currency": "currency.code"}
#: The remedy for a dataset without an own column.
DECLARE = "declare it in [columns] of the recipe"
_EXAMPLES = "write a field, such as country or asn, or a group: location, time, currency or network"


def names_of(arguments: tuple[object, ...]) -> tuple[object, ...]:
    """Return the names in ``*fields``: several texts, or one list of texts."""
    if len(arguments) != 1 or isinstance(arguments[0], str):
        return arguments
    try:
        names = iter(arguments[0])  # type: ignore[call-overload]
    except TypeError:  # not a list: ``unknown_field`` describes it
        return arguments
    return tuple(names)


def resolve_fields(
    names: str | Iterable[object], among: tuple[Field, ...], call: str
) -> tuple[Field, ...]:
    """Return the fields that names mean, groups expanded, each once, in the order of the names.

    ``call`` is the call or option of the names: every message begins with it.
    Raises ValueError for a name of none of the fields ``among``.
    """
    fields: dict[Field, None] = {}
    for name in (names,) if isinstance(names, str) else names:
        path = NAMES.get(name, name) if isinstance(name, str) else ""
        # "location" is the group of its members; the empty text is the group of ip.
        matches = [field for field in among if path in (field.path, field.group) and path]
        if not matches:
            raise unknown_field(name, call, among)
        fields.update(dict.fromkeys(matches))
    return tuple(fields)


def resolve_field(name: object, among: tuple[Field, ...], call: str) -> Field:
    """Return the field that a name means where one value is needed: ``currency`` is its code.

    Raises ValueError for a name of none of the fields ``among``, and for any other group.
    """
    names = [_ONE_VALUE.get(name, name) if isinstance(name, str) else name]
    fields = resolve_fields(names, among, call)
    if name in (*GROUPS, OWN) and name not in _ONE_VALUE:
        members = ", ".join(field.short_name for field in fields)
        raise ValueError(f"{call}: {name} is a group; name one of its members: {members}")
    return fields[0]


def unknown_field(name: object, call: str, among: tuple[Field, ...] = FIELDS) -> ValueError:
    """Return the error for a name that no field has, or none of the fields ``among``.

    Arguments in the wrong order make an address the name, also as a number or as bytes: the text
    does not contain it.
    """
    if not isinstance(name, str):
        return ValueError(f"{call}: a field is a text; write several texts or one list of texts")
    # A malformed address too: no field begins with a digit or has a colon.
    if name.strip()[:1].isdigit() or ":" in name or is_address_or_network(name):
        return ValueError(f"{call}: an address is not a field; {_EXAMPLES}")
    own = [field.path for field in among if field.group == OWN]
    if name == OWN:
        remedy = "declare them in [columns] of the recipe"
        return ValueError(f"{call}: the dataset has no own columns; {remedy}")
    if name.startswith(OWN_PREFIX):
        remedy = near_match(name, own) if own else DECLARE
        return ValueError(f"{call}: the dataset has no column {name!r}; {remedy}")
    if (path := OWN_PREFIX + name) in own:
        return ValueError(f"{call}: no field {name!r}; {suggestion(path)}")
    if name in NAMES:
        return ValueError(f"{call}: {name} follows from the address or the time, and is not stored")
    if all(part.strip() in NAMES for part in name.split(",")):
        texts = ", ".join(repr(part.strip()) for part in name.split(","))
        return ValueError(f"{call}: no field {name!r}; write several texts: {texts}")
    return ValueError(f"{call}: no field {name!r}; {_hint(name, among)}")


def _hint(name: str, among: tuple[Field, ...]) -> str:
    """Return a suggestion: the legal name that is meant or similar."""
    path = path_of_name(name)
    for field in among:
        if field.path == path:
            names = (field.short_name, field.member, field.path)
            return near_match(name, names, fallback=suggestion(field.short_name))
    return near_match(name, _names(among), fallback=_EXAMPLES)


def _names(among: tuple[Field, ...]) -> Iterator[str]:
    """Yield the legal names of some fields and of their groups."""
    paths = {path for field in among for path in (field.path, field.group)}
    yield from (name for name, path in NAMES.items() if path in paths)
    yield from paths.difference(NAMES.values(), [""])


def path_of_name(name: str) -> str | None:
    """Return the path of the field that has this name here or elsewhere, or None.

    Other products' names are ``countryCode``, ``country.iso_code`` or ``zip``. A column
    (``location_city_name``) counts as well.
    """
    # "country.iso_code" -> "countryisocode" and "isocode".
    whole, last = _plain(name), _plain(name.rpartition(".")[2])
    others = {other: entry.path for entry in ENTRIES for other in entry.other_names.split()}
    own = {_plain(name): path for name, path in NAMES.items() if path not in GROUPS}
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
