"""Values of fields: of one address or of many."""

from __future__ import annotations

from collections.abc import Iterable

from geolookup.contract.localtime import instant
from geolookup.kernel import Kernel

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import Any, Literal, TypedDict, TypeVar, Unpack, overload

    from geolookup.contract.types import (
        BooleanField,
        Currency,
        FieldList,
        FieldName,
        GroupField,
        IntegerField,
        Location,
        Network,
        NumberField,
        OwnField,
        OwnGroup,
        StringField,
        StringsField,
        Time,
    )

    _D = TypeVar("_D")

    class Options(TypedDict, total=False):
        """The options of ``get`` and ``get_many``, for the signatures of their overloads.

        Not ``default``: only overloads without it make a checker see that a value may be None.
        """

        at: Any
        clean: bool


#: The longest list that is answered without chunks: its answers hold the interpreter lock briefly.
_SHORT = 256


def is_short(ips: object, at: object, clean: object) -> bool:
    """Return whether a kernel answers a call at once: for a few addresses, chunks cost too much."""
    return type(ips) is list and at is None and not clean and len(ips) <= _SHORT


class FieldValues(Kernel):
    """The calls of an engine for values of fields."""

    if TYPE_CHECKING:  # the kernel has the call; these are the types of its values

        @overload  # type: ignore[override]
        def get(
            self, ip: object, field: StringField, /, **options: Unpack[Options]
        ) -> str | None: ...
        @overload
        def get(
            self, ip: object, field: StringsField, /, **options: Unpack[Options]
        ) -> list[str] | None: ...
        @overload
        def get(
            self, ip: object, field: NumberField, /, **options: Unpack[Options]
        ) -> float | None: ...
        @overload
        def get(
            self, ip: object, field: IntegerField, /, **options: Unpack[Options]
        ) -> int | None: ...
        @overload
        def get(
            self, ip: object, field: BooleanField, /, **options: Unpack[Options]
        ) -> bool | None: ...
        @overload
        def get(
            self, ip: object, field: Literal["location"], /, **options: Unpack[Options]
        ) -> Location | None: ...
        @overload
        def get(
            self, ip: object, field: Literal["time"], /, **options: Unpack[Options]
        ) -> Time | None: ...
        @overload
        def get(
            self, ip: object, field: Literal["currency"], /, **options: Unpack[Options]
        ) -> Currency | None: ...
        @overload
        def get(
            self, ip: object, field: Literal["network"], /, **options: Unpack[Options]
        ) -> Network | None: ...
        @overload
        def get(
            self, ip: object, field: OwnGroup, /, **options: Unpack[Options]
        ) -> dict[str, Any] | None: ...
        @overload
        def get(
            self, ip: object, field: OwnField, /, *, default: Any = None, **options: Unpack[Options]
        ) -> Any: ...
        @overload
        def get(
            self, ip: object, field: StringField, /, *, default: _D, **options: Unpack[Options]
        ) -> str | _D: ...
        @overload
        def get(
            self, ip: object, field: StringsField, /, *, default: _D, **options: Unpack[Options]
        ) -> list[str] | _D: ...
        @overload
        def get(
            self, ip: object, field: NumberField, /, *, default: _D, **options: Unpack[Options]
        ) -> float | _D: ...
        @overload
        def get(
            self, ip: object, field: IntegerField, /, *, default: _D, **options: Unpack[Options]
        ) -> int | _D: ...
        @overload
        def get(
            self, ip: object, field: BooleanField, /, *, default: _D, **options: Unpack[Options]
        ) -> bool | _D: ...
        @overload
        def get(
            self,
            ip: object,
            field: GroupField | OwnGroup,
            /,
            *,
            default: Any,
            **options: Unpack[Options],
        ) -> Any: ...
        @overload
        def get(
            self,
            ip: object,
            fields: FieldList,
            /,
            *,
            default: Any = None,
            **options: Unpack[Options],
        ) -> tuple[Any, ...]: ...
        @overload
        def get(
            self,
            ip: object,
            field: FieldName,
            second: FieldName,
            /,
            *more: FieldName,
            default: Any = None,
            **options: Unpack[Options],
        ) -> tuple[Any, ...]: ...
        def get(self, ip: object, field: Any, /, *more: Any, **options: Any) -> Any:
            """See ``Kernel.get``."""

    if TYPE_CHECKING:

        @overload
        def get_many(
            self, ips: Iterable[object], field: StringField, /, **options: Unpack[Options]
        ) -> list[str | None]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: StringsField, /, **options: Unpack[Options]
        ) -> list[list[str] | None]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: NumberField, /, **options: Unpack[Options]
        ) -> list[float | None]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: IntegerField, /, **options: Unpack[Options]
        ) -> list[int | None]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: BooleanField, /, **options: Unpack[Options]
        ) -> list[bool | None]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: Literal["location"], /, **options: Unpack[Options]
        ) -> list[Location | None]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: Literal["time"], /, **options: Unpack[Options]
        ) -> list[Time | None]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: Literal["currency"], /, **options: Unpack[Options]
        ) -> list[Currency | None]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: Literal["network"], /, **options: Unpack[Options]
        ) -> list[Network | None]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: OwnGroup, /, **options: Unpack[Options]
        ) -> list[dict[str, Any] | None]: ...
        @overload
        def get_many(
            self,
            ips: Iterable[object],
            field: OwnField,
            /,
            *,
            default: Any = None,
            **options: Unpack[Options],
        ) -> list[Any]: ...
        @overload
        def get_many(
            self,
            ips: Iterable[object],
            field: StringField,
            /,
            *,
            default: _D,
            **options: Unpack[Options],
        ) -> list[str | _D]: ...
        @overload
        def get_many(
            self,
            ips: Iterable[object],
            field: StringsField,
            /,
            *,
            default: _D,
            **options: Unpack[Options],
        ) -> list[list[str] | _D]: ...
        @overload
        def get_many(
            self,
            ips: Iterable[object],
            field: NumberField,
            /,
            *,
            default: _D,
            **options: Unpack[Options],
        ) -> list[float | _D]: ...
        @overload
        def get_many(
            self,
            ips: Iterable[object],
            field: IntegerField,
            /,
            *,
            default: _D,
            **options: Unpack[Options],
        ) -> list[int | _D]: ...
        @overload
        def get_many(
            self,
            ips: Iterable[object],
            field: BooleanField,
            /,
            *,
            default: _D,
            **options: Unpack[Options],
        ) -> list[bool | _D]: ...
        @overload
        def get_many(
            self,
            ips: Iterable[object],
            field: GroupField | OwnGroup,
            /,
            *,
            default: Any,
            **options: Unpack[Options],
        ) -> list[Any]: ...
        @overload
        def get_many(
            self,
            ips: Iterable[object],
            fields: FieldList,
            /,
            *,
            default: Any = None,
            **options: Unpack[Options],
        ) -> list[tuple[Any, ...]]: ...
        @overload
        def get_many(
            self,
            ips: Iterable[object],
            field: FieldName,
            second: FieldName,
            /,
            *more: FieldName,
            default: Any = None,
            **options: Unpack[Options],
        ) -> list[tuple[Any, ...]]: ...

    def get_many(
        self,
        ips: Iterable[object],
        field: Any,
        /,
        *more: Any,
        default: Any = None,
        at: Any = None,
        clean: bool = False,
    ) -> list[Any]:
        """Return for each address the value of a field, or a tuple of the values of several fields.

        >>> geolookup.open("bundled").get_many(["8.8.8.8", "9.9.9.9", "10.0.0.1"], "asn")
        [15169, 19281, None]

        ``get`` describes fields, ``default`` and values. With one field the result is a list of
        values, with several fields or a list of them a list of tuples. ``lookup_many`` describes
        ``ips`` and ``at``. The compiled kernel keeps the values that it has read, for later calls:
        about 70 bytes for each of at most 262,144 rows per field. Raises what ``get`` raises.
        """
        names = field
        if more or not isinstance(field, str):
            from geolookup.contract.paths import names_of

            names = names_of((field, *more))
        if is_short(ips, at, clean):
            return self._open_state().values(list(ips), names, instant(None), default)
        from geolookup.kernel import many

        return many.get_many(self._open_state(), ips, names, default, at, clean)
