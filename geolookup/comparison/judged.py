"""A comparison with the verdicts of its gates: what ``geolookup diff`` prints as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from os import PathLike

from geolookup.comparison.comparison import Comparison, compare
from geolookup.comparison.gates import Verdict, judge, parse_gate
from geolookup.comparison.traffic import Traffic


@dataclass(frozen=True, slots=True)
class Judged(Comparison):
    """A comparison and the verdict of each gate."""

    gates: Sequence[Verdict]

    @property
    def failed(self) -> list[Verdict]:
        """The verdicts of the gates that fail."""
        return [verdict for verdict in self.gates if verdict.failed]


def diff(
    old: str | PathLike[str],
    new: str | PathLike[str],
    *,
    fail_if: Iterable[str] = (),
    traffic: str | PathLike[str] | None = None,
    traffic_count: str | None = None,
    ip_column: str = "ip",
    input_format: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    top: int = 10,
) -> Judged:
    """Compare two datasets or stores over all addresses that a lookup can answer.

    The result has ``old`` and ``new`` (path, name, generation), ``requests``, ``parts``
    (by "ipv4", "ipv6" and, with ``traffic``, "all") and ``gates``. Counts are in the
    ``unit`` of their part: IPv4 addresses, IPv6 networks of /64, or requests. Shares are
    0 to 1, distances kilometres.

    ``fail_if`` are gates such as "country_moved > 2%"; ``failed`` of the result lists those
    that fail. ``top`` is the number of networks in ``movers``.

    ``traffic`` is a table file of requested addresses or a folder of them, in any format that
    ``geolookup enrich`` reads: each address counts as often as it is requested. ``ip_column``
    is its column of addresses, ``traffic_count`` its column of requests (None: one per row),
    ``input_format`` a format as of ``--input-format`` (None: by suffix). ``delimiter`` (None:
    that of the format) and ``header`` (whether the first row names the columns) are of CSV.

    Raises DatasetError for a missing or damaged dataset, DiffError for a malformed gate,
    TableFileError for an unusable traffic file, ValueError for a ``top`` below 0 or an
    unknown format.
    """
    if top < 0:
        raise ValueError(f"top is {top}; it is a number of networks, 0 or more")
    gates = [parse_gate(text) for text in fail_if]
    requests = None
    if traffic is not None:
        requests = Traffic(traffic, ip_column, traffic_count, input_format, delimiter, header)
    found = compare(old, new, requests, most_movers=top)
    members = {each.name: getattr(found, each.name) for each in fields(Comparison)}
    return Judged(**members, gates=[judge(gate, found) for gate in gates])
