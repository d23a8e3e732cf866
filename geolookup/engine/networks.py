"""Networks and whole datasets: explanations, exports, prefixes by answer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from geolookup.engine.many import ManyAnswers
from geolookup.errors import InvalidAddressError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import Any, Literal, TypedDict, Unpack, overload

    import pyarrow as pa

    from geolookup.contract.types import FieldNames
    from geolookup.dataset.networks import Network
    from geolookup.prefixes.conditions import Where
    from geolookup.prefixes.select import Selection

    class PrefixLimits(TypedDict, total=False):
        """Options of ``prefixes``, for the signatures of its overloads."""

        within: object
        family: Literal[4, 6] | None
        aggregate: bool


class NetworkAnswers(ManyAnswers):
    """The calls of an engine for networks; an iteration is of one generation."""

    def explain(self, ip: object) -> dict[str, Any]:
        """Return which source decided each layer of the answer for ``ip``.

        ``{"ip", "network", "same_sources", "layers"}``. ``"network"`` is
        ``engine.answer(ip).prefix``, the largest aligned network with one answer.
        ``"same_sources"`` holds the adjacent addresses that the same sources decide in
        all layers; their answers may differ. Each of ``"layers"`` is ``{"source", "date",
        "licence", "range", "values", "same_values", "prefix"}``, or None if it is
        unknown. ``"range"`` holds all adjacent addresses that this source decides in
        that layer, ``"values"`` the known fields of the layer, and ``"same_values"``
        those addresses of the range, adjacent to ``ip``, that have the same values.
        ``"prefix"`` is the largest aligned network around ``ip`` in ``"same_values"``. A source
        that came by a dataset has ``"dataset"``, its name, too.

        Of a private address the layers of private own columns are explained, the others are None;
        PrivateAddressError if the dataset has none. Raises InvalidAddressError.
        """
        from geolookup.dataset.provenance import explain

        state = self._open_state()
        data = state.envelopes([ip], 0)[0]["data"]
        try:
            return explain(state.dataset, state.dataset.manifest.metadata().sources, ip, data)
        except InvalidAddressError as error:
            if issubclass(type(ip), (list, tuple)):  # isinstance would ask a hostile object
                error.add_note("explain reads one address: call it for each of them")
            raise

    def export(
        self,
        output: str | os.PathLike[str],
        format: str | None = None,  # noqa: A002 - the name of the option
        *,
        force: bool = False,
        **options: Any,
    ) -> Mapping[str, int]:
        """Write the dataset to the file or folder ``output`` in a format of another tool.

        ``format`` is a name that ``geolookup export --help`` lists; by default the suffix of
        ``output`` names it, such as ``.mmdb``. ``options`` are the options of that format, by
        their names in ``--help``; an option with several values takes a text or a list of texts.
        Returns the counts of the export by the name of the things counted. Networks about which
        nothing is known are left out, and special-purpose space unless own columns are known
        there. An interrupted export leaves no file.

        Raises ExportError for an unknown format, and for an option that the format does not have;
        OutputError if the file cannot be written, or exists and ``force`` is not set; DatasetError
        for a damaged dataset.
        """
        from geolookup.export import write

        return write(self._open_state().dataset, output, format, options, force=force)

    if TYPE_CHECKING:

        @overload
        def prefixes(
            self, where: Where = None, *, by: None = None, **limits: Unpack[PrefixLimits]
        ) -> Iterator[Network]: ...
        @overload
        def prefixes(
            self, where: Where = None, *, by: FieldNames, **limits: Unpack[PrefixLimits]
        ) -> Iterator[tuple[Network, Any]]: ...

    def prefixes(
        self,
        where: Where = None,
        *,
        by: str | Iterable[str] | None = None,
        within: object = None,
        family: Literal[4, 6] | None = None,
        aggregate: bool = True,
    ) -> Iterator[Any]:
        """Yield the fewest prefixes whose answers meet conditions, in address order, IPv4 first.

        >>> list(geolookup.open("bundled").prefixes("asn=13335", within="1.1.1.0/24"))
        [IPv4Network('1.1.1.0/24')]

        They are networks of ``ipaddress``. Each address in them meets all conditions, and no other
        known public address does. Special-purpose space, space that carries IPv4 addresses and
        networks about which nothing is known are left out. Without conditions all known networks
        are yielded. If ``where`` or ``by`` names an own column, special-purpose space with a known
        own column is included.

        ``where`` is a mapping of fields to a value, or to a list of values; the answer must have
        one of them. None is unknown. An operator follows the field: ``"asn>="`` (also ``>``,
        ``<=``, ``<``) compares numbers, ``"city^="`` takes the beginning of a text, and
        ``"location~"`` a latitude, a longitude and a distance in km, or the south, west, north
        and east of a box. The key ``"not"`` takes conditions that must not be met. The texts
        ``"country=AT,DE"`` and ``"country_is_eu"``, a Boolean field that must be true, and a list
        of texts and mappings are conditions too.

        With ``by``, a field, a group or a list of them, yield ``(network, values)``: a value, a
        dict for a group, a tuple for a list. An unknown ``asn`` is left out of a dict of
        ``network``. Adjacent ranges whose values differ are not joined.

        ``within`` (a network or its text) and ``family`` limit the prefixes. Without
        ``aggregate`` adjacent ranges of the dataset are not joined: each prefix has one answer.

        Raises ValueError for a name that no stored field has, a value that no answer can have, a
        malformed condition, ``within`` or ``family``; TypeError for conditions of another type.
        Both are raised by the call, not by the first step.
        """
        from geolookup.prefixes.lists import networks, networks_with_values

        limits = {"within": within, "family": family, "aggregate": aggregate}
        selection = self._selection("prefixes", where, by, limits)
        return networks(selection) if by is None else networks_with_values(selection)

    def prefix_table(
        self,
        where: Where = None,
        *,
        by: FieldNames | None = None,
        within: object = None,
        family: Literal[4, 6] | None = None,
        aggregate: bool = True,
    ) -> pa.Table:
        """Return as an Arrow table what ``prefixes`` yields, with the same arguments.

        The column ``network`` has the text of each prefix. Each field of ``by`` has a column with
        its values, named as in an enriched table: ``network_asn``. Raises what ``prefixes``
        raises.
        """
        from geolookup.prefixes.lists import table

        limits = {"within": within, "family": family, "aggregate": aggregate}
        return table(self._selection("prefix_table", where, by, limits))

    def _selection(self, call: str, where: Where, by: Any, limits: dict[str, Any]) -> Selection:
        from geolookup.prefixes.condition_values import check_values
        from geolookup.prefixes.conditions import conditions_of
        from geolookup.prefixes.select import Selection
        from geolookup.tables.row_tables import row_tables

        dataset = self._open_state().dataset
        conditions = conditions_of(where, call, dataset.schema)
        check_values(row_tables(dataset), conditions)
        return Selection(dataset, conditions, call, by=by, **limits)
