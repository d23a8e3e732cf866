"""Routing tables as MRT files (RFC 6396): prefixes and their origin AS.

The library ``ftlbgp`` parses the records. It opens a file by its name and takes an error of
reading for the end, so a compressed file is unpacked into a temporary one before.
"""

from __future__ import annotations

import io
import shutil
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from geolookup.contract.address import MAX
from geolookup.dataset.intervals import Addresses
from geolookup.errors import BuildError
from geolookup_builder.ranges import NOT_ROUTE, ParsedRanges
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import (
    Batch,
    Reject,
    SourceFormat,
    SourceTable,
    one_table,
)
from geolookup_builder.sources.reading.routes import NONE, RouteNumbers, Routes, origin, rows
from geolookup_builder.sources.reading.sniffing import Detection, Opening, check_text
from geolookup_builder.sources.reading.stated_dates import of_seconds
from geolookup_builder.sources.reading.vendor_files import AsNames, load_as_names

#: Names end with a time (rib.20261120.0000), so any file of a folder is taken.
_SUFFIXES = ("",)
#: The header of a record: time, type, subtype, length. A record of type 12 is one route of a
#: table, one of type 13 the routes of all peers for a prefix.
_HEADER = struct.Struct(">4xHHI")
_TIME = struct.Struct(">I")
# TABLE_DUMP (12) and TABLE_DUMP_V2 (13) with their subtypes (RFC 6396, sections 4.2 and 4.3;
# RFC 8050 for paths).
_TABLES = {12: (1, 2), 13: (1, 2, 4, 6, 8, 10, 12)}
_MOST_BYTES = 1 << 20  # of a record; the library refuses a longer one
_CHUNK_ROUTES = 1 << 18
_SHOWN = 100  # characters of the library's message
#: The library's names of routes of a table, and of errors that concern the file.
_OF_TABLE, _OF_FILE = "rib", "header"
#: Family, first address and length; and the values of a record without a route.
_Prefix = tuple[int, int, int]
_NO_ROUTE = (0, 0, 0)
#: Prefix, origin, number of routes, number of the first.
_Group = tuple[_Prefix, int, int, int]


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    return one_table(spec, _SUFFIXES, partial(_batches, names=load_as_names(spec)))


def _check(member: Member) -> None:
    """Raise BuildError if the first record is not one of a routing table."""
    with member.open() as stream:
        start = stream.read(_HEADER.size)
    kind, subtype, length = _HEADER.unpack(start) if len(start) == _HEADER.size else (0, 0, 0)
    if subtype not in _TABLES.get(kind, ()) or not 0 < length <= _MOST_BYTES:
        remedy = "name a table (rib or bview), not updates"
        check_text(member)
        raise BuildError(member.label, "not an MRT routing table", remedy=remedy)


def _batches(member: Member, names: AsNames | None) -> Iterator[Batch]:
    _check(member)
    return rows(_routes(member), RouteNumbers(member, _rejects), names)


def _routes(member: Member) -> Iterator[Routes]:
    """Yield the routes, in groups; a number of routes stands for the record of each."""
    with _plain_file(member) as path, _parser() as parse:
        groups = _groups(_parse(member, parse(path)))
        while chunk := [*islice(groups, _CHUNK_ROUTES)]:
            yield _columns(chunk)


@contextmanager
def _plain_file(member: Member) -> Iterator[str]:
    """Yield the path of a file with the plain bytes of a member."""
    with member.open() as stream:
        if isinstance(stream, io.BufferedReader):
            yield stream.name
            return
        with TemporaryDirectory(prefix="geolookup-") as folder:
            plain = Path(folder) / "table.mrt"
            with plain.open("wb") as file:
                shutil.copyfileobj(stream, file, 1 << 20)
            yield str(plain)


def _parser() -> Any:
    """Return the library's parser of routes; an error is a tuple of two, a route of four."""
    try:
        from ftlbgp import BgpParser
    except ModuleNotFoundError as error:
        remedy = "pip install 'geolookup[mrt]'"
        raise BuildError("mrt", "needs the package ftlbgp", remedy=remedy) from error
    records, route, failure = BgpParser.bgp.records, BgpParser.bgp.route, BgpParser.bgp.error
    return BgpParser(
        named_records=False,
        bgp_records=records.route | records.error,
        bgp_route=route.human.source | route.prefix_protocol | route.prefix | route.aspath,
        bgp_error=failure.human.scope | failure.message,
    )


def _parse(member: Member, records: Iterator[tuple[Any, ...]]) -> Iterator[tuple[_Prefix, int]]:
    """Yield prefix and origin of each route; BuildError if the file ends before its last."""
    record: tuple[Any, ...] = ()
    for record in _read_records(member, records):
        if len(record) == 4 and record[0] == _OF_TABLE:
            _, family, (first, length), path = record
            yield (family, first, length), origin(path or ())
        else:
            yield _NO_ROUTE, NONE
    if len(record) == 2 and record[0] == _OF_FILE:  # if it is the last, the library gave up
        raise _damage_error(member, record[1])


def _read_records(member: Member, records: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield the records of the library; BuildError if it refuses the file."""
    from ftlbgp.model.error import FtlError

    try:
        yield from records
    except FtlError as error:
        raise _damage_error(member, error.message) from error


def _damage_error(member: Member, message: object) -> BuildError:
    problem = f"truncated or damaged ({str(message)[:_SHOWN]})"
    return BuildError(member.label, problem, remedy="fetch it again")


def _groups(routes: Iterator[tuple[_Prefix, int]]) -> Iterator[_Group]:
    """Yield consecutive routes of one prefix and origin as one, with their number and the first."""
    number = 1
    # Peers announce the same origin one after the other: few groups, many routes.
    for (prefix, asn), equal in groupby(routes):
        count = sum(1 for _ in equal)
        yield prefix, asn, count, number
        number += count


def _columns(groups: list[_Group]) -> Routes:
    prefixes, asns, counts, numbers = zip(*groups, strict=True)
    families, firsts, _ = zip(*prefixes, strict=True)
    # 8.8.8.0/24: 2^32 - 1 >> 24 is 0.0.0.255.
    hosts = [MAX[family or 4] >> length for family, _, length in prefixes]
    # The bits behind the length are of no meaning (RFC 4271, section 4.3).
    first = [address & ~host for address, host in zip(firsts, hosts, strict=True)]
    last = [address | host for address, host in zip(first, hosts, strict=True)]
    family = np.array(families, np.uint8)
    reason = np.where(family == 0, NOT_ROUTE, 0).astype(np.uint8)
    ranges = ParsedRanges(family, Addresses.of(6, first), Addresses.of(6, last), reason)
    amounts = (np.array(column, np.int64) for column in (counts, numbers))
    return Routes(ranges, np.array(asns, np.uint32), *amounts)


def _rejects(member: Member, reasons: dict[int, str]) -> Iterator[Reject]:
    """Yield rejected routes by their number; the library does not return their bytes."""
    for number, reason in sorted(reasons.items()):
        yield Reject(member.label, number, reason, "")


def _detect(opening: Opening) -> Detection | None:
    _check(opening.start)
    return Detection("a routing table")


def _date(member: Member) -> str | None:
    """Return the day of the first record: all records of a table have one time."""
    with member.open() as stream:
        start = stream.read(_TIME.size)
    return of_seconds(*_TIME.unpack(start)) if len(start) == _TIME.size else None


FORMAT = SourceFormat("mrt", frozenset({"names"}), _read, _detect, _date)
