"""Many addresses at once: iterables of addresses, and whole columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from geolookup.kernel import Kernel

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import Any, Literal, TypedDict, TypeVar, Unpack, overload

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from geolookup.contract.types import ColumnPaths, Envelope, FieldPaths, OnInvalid

    # Without stubs of pandas and pyarrow their types are Any: then the result is Any too.
    _Polars = TypeVar("_Polars", pl.DataFrame, pl.LazyFrame)
    _Arrow = TypeVar("_Arrow", pa.Table, pa.RecordBatch, pa.RecordBatchReader)

    class LookupOptions(TypedDict, total=False):
        """Options of the calls for many addresses, for the signatures of overloads."""

        at: Any
        clean: bool

    class EnrichOptions(LookupOptions, total=False):
        """The options of ``enrich``, for the signatures of its overloads."""

        prefix: str
        on_invalid: OnInvalid
        threads: int | None


class ManyAnswers(Kernel):
    """The calls of an engine for many addresses; each call answers from one generation."""

    def lookup_many(
        self, ips: Iterable[object], *, at: Any = None, clean: bool = False
    ) -> list[Envelope]:
        """Return the envelope of each address, in order, as ``lookup`` does.

        ``ips`` is any iterable of what ``lookup`` takes. A malformed or private address has
        its error envelope in its place. ``at`` is the instant of all answers (None: now, when the
        call begins) or an iterable with the instant of each address. ``clean`` is that of
        ``lookup``. All answers of a call are of one generation. Raises what ``lookup`` raises,
        TypeError if ``ips`` is a text, and ValueError if ``at`` has more or fewer instants
        than there are addresses.
        """
        from geolookup.kernel import many

        return many.lookup_many(self._open_state(), ips, at, clean)

    if TYPE_CHECKING:

        @overload
        def lookup_many_json(
            self,
            ips: Iterable[object],
            *,
            lines: Literal[False] = False,
            **options: Unpack[LookupOptions],
        ) -> list[bytes]: ...
        @overload
        def lookup_many_json(
            self, ips: Iterable[object], *, lines: Literal[True], **options: Unpack[LookupOptions]
        ) -> bytes: ...
        @overload
        def lookup_many_json(
            self, ips: Iterable[object], *, lines: bool, **options: Unpack[LookupOptions]
        ) -> list[bytes] | bytes: ...

    def lookup_many_json(
        self, ips: Iterable[object], *, at: Any = None, clean: bool = False, lines: bool = False
    ) -> list[bytes] | bytes:
        """Return the envelopes as compact UTF-8 JSON; see ``lookup_many``.

        With ``lines`` the result is one bytes object: JSON lines, with a line feed after each.
        """
        from geolookup.kernel import many

        answer = many.json_lines if lines else many.lookup_many_json
        return answer(self._open_state(), ips, at, clean)

    def iter_json(
        self, ips: Iterable[object], *, at: Any = None, clean: bool = False
    ) -> Iterator[bytes]:
        """Return an iterator over the JSON lines of ``lookup_many_json``, in blocks of whole lines.

        Reads ``ips`` as the blocks are taken, 256 addresses at a time, so memory does not grow with
        their number. Without ``at``, the instant of each block is the time when it is made.
        All blocks are of one generation.
        """
        from geolookup.kernel import many

        return many.iter_json(self._open_state(), ips, at, clean)

    def get_many(
        self,
        ips: Iterable[object],
        paths: FieldPaths,
        *,
        at: Any = None,
        clean: bool = False,
    ) -> list[tuple[Any, ...]]:
        """Return for each address a tuple with the values of ``paths``, as ``get`` returns them.

        ``paths`` is one path or several. A malformed or private address has a tuple of None
        in its place. ``ips`` and ``at`` are those of ``lookup_many``. The compiled kernel
        keeps the values that it has read, for later calls: about 70 bytes for
        each of at most 262,144 rows a path. Raises ValueError for a path that the contract does
        not define.
        """
        from geolookup.kernel import many

        return many.get_many(self._open_state(), ips, paths, at, clean)

    def locate(self, addresses: Any) -> pa.Int32Array:
        """Return the interval id of each address, as an Arrow int32 array without nulls.

        ``addresses`` is a column: an Arrow array, a Series, a list of texts, or
        any object with Arrow's PyCapsule interface. Its type is text, uint32
        (IPv4), or binary of 4 or 16 bytes. An interval id is the row of the
        interval in ``ipv4.arrow`` of the dataset, or the number of those rows
        plus its row in ``ipv6.arrow``. It is -1 for null and malformed addresses (10001)
        and -2 for private ones (10002). Interval ids are valid for one generation
        of a dataset only. Raises TypeError for other types.
        """
        from geolookup.tables import locate

        return locate(self._open_state(), addresses)

    def take(
        self,
        rows: Any,
        fields: FieldPaths | None = None,
        *,
        at: Any = None,
    ) -> pa.RecordBatch:
        """Return columns of the answers for interval ids, as an Arrow record batch.

        ``rows`` are the ids that ``locate`` returned, in a column of integers.

        ``fields`` are paths (``"location.country_code"``) and groups (``"time"``)
        of the contract; None: all except ``ip`` and ``ip_type``, which do not
        depend on the interval id. Columns are named by path, with dots replaced by
        underscores; null and ids below 0 give nulls. ``at`` is the instant
        of the time object. Raises ValueError for an unknown path, IndexError
        for an id that the dataset does not have.
        """
        from geolookup.tables import take

        return take(self._open_state(), rows, fields, at)

    if TYPE_CHECKING:

        @overload
        def enrich(
            self,
            data: _Polars,
            column: str = "ip",
            fields: ColumnPaths | None = None,
            **options: Unpack[EnrichOptions],
        ) -> _Polars: ...
        @overload
        def enrich(
            self,
            data: pd.DataFrame,
            column: str = "ip",
            fields: ColumnPaths | None = None,
            **options: Unpack[EnrichOptions],
        ) -> pd.DataFrame: ...
        @overload
        def enrich(  # type: ignore[overload-cannot-match]
            self,
            data: _Arrow,
            column: str = "ip",
            fields: ColumnPaths | None = None,
            **options: Unpack[EnrichOptions],
        ) -> _Arrow: ...
        @overload
        def enrich(  # type: ignore[overload-cannot-match]
            self,
            data: Any,
            column: str = "ip",
            fields: ColumnPaths | None = None,
            **options: Unpack[EnrichOptions],
        ) -> Any: ...

    def enrich(
        self,
        data: Any,
        column: str = "ip",
        fields: ColumnPaths | None = None,
        *,
        prefix: str = "",
        on_invalid: OnInvalid = "null",
        at: Any = None,
        clean: bool = False,
        threads: int | None = None,
    ) -> Any:
        """Return ``data`` with columns of answers for the addresses in one of its columns.

        ``data`` is a pyarrow Table, RecordBatch or RecordBatchReader, a pandas
        frame, or a Polars DataFrame or LazyFrame. The result has the same type;
        a reader is read as its result is read. For any other object with Arrow's
        PyCapsule interface (DuckDB relations, nanoarrow) the result is a reader.
        For a single column (array, Series) it is a table of the answers only.

        ``fields`` are those of ``take``, and ``ip``, ``ip_type`` and
        ``error_code``; None: all but ``ip`` and ``error_code``. New columns are
        named ``prefix`` + path, with dots replaced by underscores. Rows without
        an answer are null, and ``error_code`` is 10001 (malformed or null) or
        10002 (private); with ``on_invalid="raise"`` the first of them raises
        InvalidAddressError or PrivateAddressError. ``at`` is one instant, or the
        name of a column of timestamps (with a time zone) or Unix times.
        With ``clean`` texts may have more than the address, as in ``lookup``; the column is
        returned as it was. ``threads`` is the number of threads; None: one per core.

        Raises ValueError for an unknown path or an existing column name,
        KeyError for a missing column, TypeError for a column of another type.
        """
        from geolookup.tables import enrich

        return enrich(
            self._open_state(),
            data,
            column,
            fields,
            prefix=prefix,
            on_invalid=on_invalid,
            at=at,
            clean=clean,
            threads=threads,
        )
