"""An answer as an object, in the Python kernel: an immutable view of data that was read at once.

The compiled kernel has classes of the same names and members; ``answers`` has their common parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Never, TypeVar

from geolookup.contract import envelope, fields
from geolookup.errors import ContractError, InvalidAddressError, PrivateAddressError
from geolookup.kernel import answers

if TYPE_CHECKING:
    import datetime as dt
    from typing import dataclass_transform

    from geolookup.contract.envelope import Object
    from geolookup.contract.types import Data, Envelope
    from geolookup.dataset.networks import Network
    from geolookup.kernel.python_state import State
else:

    def dataclass_transform(**_options: object) -> Any:
        """No-op at run time; type checkers then refuse assignments."""
        return lambda kind: kind


class _Immutable:
    __slots__ = ()

    def __setattr__(self, name: str, _value: object) -> Never:
        raise AttributeError(f"{type(self).__name__} is immutable: {name!r} cannot be set")

    def __delattr__(self, name: str) -> Never:
        raise AttributeError(f"{type(self).__name__} is immutable: {name!r} cannot be deleted")


class Answer(_Immutable):
    """The answer for one address: an immutable view, whose members are read on access.

    All members are of one instant and one generation of the dataset, and the answer keeps that
    generation open. Unknown members are None. The answer for a malformed or private address is
    false, and all its members are None except ``error_code``, ``error_message`` and the own columns
    of a private address. Answers compare equal by value, own columns included, are hashable, and
    are pickled by value. The repr does not hold the address.
    """

    __slots__ = ("_data", "_error", "_own", "_prefix", "_state")

    _data: Data | None  # None: malformed or private
    _error: type[ContractError]
    _own: Object | None  # None: the dataset has no own columns
    _state: State | None  # None: no answer, or one that was restored
    _prefix: str | None  # of an answer that was restored

    @property
    def ip(self) -> str | None:
        """The address, as ``data.ip`` of the envelope; None if it is malformed or private."""
        return self._data and self._data["ip"]

    @property
    def ip_type(self) -> Literal["ipv4", "ipv6"] | None:
        """``"ipv4"`` or ``"ipv6"``; None if the address is malformed or private."""
        return self._data and self._data["ip_type"]

    @property
    def location(self) -> LocationView:
        """Continent, country and place."""
        return _view(LocationView, self)

    @property
    def time(self) -> TimeView:
        """The local time at the instant of the answer."""
        return _view(TimeView, self)

    @property
    def currency(self) -> CurrencyView:
        """The currency of the country."""
        return _view(CurrencyView, self)

    @property
    def network(self) -> NetworkView:
        """Who announces and uses the network."""
        return _view(NetworkView, self)

    @property
    def own(self) -> OwnView:
        """The own columns of the dataset, for a private address too."""
        return _view(OwnView, self)

    @property
    def prefix(self) -> Network | None:
        """The largest aligned network around the address with one answer, own columns included."""
        if self._state is None:
            return answers.restored_prefix(self._prefix)
        from geolookup.dataset.networks import network_of

        return network_of(self._state.dataset, self.ip)

    @property
    def success(self) -> bool:
        """Whether there is an answer: the address is well-formed and public."""
        return bool(self)

    @property
    def error_code(self) -> int | None:
        """10001 (malformed address), 10002 (private address), or None."""
        return None if self else self._error.code

    @property
    def error_message(self) -> str | None:
        """The message of the error code, or None."""
        return None if self else self._error.message

    def to_dict(self) -> Envelope:
        """Return the envelope, as ``lookup`` does; the caller may change it."""
        if self._data is not None:
            return envelope.success(answers.copy_data(self._data))
        return envelope.failure(self._error)

    if not TYPE_CHECKING:  # with __getattr__ a type checker accepts any name

        def __getattr__(self, name: str) -> Any:
            raise answers.missing(name, None)

    def __bool__(self) -> bool:
        return self._data is not None

    def __eq__(self, other: object) -> Any:
        return answers.equal(self, other)

    def __hash__(self) -> int:
        return answers.hash_of(self)

    def __repr__(self) -> str:
        return answers.text(self)

    def _repr_html_(self) -> str:
        return answers.card(self)

    def __copy__(self) -> Answer:
        return self

    def __deepcopy__(self, _memo: object) -> Answer:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return answers.reduce(self)


def answer_of(state: State, ip: object, second: int) -> Answer:
    """Return the answer for an address."""
    own = None
    if columns := state.dataset.schema.own:
        own = state._own(ip) or dict.fromkeys(column.member for column in columns)
    try:
        return _make(state=state, data=state._data(state._find(ip), second), own=own)
    except ContractError as error:
        return _make(error=type(error), own=own)


def restore(data: Data | None, prefix: str | None, code: int, own: Object | None = None) -> Answer:
    """Return an answer from its pickled members.

    ``data``, ``prefix`` and ``own`` belong to the answer; ``code`` is the code of its error,
    or 0. ``own`` is None if the dataset has no own columns.
    """
    error = PrivateAddressError if code == PrivateAddressError.code else InvalidAddressError
    return _make(data=data, prefix=prefix, error=error, own=own)


def _make(**members: object) -> Answer:
    # object.__setattr__: the own __setattr__ refuses. "_state" takes the argument ``state``.
    answer = Answer()
    for name in Answer.__slots__:
        object.__setattr__(answer, name, members.get(name[1:]))
    return answer


@dataclass_transform(frozen_default=True)
class View(_Immutable):
    """A group of an answer: an immutable view, whose members are read on access.

    Unknown members are None. Views compare equal by value and are hashable.
    """

    __slots__ = ("_answer",)

    _answer: ClassVar[Answer]  # no member for type checkers; set in each instance
    _group: ClassVar[str]

    if not TYPE_CHECKING:  # with __getattr__ a type checker accepts any name

        def __getattr__(self, name: str) -> Any:
            if name not in self._names:
                raise answers.missing(name, self._group, self._names)
            data = self._answer._data
            value = None if data is None else answers.member_of(data, name, self._group)
            return answers.local_time(value) if name == "current_time" else value

    @property
    def _names(self) -> tuple[str, ...]:
        return fields.members(fields.FIELDS, self._group)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names]

    def __eq__(self, other: object) -> Any:
        return answers.equal_views(self, other)

    def __hash__(self) -> int:
        return answers.hashed_view(self)

    def __repr__(self) -> str:
        return answers.view_text(self)

    def __reduce__(self) -> tuple[object, ...]:
        return getattr, (self._answer, self._group)


_V = TypeVar("_V", bound=View)


def _view(kind: type[_V], answer: Answer) -> _V:
    view = object.__new__(kind)
    object.__setattr__(view, "_answer", answer)
    return view


class LocationView(View):
    """Where an address is: continent, country and place; see ``contract.types.Location``."""

    __slots__ = ()
    _group = "location"

    # --- generated by python -m docs.fields: location
    continent_code: str | None
    continent_name: str | None
    country_code: str | None
    country_code_iso3: str | None
    country_name: str | None
    country_capital: str | None
    country_tld: str | None
    country_calling_code: str | None
    country_flag_emoji: str | None
    country_languages: list[str] | None
    country_area_km2: float | None
    country_population: int | None
    country_neighbors: list[str] | None
    country_is_eu: bool | None
    region_code: str | None
    region_name: str | None
    city_name: str | None
    postal_code: str | None
    latitude: float | None
    longitude: float | None
    weather_code: str | None
    # --- end of the generated part


class TimeView(View):
    """The local time of an address; ``current_time`` is an aware datetime."""

    __slots__ = ()
    _group = "time"

    # --- generated by python -m docs.fields: time
    zone: str | None
    abbr: str | None
    utc_offset: str | None
    utc_offset_seconds: int | None
    current_time: dt.datetime | None
    current_timestamp: int | None
    is_dst: bool | None
    # --- end of the generated part


class CurrencyView(View):
    """The currency of the country."""

    __slots__ = ()
    _group = "currency"

    # --- generated by python -m docs.fields: currency
    code: str | None
    name: str | None
    symbol: str | None
    # --- end of the generated part


class NetworkView(View):
    """Who announces and uses the network of an address."""

    __slots__ = ()
    _group = "network"

    # --- generated by python -m docs.fields: network
    asn: int | None
    asn_organization: str | None
    isp: str | None
    organization: str | None
    connection_type: str | None
    user_type: str | None
    # --- end of the generated part


class OwnView(View):
    """The own columns of an answer; their names depend on the dataset."""

    __slots__ = ()
    _group = fields.OWN

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the value of a column; None if it is unknown."""

    else:

        def __getattr__(self, name: str) -> Any:
            if name not in self._names:
                raise answers.missing(name, self._group, self._names)
            return answers.copy_value(self._answer._own[name])

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(self._answer._own or ())
