"""The engine: what one can ask of a dataset, and how one is opened.

Single lookups are inherited from the kernel, the calls for many addresses from ``many``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from geolookup.contract.envelope import Object
from geolookup.contract.localtime import check_database
from geolookup.dataset.files import Dataset
from geolookup.engine.many import ManyAnswers
from geolookup.kernel import State, check_kernel

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, Literal, Self

    import pyarrow as pa

    from geolookup.dataset.metadata import Metadata
    from geolookup.dataset.networks import Network
    from geolookup.prefixes.conditions import Where
    from geolookup.signing.keys import PublicKey
    from geolookup.signing.trust import Trusted
    from geolookup.store.requirements import MaxAge, OnStale, Requirements
    from geolookup.store.watch import Watch

#: The bundled dataset.
BUNDLED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "world")
ENVIRONMENT = "GEOLOOKUP_DATASET"


class Engine(ManyAnswers):
    """Offline lookups on one dataset; ``geolookup.open`` creates it.

    Safe to use from many threads and after a fork. Pickled as path and
    generation: the unpickled engine answers from that generation, which must
    still exist. Of the options the trusted keys alone are restored. A context manager:
    leaving it closes the engine.
    """

    def __init__(
        self, path: str, dataset: Dataset, requirements: Requirements, *, preload: bool = False
    ) -> None:
        super().__init__(dataset)
        check_kernel()
        check_database()
        self._path, self._requirements, self._preload = path, requirements, preload
        if preload:
            dataset.preload()
        self._closed = False
        self._watch: Watch | None = None

    @property
    def path(self) -> Path:
        """The absolute path of the dataset in use; in a store, that of its generation."""
        from pathlib import Path

        return Path(self._open_state().dataset.path)

    @property
    def generation(self) -> str:
        """The id of the generation in use: ``metadata.generation`` in constant time."""
        generation: str = self._open_state().dataset.generation
        return generation

    @property
    def stale(self) -> bool:
        """Whether the data are older than ``max_age``; False without ``max_age``."""
        return self._requirements.stale(self._open_state().dataset) is not None

    @property
    def metadata(self) -> Metadata:
        """Name, generation, sources, credits, fields, counts and coverage of the dataset."""
        return self._open_state().dataset.manifest.metadata()

    def snapshot(self) -> State:
        """Return the open dataset and its row caches, for adapters.

        All answers of one snapshot come from the same generation: an adapter takes one for each
        whole answer, such as a table, because a reload may install another dataset between two
        calls. It locates columns of addresses, takes their rows, and renders values and JSON
        lines; ``geolookup.kernel.protocol.State`` documents its methods. Raises ClosedError.
        """
        return self._open_state()

    def network(self, ip: object, *, clean: bool = False) -> Network:
        """Return the largest aligned network around ``ip`` that has one answer.

        The network has the family of ``ip``. For an unknown address it is the
        largest network in the gap. ``clean`` is that of ``lookup``. Raises InvalidAddressError
        or PrivateAddressError.
        """
        from geolookup.dataset.networks import network_of

        if clean:
            from geolookup.contract.cleaning import clean_text

            ip = clean_text(ip)
        return network_of(self._open_state(), ip)

    def explain(self, ip: object) -> dict[str, Any]:
        """Return which source decided each layer of the answer for ``ip``.

        ``{"ip", "network", "layers"}``: the largest aligned network with one
        deciding source in each layer, and for each layer ``{"source", "date",
        "licence", "range", "values", "same_values", "prefix"}``, or None if it is
        unknown. ``"range"`` holds all adjacent addresses that this source decides in
        that layer, ``"values"`` the known fields of the layer, and ``"same_values"``
        those addresses of the range, adjacent to ``ip``, that have the same values.
        ``"prefix"`` is the largest aligned network around ``ip`` in ``"same_values"``.

        If the dataset was built with ``explain = "full"``, each decided layer
        also has ``"row"``, the row of the source: ``{"file", "line", "range"}``, and
        ``"prefix"`` is the largest aligned network around ``ip`` in the range of the row.
        The result also has ``"sources"``, in order of precedence: for each
        source with a row for ``ip``, ``{"source", "date", "licence", "file",
        "line", "range", "values"}`` of its deciding row. ``"values"`` holds the
        fields of that row by layer, without layers that are unknown. In each
        layer the first source with a value decides. Raises InvalidAddressError
        or PrivateAddressError.
        """
        from geolookup.dataset.decided_values import add_values
        from geolookup.dataset.provenance import explain

        state = self._open_state()
        explained = explain(state.dataset, state.dataset.manifest.metadata().sources, ip)
        add_values(state, explained, state.envelopes([explained["ip"]], 0)[0]["data"])
        return explained

    def networks(self, within: object = None) -> Iterator[tuple[Network, Object]]:
        """Yield ``(network, record)`` for all known networks, in address order, IPv4 first.

        A record is data without ip, ip_type and time. Special-purpose space and
        space that carries IPv4 addresses are left out. ``within`` is a network
        or its text. Raises ValueError for any other value.
        """
        from geolookup.dataset.networks import networks_of

        return networks_of(self._open_state(), within)

    def export(
        self,
        output: str | os.PathLike[str],
        format: str,  # noqa: A002 - the name of the option
        *,
        force: bool = False,
        **options: Any,
    ) -> Mapping[str, int]:
        """Write the dataset to the file ``output`` in a format of another tool.

        ``format`` is a name that ``geolookup export --help`` lists, and ``options`` are the
        options of that format by their names there; those with several values take a sequence
        of texts. Returns what was written, by the name of the things counted. Networks in
        special-purpose space are left out, and those about which nothing is known. An
        interrupted export leaves no file. Raises ExportError for an unknown format and for an
        option that the format does not have, OutputError where the file cannot be written, or
        exists and ``force`` is not set, and DatasetError for a damaged dataset.
        """
        from geolookup.export import write

        return write(self._open_state().dataset, output, format, options, force=force)

    def prefixes(
        self,
        where: Where,
        *,
        within: object = None,
        family: Literal[4, 6] | None = None,
        aggregate: bool = True,
    ) -> Iterator[Network]:
        """Yield the fewest prefixes whose answers meet conditions, in address order, IPv4 first.

        They are networks of ``ipaddress``; each address in them meets all conditions, and no
        other known public address does. As with ``networks``, special-purpose space, space that
        carries IPv4 addresses and networks about which nothing is known are left out.

        ``where`` is a mapping of fields to a value, or to a list of which one is met; None is
        unknown. Operators stand after the field: ``"network.asn>="`` (also ``>``, ``<=``, ``<``)
        compares numbers, ``"location.city_name^="`` takes the beginning of a text, and
        ``"location~"`` a latitude, a longitude and a distance in km, or the south, west, north
        and east of a box. The key ``"not"`` takes conditions none of which may be met. A text
        ``"location.country_code=AT,DE"`` and a list of texts and mappings are conditions too; an
        empty mapping has none. ``within`` (a network or its text) and ``family`` limit what is
        yielded. Without ``aggregate`` adjacent ranges of the dataset are not joined: each prefix
        has one answer.

        Raises ValueError for a path that names no stored field, a value that is none of its
        field, a malformed condition, ``within`` or ``family``; TypeError for conditions of
        another type; at the call, not at the first step.
        """
        from geolookup.prefixes.answers import networks
        from geolookup.prefixes.select import Selection, question

        asked = question(where, within=within, family=family, aggregate=aggregate)
        return networks(Selection(self._open_state().dataset, asked))

    def prefix_table(
        self,
        where: Where = None,
        *,
        by: str | Iterable[str] = (),
        within: object = None,
        family: Literal[4, 6] | None = None,
        aggregate: bool = True,
    ) -> pa.Table:
        """Return what ``prefixes`` yields as a table, also with the values of fields.

        The column ``network`` has the text of each prefix. For each field of ``by``, one path or
        several, a column has its value; its name is that of an enriched table, such as
        ``network_asn``. Adjacent ranges whose values differ are not joined. The other arguments
        are those of ``prefixes``; without conditions the table has all known networks. Raises
        what ``prefixes`` raises, and ValueError for a list in ``by``.
        """
        from geolookup.prefixes.answers import table
        from geolookup.prefixes.select import Selection, question

        asked = question(where, within=within, family=family, aggregate=aggregate, by=by)
        return table(Selection(self._open_state().dataset, asked))

    def reload(self) -> bool:
        """Install the current dataset of the path; return whether the dataset changed.

        For a store this is its current generation, for any other path the dataset at
        that path. The new dataset is verified first, while lookups continue. Running
        lookups and iterations finish on the dataset on which they started. Raises
        DatasetError, and keeps the old dataset, if the new one is damaged, of another
        format version, too old, or lacks fields that the old one has.
        """
        from geolookup.store import resolve

        changed = False
        # Re-check after the swap: another thread may have installed an older dataset.
        while self.generation != resolve.generation(self._path):
            self._swap(self._successor(self._open_state().dataset))
            if self._closed:  # another thread closed the engine during the swap
                self._swap(None)
            changed = True
        return changed

    def _successor(self, old: Dataset) -> State:
        from geolookup.store import resolve

        check = self._requirements.check_replacement
        dataset = resolve.opened(self._path, lambda new: check(old, new))
        if self._preload:
            dataset.preload()
        return State(dataset)

    def check_age(self) -> None:
        """Check the age of the data, as ``open`` does; ``watch`` calls this at each poll.

        If the data are older than ``max_age``: log a warning if ``on_stale`` is "warn",
        raise DatasetError if it is "refuse".
        """
        self._requirements.check(self._open_state().dataset)

    def close(self) -> None:
        """Close the dataset. Later calls raise ClosedError; running calls finish."""
        self._closed = True
        self._swap(None)
        if self._watch is not None:
            self._watch.end()

    def __enter__(self) -> Self:
        self._open_state()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        dataset = self._open_state().dataset
        return _reopen, (self._path, dataset.generation, self._requirements.keys, dataset.serial)

    def __repr__(self) -> str:
        return f"<geolookup.Engine {self._path!r}>"


def open(  # noqa: A001 - the public name
    path: str | os.PathLike[str] | None = None,
    *,
    watch: float | None = None,
    max_age: MaxAge | None = None,
    on_stale: OnStale = "warn",
    allow_lost_fields: bool = False,
    fallback: bool = False,
    preload: bool = False,
    trusted: Trusted | None = None,
) -> Engine:
    """Open a dataset directory or a store.

    None: ``$GEOLOOKUP_DATASET``, else the user's store if it has a generation, else the
    bundled dataset. The user's store is ``$GEOLOOKUP_STORE``, else ``geolookup/store`` in
    the data folder of the platform; ``geolookup update`` publishes there.

    Takes constant time without ``preload``: files are mapped, not read. For a store, its current
    generation is opened. ``watch`` is the interval in seconds at which the path is
    polled for a new generation, which is installed as by ``reload``. A refused generation
    is reported once in the log ``geolookup``.

    ``max_age`` is the maximum age of the data: a timedelta, a number of days, or "30d",
    "4w". The age is that of the oldest dated source that decides any layer. ``on_stale``
    is the action for older data: "warn" logs a warning, "refuse" raises DatasetError,
    "tag" does neither. ``engine.stale`` is True in each case. ``allow_lost_fields`` lets a
    reload install a dataset that lacks fields of the old one.

    ``fallback``: where the current generation of a store is damaged, open the last one
    published before it that opens and was not withdrawn, with a warning in the log
    ``geolookup``; for services, which have to start. Only what opening checks is found:
    a missing file, or one of another size than the manifest says.

    ``preload``: read the files that lookups need into memory, at the time of the call and of
    each reload; for services, whose first answers then wait for no disk. Takes time in
    proportion to the size of the dataset. The memory is the page cache of the system, which
    processes share and which the system may take back.

    ``trusted``: the file of a public key, or several; needs the extra ``sign``. Only a dataset
    that the holder of one of them signed is opened, and a reload installs only one of the same
    name whose signature is not older. The signature is checked first, then the digest of every
    file, which takes time in proportion to the size of the dataset. An unpickled engine keeps
    these keys.

    Raises DatasetError for a path without a dataset, a dataset that is damaged, of another
    format version, refused for its age or not signed by a trusted key; KeyFileError for a file
    that is no public key; ValueError or TypeError for a malformed option; SettingsError for a
    malformed ``$GEOLOOKUP_KERNEL`` or ``$GEOLOOKUP_TZ``.
    """
    from geolookup.store import resolve
    from geolookup.store.requirements import Requirements

    if path is None:
        path = _default_path()
    absolute = os.path.abspath(os.fspath(path))
    requirements = Requirements(
        max_age, on_stale, allow_lost_fields=allow_lost_fields, trusted=trusted
    )
    dataset = resolve.opened(absolute, requirements.check_opened, fallback=fallback)
    engine = Engine(absolute, dataset, requirements, preload=preload)
    if watch is not None:
        from geolookup.store.watch import Watch

        engine._watch = Watch(engine, absolute, watch)  # noqa: SLF001 - of this module
    return engine


def _default_path() -> str:
    from geolookup.store import user_store

    return os.environ.get(ENVIRONMENT) or user_store.current() or BUNDLED


def _reopen(
    path: str, generation: str, trusted: tuple[PublicKey, ...] = (), serial: int = 0
) -> Engine:
    from geolookup.store import resolve
    from geolookup.store.requirements import Requirements

    requirements = Requirements(trusted=trusted or None)
    dataset = resolve.opened_generation(path, generation)
    requirements.check_signed(dataset, None, serial)
    return Engine(path, dataset, requirements)
