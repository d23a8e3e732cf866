"""Values of fields: of one address or of many."""

from __future__ import annotations

from collections.abc import Iterable

from geolookup.kernel import Kernel

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import Any, Generic, Literal, TypedDict, Unpack, overload

    from typing_extensions import TypeVar

    from geolookup.contract.types import (
        BooleanField,
        Currency,
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

    _D = TypeVar("_D", default=None)

    class Options(TypedDict, Generic[_D], total=False):
        """The options of ``get`` and ``get_many``, for the signatures of their overloads."""

        default: _D
        at: Any
        clean: bool


class FieldValues(Kernel):
    """The calls of an engine for values of fields."""

    if TYPE_CHECKING:  # the kernel has the call; these are the types of its values

        @overload  # type: ignore[override]
        def get(
            self, ip: object, field: StringField, /, **options: Unpack[Options[_D]]
        ) -> str | _D: ...
        @overload
        def get(
            self, ip: object, field: StringsField, /, **options: Unpack[Options[_D]]
        ) -> list[str] | _D: ...
        @overload
        def get(
            self, ip: object, field: NumberField, /, **options: Unpack[Options[_D]]
        ) -> float | _D: ...
        @overload
        def get(
            self, ip: object, field: IntegerField, /, **options: Unpack[Options[_D]]
        ) -> int | _D: ...
        @overload
        def get(
            self, ip: object, field: BooleanField, /, **options: Unpack[Options[_D]]
        ) -> bool | _D: ...
        @overload
        def get(
            self, ip: object, field: Literal["location"], /, **options: Unpack[Options[_D]]
        ) -> Location | _D: ...
        @overload
        def get(
            self, ip: object, field: Literal["time"], /, **options: Unpack[Options[_D]]
        ) -> Time | _D: ...
        @overload
        def get(
            self, ip: object, field: Literal["currency"], /, **options: Unpack[Options[_D]]
        ) -> Currency | _D: ...
        @overload
        def get(
            self, ip: object, field: Literal["network"], /, **options: Unpack[Options[_D]]
        ) -> Network | _D: ...
        @overload
        def get(
            self, ip: object, fields: FieldList, /, **options: Unpack[Options[Any]]
        ) -> tuple[Any, ...]: ...
        @overload
        def get(
            self,
            ip: object,
            field: FieldName,
            second: FieldName,
            /,
            *more: FieldName,
            **options: Unpack[Options[Any]],
        ) -> tuple[Any, ...]: ...
        def get(self, ip: object, field: Any, /, *more: Any, **options: Any) -> Any:
            """See ``Kernel.get``."""

    if TYPE_CHECKING:

        @overload
        def get_many(
            self, ips: Iterable[object], field: StringField, /, **options: Unpack[Options[_D]]
        ) -> list[str | _D]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: StringsField, /, **options: Unpack[Options[_D]]
        ) -> list[list[str] | _D]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: NumberField, /, **options: Unpack[Options[_D]]
        ) -> list[float | _D]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: IntegerField, /, **options: Unpack[Options[_D]]
        ) -> list[int | _D]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: BooleanField, /, **options: Unpack[Options[_D]]
        ) -> list[bool | _D]: ...
        @overload
        def get_many(
            self,
            ips: Iterable[object],
            field: Literal["location"],
            /,
            **options: Unpack[Options[_D]],
        ) -> list[Location | _D]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], field: Literal["time"], /, **options: Unpack[Options[_D]]
        ) -> list[Time | _D]: ...
        @overload
        def get_many(
            self,
            ips: Iterable[object],
            field: Literal["currency"],
            /,
            **options: Unpack[Options[_D]],
        ) -> list[Currency | _D]: ...
        @overload
        def get_many(
            self,
            ips: Iterable[object],
            field: Literal["network"],
            /,
            **options: Unpack[Options[_D]],
        ) -> list[Network | _D]: ...
        @overload
        def get_many(
            self, ips: Iterable[object], fields: FieldList, /, **options: Unpack[Options[Any]]
        ) -> list[tuple[Any, ...]]: ...
        @overload
        def get_many(
            self,
            ips: Iterable[object],
            field: FieldName,
            second: FieldName,
            /,
            *more: FieldName,
            **options: Unpack[Options[Any]],
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

        ``get`` describes fields, ``default`` and values. With one field the result is a list of
        values, with several fields or a list of them a list of tuples. ``lookup_many`` describes
        ``ips`` and ``at``. The compiled kernel keeps the values that it has read, for later calls:
        about 70 bytes for each of at most 262,144 rows per field. Raises what ``get`` raises.
        """
        from geolookup.kernel import many

        names = field
        if more or not isinstance(field, str):
            from geolookup.contract.paths import names_of

            names = names_of((field, *more))
        return many.get_many(self._open_state(), ips, names, default, at, clean)
