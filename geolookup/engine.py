"""The engine: single lookups (inherited from the kernel) and what a dataset says of itself."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from geolookup.contract.envelope import Object
from geolookup.dataset.files import Dataset
from geolookup.kernel import Kernel, State
from geolookup.store import follow
from geolookup.store.requirements import Acceptance

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, Self

    from geolookup.dataset.metadata import Metadata
    from geolookup.dataset.networks import Network
    from geolookup.store.requirements import MaxAge, OnStale
    from geolookup.store.watch import Watch

#: The dataset that is there without any other.
SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sample")
ENVIRONMENT = "GEOLOOKUP_DATASET"


class Engine(Kernel):
    """Offline lookups on one dataset; made by ``geolookup.open``.

    Safe to use from many threads and after a fork. Pickled as path and
    generation: what is unpickled answers from that very generation, which must
    still be there, and neither watches nor minds the age. A context manager:
    leaving it closes the engine.
    """

    def __init__(self, path: str, dataset: Dataset, acceptance: Acceptance) -> None:
        super().__init__(dataset)
        self._path, self._acceptance = path, acceptance
        self._closed = False
        self._watch: Watch | None = None

    @property
    def path(self) -> Path:
        """The directory of the dataset that answers, absolute; in a store, its generation's."""
        from pathlib import Path

        return Path(self._open_state().dataset.path)

    @property
    def generation(self) -> str:
        """The id of the generation that answers; ``metadata.generation``, but quick to ask."""
        generation: str = self._open_state().dataset.manifest["generation"]
        return generation

    @property
    def stale(self) -> bool:
        """Whether the data are older than ``max_age``; False where none was given."""
        return self._acceptance.stale(self._open_state().dataset) is not None

    @property
    def metadata(self) -> Metadata:
        """Name, generation, sources, credits, fields, counts and coverage of the dataset."""
        return _metadata(self._open_state().dataset)

    def network(self, ip: object) -> Network:
        """Return the largest aligned network around ``ip`` that has one answer.

        It is of the family asked; around an unknown address it is that of the
        gap. Raises InvalidAddressError or PrivateAddressError.
        """
        from geolookup.dataset.networks import network_of

        return network_of(self._open_state(), ip)

    def explain(self, ip: object) -> dict[str, Any]:
        """Return which source decided each layer of the answer for ``ip``.

        ``{"ip", "network", "layers"}``: the largest aligned network that is
        decided alike, and for each layer None or ``{"source", "date",
        "licence", "range"}``, the range being all addresses around that this
        source decides in that layer.

        A dataset built with ``explain = "full"`` adds to each such layer
        ``"row"``, the source's row as ``{"file", "line", "range"}``, and to
        the whole ``"sources"``: for each source that has a row for ``ip``, in
        order of precedence, ``{"source", "date", "licence", "file", "line",
        "range", "values"}`` of its deciding row. ``values`` is what that row
        says, field by field in each layer of which it says anything; the
        first to say anything decides. Raises what ``network`` raises.
        """
        from geolookup.dataset.provenance import explain

        state = self._open_state()
        return explain(state, _metadata(state.dataset).sources, ip)

    def networks(self, within: object = None) -> Iterator[tuple[Network, Object]]:
        """Yield ``(network, record)`` for all that is known, in address order, IPv4 first.

        A record is data without ip, ip_type and time. Special-purpose space and
        space that carries IPv4 addresses are left out. ``within`` is a network
        or its text; raises ValueError where it is none.
        """
        from geolookup.dataset.networks import networks_of

        return networks_of(self._open_state(), within)

    def reload(self) -> bool:
        """Answer from the dataset that the path means by now; return whether it is another.

        A store's path means its current generation, another path the dataset that
        took its place. The new one is verified first; lookups go on meanwhile and
        change over from one to the next, running ones and iterations finish where they
        began. Raises DatasetError, and goes on answering as before, for a dataset that is
        damaged, of another format, without fields known until now, or too old.
        """
        changed = False
        # Asked again behind the swap: another thread may have put an older one in its place.
        while self.generation != follow.generation(self._path):
            self._swap(self._successor(self._open_state().dataset))
            if self._closed:  # meanwhile, and it stays so
                self._swap(None)
            changed = True
        return changed

    def _successor(self, old: Dataset) -> State:
        check = self._acceptance.check_replacement
        return State(follow.opened(self._path, lambda new: check(old, new)))

    def check_age(self) -> None:
        """Look at the age of the data again, as ``open`` did; a watched engine does by itself.

        Too old for ``max_age``, they are said to be so in the log, or DatasetError is raised.
        """
        self._acceptance.check(self._open_state().dataset)

    def locate(self, addresses: Any) -> Any:
        """Return the row number of each address, as an Arrow int32 array without nulls.

        ``addresses`` is a column: an Arrow array, a Series, a list of texts, or
        what else speaks Arrow's PyCapsule interface; of text, uint32 (IPv4) or
        binary of 4 or 16 bytes. A row number is that of an interval: a row of
        the dataset's ``ipv4.arrow``, or the count of those and a row of its
        ``ipv6.arrow``. It is -1 where there is no address (10001; null is none)
        and -2 where the address is private (10002). Row numbers belong to one
        generation of a dataset. Raises TypeError for other types.
        """
        from geolookup.tables import locate

        return locate(self._open_state(), addresses)

    def take(self, rows: Any, fields: str | Iterable[str] | None = None, *, at: Any = None) -> Any:
        """Return columns of the answers for row numbers, as an Arrow record batch.

        ``fields`` are paths (``"location.country_code"``) and groups (``"time"``)
        of the contract, None: all that a row number leads to, which leaves out
        ``ip`` and ``ip_type``. Columns are named by path, dots turned to
        underscores; numbers below 0 and null give nulls. ``at`` is the instant
        of the time object. Raises ValueError for an unknown path, IndexError
        for a number that is no row.
        """
        from geolookup.tables import take

        return take(self._open_state(), rows, fields, at)

    def enrich(
        self,
        data: Any,
        column: str = "ip",
        fields: str | Iterable[str] | None = None,
        *,
        prefix: str = "",
        on_invalid: str = "null",
        at: Any = None,
        threads: int | None = None,
    ) -> Any:
        """Return ``data`` with columns of answers for the addresses in one of its columns.

        ``data`` is a pyarrow Table, RecordBatch or RecordBatchReader, a pandas
        or Polars frame, lazy ones included, and the result is of its kind; a
        reader is read as the result is. What else speaks Arrow's PyCapsule
        interface (DuckDB relations, nanoarrow) becomes a reader, a bare column
        (array, Series) a table of the answers alone.

        ``fields`` are as for ``take``, and ``ip``, ``ip_type`` and
        ``error_code`` besides; None: all but ``ip`` and ``error_code``. New
        columns are named by path after ``prefix``, dots turned to underscores.
        Rows without an answer are null, ``error_code`` says why: 10001 (no
        address; so is null) or 10002 (private); with ``on_invalid="raise"`` the
        first raises InvalidAddressError or PrivateAddressError. ``at`` is an
        instant for all, or the name of a column of timestamps (with a time
        zone) or Unix times. ``threads`` is how many to use, None: all cores.

        Raises ValueError for an unknown path or a name that is there already,
        KeyError for a missing column, TypeError for one that holds no addresses.
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
            threads=threads,
        )

    def close(self) -> None:
        """Let the dataset go; later calls raise ClosedError, running ones finish."""
        self._closed = True
        self._swap(None)
        if self._watch is not None:
            self._watch.end()

    def __enter__(self) -> Self:
        self._open_state()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return _reopen, (self._path, self.generation)

    def __repr__(self) -> str:
        return f"<geolookup.Engine {self._path!r}>"


def open(  # noqa: A001 - the public name
    path: str | os.PathLike[str] | None = None,
    *,
    watch: float | None = None,
    max_age: MaxAge | None = None,
    on_stale: OnStale = "warn",
    allow_lost_fields: bool = False,
) -> Engine:
    """Open a dataset directory or a store; None: ``$GEOLOOKUP_DATASET``, else the bundled sample.

    Takes constant time: files are mapped, not read. Of a store the current
    generation answers. ``watch`` is how many seconds to wait between looks at the
    path; what it means by then is taken up as ``reload`` does, and what is refused
    is said in the log ``geolookup``, once.

    ``max_age`` is how old data may be: a timedelta, days, or "30d", "4w"; age is
    that of the oldest dated source that decides anything. ``on_stale`` says what
    becomes of older data: "warn" in the log, "refuse", or "tag" (``engine.stale`` says
    so in any case). ``allow_lost_fields`` has a reload take datasets without fields that
    the one before knew.

    Raises DatasetError where there is no dataset, or one that is damaged, of another
    version, or refused for its age; ValueError for another option than these.
    """
    if path is None:
        path = os.environ.get(ENVIRONMENT) or SAMPLE
    place = os.path.abspath(os.fspath(path))
    acceptance = Acceptance(max_age, on_stale, allow_lost_fields=allow_lost_fields)
    engine = Engine(place, follow.opened(place, acceptance.check), acceptance)
    if watch is not None:
        from geolookup.store.watch import Watch

        engine._watch = Watch(engine, place, watch)  # noqa: SLF001 - its own module
    return engine


def _reopen(path: str, generation: str) -> Engine:
    return Engine(path, follow.opened_generation(path, generation), Acceptance())


def _metadata(dataset: Dataset) -> Metadata:
    from geolookup.dataset.metadata import of_manifest

    return of_manifest(dataset.manifest, dataset.path)
