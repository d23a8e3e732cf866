"""Answers of both kernels, off the hot path: copies, comparison, pickles, texts.

Two answers are equal if their envelopes and prefixes are. An answer is pickled by value:
either kernel can read it, without the dataset. A repr does not hold the address: logs and
tracebacks show reprs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from geolookup.contract import fields
from geolookup.contract.envelope import Object
from geolookup.errors import line_text, near_match, suggestion

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

    from geolookup.contract.types import Data
    from geolookup.dataset.networks import Network
    from geolookup.kernel.python_answer import Answer, View
else:

    def __getattr__(name: str) -> Any:
        if name != "Answer":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return type(restore(None, None, 0))  # of the kernel of this process


#: Attributes of types that are no address, by mistake: lists, bytes, networks, numbers, engines.
_MISTAKES = ("__iter__", "__index__", "lookup_json")


def check_type(call: str, ip: object) -> None:
    """Raise TypeError for an argument that a caller cannot mean as one address.

    Texts, addresses of ``ipaddress`` and missing values such as None and NaN are no mistake.
    """
    kind = type(ip)
    if not issubclass(kind, str) and any(hasattr(kind, name) for name in _MISTAKES):
        remedy = "pass the text of one address; get_many takes a list of them"
        raise TypeError(f"{call}: ip is of type {kind.__name__}; {remedy}")


def local_time(text: str | None) -> dt.datetime | None:
    """Return ``current_time`` as an aware datetime, with the offset of the zone."""
    from datetime import datetime

    return None if text is None else datetime.fromisoformat(text)


def restored_prefix(text: str | None) -> Network | None:
    """Return the prefix of a restored answer."""
    from ipaddress import ip_network

    return None if text is None else ip_network(text)


def member_of(data: Data, name: str, group: str | None) -> Any:
    """Return a member of data, or of one of its groups; None if it is absent."""
    values: Mapping[str, Any] = cast("Object", data)[group] if group else data
    return copy_value(values.get(name))


def copy_value(value: Any) -> Any:
    """Return a value, a list as a copy that the caller may change."""
    return value.copy() if isinstance(value, list) else value


def copy_data(data: Data) -> Data:
    """Copy data with its groups and lists."""
    copy: Any = data.copy()
    for group in fields.GROUPS:
        copy[group] = {name: member_of(data, name, group) for name in copy[group]}
    return cast("Data", copy)


def equal(answer: Answer, other: object) -> Any:
    """Return whether two answers are equal; NotImplemented for anything else."""
    if type(other) is not type(answer):
        return NotImplemented
    own = members(answer.own) == members(other.own)
    return own and answer.to_dict() == other.to_dict() and answer.prefix == other.prefix


def hash_of(answer: Answer) -> int:
    """Return the hash of an answer."""
    # Equal answers have equal hashes; the prefix needs a search, and is left out.
    return hash((answer.ip, answer.error_code, answer.time.current_timestamp))


def reduce(answer: Answer) -> tuple[object, ...]:
    """Return how an answer is pickled: by its data, prefix, error code and own columns."""
    text = None if answer.prefix is None else str(answer.prefix)
    own = members(answer.own)
    # code 0: no error. ``restore`` is a function of this module: either kernel reads the pickle.
    return restore, (
        answer.to_dict()["data"],
        text,
        answer.error_code or 0,
        *([own] if own else []),
    )


def restore(data: Data | None, prefix: str | None, code: int, own: Object | None = None) -> Answer:
    """Return an answer of the kernel of this process from its pickled state."""
    from geolookup import kernel

    return kernel.restore(data, prefix, code, own)


def text(answer: Answer) -> str:
    """Return the repr of an answer: country, city and network, without the address."""
    network = answer.network
    asn = f"AS{network.asn}" if network.asn else network.isp
    parts = [answer.location.country_code, answer.location.city_name, asn]
    if not answer:
        return f"<geolookup.Answer error {answer.error_code}>"
    # A terminal would obey control characters in a text of the dataset.
    return f"<geolookup.Answer {line_text(', '.join(filter(None, parts))) or 'unknown'}>"


def missing(name: str, group: str | None, names: tuple[str, ...] = ()) -> AttributeError:
    """Return the error for a member that an answer, or a group with these names, does not have."""
    owner = f"geolookup.Answer.{group}" if group else "geolookup.Answer"
    # Tools look for special names.
    hint = "" if name.startswith("_") else f"; {_hint(name, group, names)}"
    # Without ``obj`` a traceback adds no name of its own.
    return AttributeError(f"{owner} has no member {name!r}{hint}", name=name)


def _hint(name: str, group: str | None, names_of_group: tuple[str, ...]) -> str:
    from geolookup.contract.paths import DECLARE, path_of_name

    path = path_of_name(name) or ""
    if group is None:
        others = ["own", "prefix", "success", "error_code", "error_message", "to_dict"]
        names = [path, *fields.PATHS, *others]
        return suggestion(path) if path else near_match(name, names)
    if not names_of_group:
        return DECLARE
    member = path.removeprefix(f"{group}.")
    return suggestion(member) if member in names_of_group else near_match(name, names_of_group)


def members(view: View) -> Object:
    """Return the members of a view by name, in contract order."""
    return {name: getattr(view, name) for name in view._names}  # noqa: SLF001 - of both kernels


def equal_views(view: View, other: object) -> Any:
    """Return whether two views of one group are equal; NotImplemented for anything else."""
    if type(other) is not type(view):
        return NotImplemented
    same_group: bool = view._group == other._group  # noqa: SLF001 - of both kernels
    return same_group and members(view) == members(other)


def hashed_view(view: View) -> int:
    """Return the hash of a view."""
    values = members(view).values()
    # Lists cannot be hashed.
    return hash(tuple(tuple(value) if isinstance(value, list) else value for value in values))


def view_text(view: View) -> str:
    """Return the repr of a view: the members that are known."""
    values = {name: value for name, value in members(view).items() if value is not None}
    known = ", ".join(f"{name}={value!r}" for name, value in values.items())
    return f"{view._group.capitalize()}View({known})"  # noqa: SLF001 - of both kernels


def card(answer: Answer) -> str:
    """Return an answer as HTML for a notebook: a table of the known values."""
    from geolookup.contract.display import html_table, join_values, network_name, place_name

    if not answer:
        return html_table(f"error {answer.error_code}", [("message", answer.error_message)])
    location, time = answer.location, answer.time
    currency, network = answer.currency, answer.network
    location_name = place_name(members(location)) or "unknown"
    return html_table(
        join_values(location.country_flag_emoji, location_name, by=" "),
        [
            ("address", answer.ip),
            ("prefix", answer.prefix),
            ("coordinates", join_values(location.latitude, location.longitude)),
            ("local time", join_values(time.current_time, time.zone, by=" ")),
            ("currency", join_values(currency.code, currency.name)),
            ("network", network_name(members(network))),
            ("kind", join_values(network.connection_type, network.user_type)),
            *(
                (f"own.{name}", ", ".join(value) if isinstance(value, list) else value)
                for name, value in members(answer.own).items()
            ),
        ],
    )
