"""Networks and whole datasets: networks by address and by answer, explanations, exports."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from geolookup.contract.envelope import Object
from geolookup.engine.many import ManyAnswers

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import Any, Literal

    import pyarrow as pa

    from geolookup.dataset.networks import Network
    from geolookup.prefixes.conditions import Where


class NetworkAnswers(ManyAnswers):
    """The calls of an engine for networks; an iteration is of one generation."""

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

        ``{"ip", "network", "same_sources", "layers"}``. ``"network"`` is
        ``engine.network(ip)``, the largest aligned network with one answer.
        ``"same_sources"`` holds the adjacent addresses that the same sources decide in
        all layers; their answers may differ. Each of ``"layers"`` is ``{"source", "date",
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
        from geolookup.dataset.provenance import explain

        state = self._open_state()
        data = state.envelopes([ip], 0)[0]["data"]
        return explain(state, state.dataset.manifest.metadata().sources, ip, data)

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
        option that the format does not have, OutputError if the file cannot be written, or
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
        unknown. An operator follows the field: ``"network.asn>="`` (also ``>``, ``<=``, ``<``)
        compares numbers, ``"location.city_name^="`` takes the beginning of a text, and
        ``"location~"`` a latitude, a longitude and a distance in km, or the south, west, north
        and east of a box. The key ``"not"`` takes conditions none of which may be met. A text
        ``"location.country_code=AT,DE"`` and a list of texts and mappings are conditions too; an
        empty mapping has none. ``within`` (a network or its text) and ``family`` limit what is
        yielded. Without ``aggregate`` adjacent ranges of the dataset are not joined: each prefix
        has one answer.

        Raises ValueError for a path that names no stored field, a value of the wrong type, a
        malformed condition, ``within`` or ``family``; TypeError for conditions of another type; at
        the call, not at the first step.
        """
        from geolookup.prefixes.lists import networks
        from geolookup.prefixes.select import Selection, question

        query = question(where, within=within, family=family, aggregate=aggregate)
        return networks(Selection(self._open_state().dataset, query))

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
        from geolookup.prefixes.lists import table
        from geolookup.prefixes.select import Selection, question

        query = question(where, within=within, family=family, aggregate=aggregate, by=by)
        return table(Selection(self._open_state().dataset, query))
