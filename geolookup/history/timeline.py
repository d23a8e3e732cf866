"""When answers changed: the generations of a store, each compared with the one before.

Strategy: the changes of the current generation (``in_force``) are read from the newest back, the
rows of each two neighbours from their file (``change_files``). The first answer is the one before
the oldest change, so no past generation is opened.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from geolookup.contract.address import canonical, effective, parse
from geolookup.contract.cleaning import clean_text
from geolookup.contract.gregorian import timestamp
from geolookup.contract.paths import names_of, resolve_fields
from geolookup.contract.special import is_private
from geolookup.dataset.networks import Network, same_kind_around
from geolookup.errors import DatasetError, PrivateAddressError
from geolookup.history.archived import open_unpacked
from geolookup.history.change_files import (
    ChangedRow,
    LayerChange,
    Pair,
    rows_between,
    rows_in_file,
)
from geolookup.kernel import State
from geolookup.progress import stage
from geolookup.store import pointer
from geolookup.store.in_force import Period, periods
from geolookup.store.requirements import Requirements
from geolookup.store.resolve import fingerprint, retry_if_changed


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the answers for adjacent addresses."""

    since: str  # when the generation came into force, ISO 8601 in UTC
    generation: str  # its id
    before_generation: str  # the one that was in force before
    before_until: str  # until when; earlier than ``since`` if the generations between are pruned
    first: str  # the addresses, both ends included
    last: str
    layers: Mapping[str, LayerChange]  # those with fields that differ

    @property
    def fields(self) -> dict[str, Pair]:
        """The value before and after of each field that differs, by path; None is unknown."""
        layers = self.layers.values()
        return {path: pair for layer in layers for path, pair in layer.fields.items()}


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """The answer in the first known generation."""

    since: str  # when the generation came into force, ISO 8601 in UTC
    generation: str
    fields: Mapping[str, Any] | None  # by path, the known values; None for a prefix


@dataclass(frozen=True, slots=True)
class History:
    """How the answer for an address or a prefix changed."""

    ip: str  # the address or the prefix
    changes: tuple[Change, ...]  # the newest first
    first: FirstAnswer


def history(
    store: str,
    ip: object,
    names: tuple[object, ...] = (),
    *,
    clean: bool,
    requirements: Requirements,
) -> History:
    """Return the history of an address or a prefix in a store; see ``Engine.history``.

    As of the instant of the requirements, it ends with the generation in force then. With trusted
    keys, each generation must be signed.
    """
    question = _question(ip, clean=clean)
    read = partial(_history, store, question, names_of(names), requirements)
    return retry_if_changed(read, partial(fingerprint, store))


@stage("reading changes")
def _history(
    store: str, question: Question, names: tuple[object, ...], requirements: Requirements
) -> History:
    known = _known_periods(store, requirements.instant)
    opened = cache(partial(open_unpacked, store, check=requirements.signature_check()))
    newest, address = opened(known[0].generation), canonical(*question.where[:2])
    stored = newest.schema.stored
    wanted = {field.path for field in resolve_fields(names, stored, "history")} if names else None
    columns = tuple(field.path for field in stored)
    values = dict(zip(columns, State(newest).values([address], columns, 0)[0], strict=True))
    changes: list[Change] = []
    for after, before in pairwise(known):
        pair = before.generation, after.generation
        if len({*pair}) == 1:  # another one between them is pruned
            continue
        file = Path(pointer.changes_of(store, *pair))
        # The files are not signed.
        rows = None if requirements.keys else rows_in_file(file, pair, *question.where)
        if rows is None:
            rows = rows_between(opened(pair[0]), opened(pair[1]), *question.where)
        changes += _changes(before, after, question.where[0], rows, wanted)
        for changed in (layer for row in rows[:1] for layer in row.layers.values()):
            values |= {path: value for path, (value, _) in changed.fields.items()}
    if not changes and not newest.schema.private_layers and _is_private(*question.where):
        raise PrivateAddressError(address)
    known_values = {path: value for path, value in values.items() if value is not None}
    first = FirstAnswer(
        timestamp(known[-1].begin),
        known[-1].generation,
        None if question.is_prefix else _only(known_values, wanted),
    )
    return History(question.text, tuple(changes), first)


def _only(fields: dict[str, Any], wanted: Collection[str] | None) -> dict[str, Any]:
    """Return the fields that are wanted; None: all."""
    return {path: value for path, value in fields.items() if wanted is None or path in wanted}


def _known_periods(store: str, until: int | None) -> list[Period]:
    """Return the periods whose generation the store keeps, the newest first."""
    kept = {entry.generation for entry in pointer.read(store).published}
    known = [
        period
        for period in reversed(periods(store))
        if period.generation in kept and (until is None or period.begin <= until)
    ]
    if not known:
        problem = "no generation of that time is kept"
        raise DatasetError(store, problem, "name a later date")
    return known


def _changes(
    before: Period,
    after: Period,
    family: int,
    rows: Iterable[ChangedRow],
    wanted: Collection[str] | None,
) -> list[Change]:
    """Return the changes in some fields (None: in all); neighbours that changed alike are one."""
    until = after.begin if before.end is None else before.end
    times = timestamp(after.begin), after.generation, before.generation, timestamp(until)
    changes: list[Change] = []
    end = -1  # of the last change
    for row in rows:
        layers = {
            name: LayerChange(fields, layer.sources)
            for name, layer in row.layers.items()
            if (fields := _only(layer.fields, wanted))
        }
        if not layers:
            continue
        first, last = canonical(family, row.first), canonical(family, row.last)
        if changes and row.first == end + 1 and changes[-1].layers == layers:
            changes[-1] = replace(changes[-1], last=last)
        else:
            changes.append(Change(*times, first, last, layers))
        end = row.last
    return changes


class Question(NamedTuple):
    """The addresses of a history; one that carries an IPv4 address is that address."""

    text: str  # of the address or prefix as asked, canonical
    where: tuple[int, int, int]  # family, first and last address
    is_prefix: bool  # as asked: a prefix of one address too


def _is_private(family: int, first: int, last: int) -> bool:
    """Return whether all of a range is in special-purpose space."""
    ends = same_kind_around(family, first, first, last)
    return is_private(family, first) and ends == (first, last)


def _question(ip: object, *, clean: bool) -> Question:
    """Read an address, or a network of ``ipaddress``, or the text of either.

    With ``clean`` a text that is neither is cleaned. Raises InvalidAddressError.
    """
    network = _network(ip)
    if network is None:
        family, first = parse(clean_text(ip) if clean else ip)
        text, last = canonical(family, first), first
    else:
        text, family = str(network), network.version
        first, last = int(network[0]), int(network[-1])
    # The IPv4 range that both ends carry: 2002:808:800::/40 carries 8.8.8.0 to 8.8.8.255.
    ends = effective(family, first), effective(family, last)
    if ends[0][0] == ends[1][0] == 4:
        (family, first), (_, last) = ends
    return Question(text, (family, first, last), network is not None)


def _network(ip: Any) -> Network | None:
    """Return the network that a value is or that a text names; None if it may be an address."""
    if issubclass(type(ip), (ipaddress.IPv4Network, ipaddress.IPv6Network)):
        return ip  # type: ignore[no-any-return]
    if not issubclass(type(ip), str) or "/" not in ip:
        return None
    address, _, length = str(ip).strip().partition("/")
    try:
        parse(address)  # stricter than ipaddress: no zone ids
        if not (length.isascii() and length.isdigit()):  # no masks
            return None
        return ipaddress.ip_network(f"{address}/{length}")
    except ValueError:  # InvalidAddressError is one
        return None
