"""The calls for one address: their signatures and docstrings, stated once for both kernels.

A kernel implements the calls, and ``texts`` gives it the docstrings when it is imported. An engine
inherits the calls of its kernel. The package has those of an engine on the default dataset.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import Any, ClassVar, Literal, TypedDict, Unpack, overload

    from geolookup.contract.types import (
        BooleanField,
        Currency,
        Envelope,
        FieldList,
        FieldName,
        IntegerField,
        Location,
        Network,
        NumberField,
        StringField,
        StringsField,
        Time,
    )
    from geolookup.dataset.files import Dataset
    from geolookup.kernel import State
    from geolookup.kernel.python_answer import Answer

    class GetOptions(TypedDict, total=False):
        """The options of ``get`` and ``get_many``.

        Not ``default``: only overloads without it make a checker see that a value may be None.
        """

        at: Any
        clean: bool


class Get:
    """The type of ``get``: one field has the type of its values, every other call Any."""

    if TYPE_CHECKING:

        @overload
        def __call__(
            self, ip: object, field: StringField, /, **options: Unpack[GetOptions]
        ) -> str | None: ...
        @overload
        def __call__(
            self, ip: object, field: StringsField, /, **options: Unpack[GetOptions]
        ) -> list[str] | None: ...
        @overload
        def __call__(
            self, ip: object, field: NumberField, /, **options: Unpack[GetOptions]
        ) -> float | None: ...
        @overload
        def __call__(
            self, ip: object, field: IntegerField, /, **options: Unpack[GetOptions]
        ) -> int | None: ...
        @overload
        def __call__(
            self, ip: object, field: BooleanField, /, **options: Unpack[GetOptions]
        ) -> bool | None: ...
        @overload
        def __call__(
            self, ip: object, field: Literal["location"], /, **options: Unpack[GetOptions]
        ) -> Location | None: ...
        @overload
        def __call__(
            self, ip: object, field: Literal["time"], /, **options: Unpack[GetOptions]
        ) -> Time | None: ...
        @overload
        def __call__(
            self, ip: object, field: Literal["currency"], /, **options: Unpack[GetOptions]
        ) -> Currency | None: ...
        @overload
        def __call__(
            self, ip: object, field: Literal["network"], /, **options: Unpack[GetOptions]
        ) -> Network | None: ...
        @overload
        def __call__(
            self,
            ip: object,
            field: FieldName | FieldList,
            /,
            *more: FieldName,
            default: Any = None,
            **options: Unpack[GetOptions],
        ) -> Any: ...

    def __call__(
        self,
        ip: object,
        field: Any,
        /,
        *more: Any,
        default: Any = None,
        at: Any = None,
        clean: bool = False,
    ) -> Any:
        """Return the value of a field, or a tuple of the values of several.

        >>> geolookup.get("8.8.8.8", "country", "asn")
        ('US', 15169)

        A field is named by its path (``"location.city_name"``), member (``"city_name"``) or short
        name (``"city"``). A group (``"location"``) is a dict. Several fields are several arguments
        or one list. A value is ``default`` if it is unknown, or if the address is malformed or
        private. Own columns (``"own.site_id"``, or all: ``"own"``) are as in ``own``.
        ``answer`` describes ``ip``, ``at`` and ``clean``. Raises ValueError for an unknown field,
        TypeError or ValueError for an invalid ``ip`` or ``at``, DatasetError for a damaged dataset.
        """
        raise NotImplementedError


class Lookups:
    """Single lookups on one dataset."""

    if TYPE_CHECKING:
        #: Which implementation this is: "compiled" or "python".
        kernel: ClassVar[str]
        get: Get

        def __init__(self, dataset: Dataset) -> None: ...

        def _open_state(self) -> State:
            """Return the current state; raises ClosedError after ``_swap(None)``."""

        def _swap(self, state: Any) -> None:
            """Replace the state by one of the same implementation; None closes."""

    def answer(self, ip: object, *, at: Any = None, clean: bool = False) -> Answer:
        """Return the answer for an address as an object.

        >>> geolookup.answer("8.8.8.8").location.country_name
        'United States'

        ``answer.location.city_name``, ``answer.network.asn``, ``answer.time.current_time`` (an
        aware datetime), ``answer.own.site_id`` (an own column), ``answer.prefix``,
        ``answer.to_dict()``: the envelope. Members are read on access, and an unknown value is
        None. All members are of one generation and of the instant ``at``: Unix seconds, an aware
        datetime, or None for now. The answer for a malformed or private address is false, and has
        ``error_code`` and ``error_message``. Its other members are None, except own columns of a
        private address. With ``clean`` a text may have more than the address: blanks, brackets, a
        port or a zone id. It may also be an X-Forwarded-For list: see
        ``contract.cleaning.clean_text``. Raises TypeError for an ``ip`` that is not one address (a
        list, bytes, a number), TypeError or ValueError for an invalid ``at``, DatasetError for a
        damaged dataset; reading a member raises it too.
        """
        raise NotImplementedError

    def lookup(self, ip: object, *, at: Any = None, clean: bool = False) -> Envelope:
        """Return the envelope for an address; the caller may change it.

        >>> geolookup.lookup("8.8.8.8")["data"]["location"]["country_code"]
        'US'
        >>> geolookup.lookup("10.0.0.1")["error_code"]
        10002

        No address makes this raise: ``error_code`` is 10001 for a malformed one, for a private one
        10002, and ``data`` is None. An unknown ``asn`` is left out of ``data["network"]``: read it
        with ``.get("asn")``. ``answer`` describes ``at``, ``clean`` and the errors.
        """
        raise NotImplementedError

    def lookup_json(self, ip: object, *, at: Any = None, clean: bool = False) -> bytes:
        """Return the envelope for an address as compact UTF-8 JSON.

        ``answer`` describes ``at``, ``clean`` and the errors.
        """
        raise NotImplementedError

    def own(self, ip: object, *, clean: bool = False) -> dict[str, Any] | None:
        """Return the own columns for an address: a dict by their names.

        A value is None if it is unknown. Private addresses have values too, in the columns that
        the recipe declares private. The result is None for a malformed address; the caller may
        change it. ``answer`` describes ``clean``. Raises ValueError if the dataset has no own
        columns, DatasetError for a damaged dataset.
        """
        raise NotImplementedError


def state_of(lookups: Lookups) -> State:
    """Return the open dataset of an engine and its row caches, for adapters.

    All answers of one state come from the same generation: an adapter takes one for each whole
    answer, such as a table, because a reload may install another dataset between two calls.
    ``kernel.python_state.State`` documents its methods. Raises ClosedError.
    """
    return lookups._open_state()  # noqa: SLF001 - of this package only


def texts() -> dict[str, str]:
    """Return the docstring of each call by its name."""
    calls = Lookups.answer, Lookups.lookup, Lookups.lookup_json, Lookups.own
    of_get = {"get": Get.__call__.__doc__ or ""}
    return {call.__name__: call.__doc__ or "" for call in calls} | of_get
