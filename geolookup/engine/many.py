"""Many addresses at once: iterables of addresses, and whole columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from geolookup.contract.localtime import instant
from geolookup.kernel import Kernel

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import Any, TypeVar, Unpack, overload

    import polars as pl

    from geolookup.contract.types import ColumnNames, EnrichOptions, Envelope, FieldList, FieldName
    from geolookup.tables.generations import Generations

    _Polars = TypeVar("_Polars", pl.DataFrame, pl.LazyFrame)


#: The longest list that is answered without chunks: its answers hold the interpreter lock briefly.
_SHORT = 256


def is_short(ips: object, at: object, clean: object) -> bool:
    """Return whether a kernel answers a call at once: for a few addresses, chunks cost too much."""
    return type(ips) is list and at is None and not clean and len(ips) <= _SHORT


class ManyAnswers(Kernel):
    """The calls of an engine for many addresses; each call answers from one generation."""

    def get_many(
        self,
        ips: Iterable[object],
        field: FieldName | FieldList,
        /,
        *more: FieldName,
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
        names: Any = field
        if more or not isinstance(field, str):
            from geolookup.contract.paths import names_of

            names = names_of((field, *more))
        if is_short(ips, at, clean):
            return self._open_state().values(list(ips), names, instant(None), default)
        from geolookup.kernel import many

        return many.get_many(self._open_state(), ips, names, default, at, clean)

    def lookup_many(
        self, ips: Iterable[object], *, at: Any = None, clean: bool = False
    ) -> list[Envelope]:
        """Return the envelope of each address, in order, as ``lookup`` does.

        ``ips`` is any iterable of what ``lookup`` takes. A malformed or private address has
        its error envelope in its place. ``at`` is the instant of all answers (None: now, when the
        call begins) or an iterable with the instant of each address. ``clean`` is described
        in ``lookup``. All answers of a call are of one generation. Raises what ``lookup`` raises,
        TypeError if ``ips`` is a text, and ValueError if ``at`` has more or fewer instants
        than there are addresses.
        """
        if is_short(ips, at, clean):
            return self._open_state().envelopes(list(ips), instant(None))
        from geolookup.kernel import many

        return many.lookup_many(self._open_state(), ips, at, clean)

    def lookup_many_json(
        self, ips: Iterable[object], *, at: Any = None, clean: bool = False
    ) -> list[bytes]:
        """Return the envelopes as compact UTF-8 JSON; see ``lookup_many``."""
        if is_short(ips, at, clean):
            return self._open_state().envelopes_json(list(ips), instant(None))
        from geolookup.kernel import many

        return many.lookup_many_json(self._open_state(), ips, at, clean)

    def json_lines(
        self, ips: Iterable[object], *, at: Any = None, clean: bool = False
    ) -> Iterator[bytes]:
        """Return an iterator over the envelopes as JSON lines, in blocks of whole lines.

        ``b"".join(engine.json_lines(ips))`` has the lines of all addresses. A block is read from
        64 addresses of ``ips``, when it is taken: memory does not grow with their number. Without
        ``at``, the instant of each block is the time when it is made. All blocks are of one
        generation. Raises what ``lookup_many`` raises.
        """
        from geolookup.kernel import many

        return many.json_lines(self._open_state(), ips, at, clean)

    def generations(self) -> Generations:
        """Return the generations of the store with their periods, for adapters.

        They answer ``tables.enrich`` with ``as_of``. Raises DatasetError if the path is not a
        store, or if its pointer is damaged.
        """
        raise NotImplementedError

    if TYPE_CHECKING:

        @overload
        def enrich(
            self, data: _Polars, *fields: ColumnNames, **options: Unpack[EnrichOptions]
        ) -> _Polars: ...
        @overload
        def enrich(
            self, data: Any, *fields: ColumnNames, **options: Unpack[EnrichOptions]
        ) -> Any: ...

    def enrich(self, data: Any, *fields: ColumnNames, **options: Unpack[EnrichOptions]) -> Any:
        """Return ``data`` with columns of answers for the addresses in one of its columns.

        >>> visits = pa.table({"ip": ["8.8.8.8"]})
        >>> geolookup.open("bundled").enrich(visits, "country").to_pylist()
        [{'ip': '8.8.8.8', 'location_country_code': 'US'}]

        ``data`` is a pyarrow Table, RecordBatch or RecordBatchReader, a pandas frame, or a Polars
        DataFrame or LazyFrame. The result has the same type; of a frame of Dask it is a plan. A
        reader is read as its result is read. Any other object with Arrow's PyCapsule interface
        (DuckDB relations, nanoarrow) gives a reader. A single column (array, Series) gives a table
        of the answers only.

        ``fields`` are several arguments or one list: ``"country"``, ``"location.city_name"``, the
        group ``"time"``, ``"error_code"``, own columns (``"own.site_id"``, or all: ``"own"``). None
        of them: all fields of the contract but ``ip`` and ``error_code``. New columns are named
        ``prefix`` + path, with dots replaced by underscores. A row without an answer is null, and
        its ``error_code`` is 10001 (malformed or null) or 10002 (private); own columns of a private
        address can be known. With ``on_invalid="raise"`` the first such row raises
        InvalidAddressError or PrivateAddressError.

        ``column`` is the column of addresses, "ip" by default: texts, uint32 (IPv4), or binary of 4
        or 16 bytes. ``at`` is the instant of all rows, now by default. ``time_column`` is a column
        with the instant of each row: timestamps with a time zone, or Unix times. With ``clean`` a
        text may hold more than an address, as in ``lookup``; ``column`` is returned unchanged.
        ``threads`` is the number of threads, by default one per core.

        ``as_of`` is a column of instants, as ``time_column``: each row is answered from the
        generation of the store that was in force at its instant. The newest generation decides the
        columns; one that an older generation lacks is null in its rows. Rows before the first
        generation, rows of a generation that was pruned, and rows without an instant are null in
        all new columns. A warning in the log ``geolookup`` states their number.

        Raises ValueError for an unknown field, an existing column name, or ``at`` together with
        ``time_column``; KeyError for a missing column; TypeError for a column of another type;
        DatasetError for ``as_of`` without a store.
        """
        from geolookup.tables import enrich

        generations = None if options.get("as_of") is None else self.generations()
        state = self._open_state()
        return enrich(state, data, *fields, generations=generations, engine=self, **options)
