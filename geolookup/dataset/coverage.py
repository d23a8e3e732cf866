"""How many addresses a dataset knows, field by field."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract import fields, special
from geolookup.contract.schema import Schema
from geolookup.dataset import arrow_files
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import Addresses, Bools, count_addresses, cut_at, join_intervals
from geolookup.dataset.manifest import read_manifest
from geolookup.dataset.public_ranges import any_known
from geolookup.errors import REBUILD, DatasetError, count_text
from geolookup.progress import stage

_SMALL = 0.0001  # a share that percent with two decimals would round to 0
_LEAST = 0.001  # a share of public IPv4 that is stated in percent


@dataclass(frozen=True, slots=True)
class KnownAddresses:
    """Addresses of one family: how many there are, and how many have a value, by path.

    ``of`` are the public IPv4 addresses. For IPv6, only addresses with a known value: nearly all of
    that space was never assigned. Own columns are counted in public space only.
    """

    of: int
    with_value: Mapping[str, int]  # each stored field of the contract, in its order

    def share(self, path: str) -> float:
        """Return the share of the addresses that have a value, from 0 to 1."""
        return self.with_value[path] / self.of if self.of else 0.0


@stage("counting known addresses")
def known_addresses(path: str | os.PathLike[str]) -> dict[str, KnownAddresses]:
    """Count the addresses with a value of each field, by family, "ipv4" and "ipv6".

    Reads the whole dataset. Raises DatasetError for a damaged one.
    """
    folder = Path(path)
    try:
        schema = read_manifest(folder).schema
        files = (*fmt.ANSWERING, *((fmt.OWN,) if schema.own else ()))
        batches = {name: arrow_files.read(folder / name)[0] for name in files}
        for batch in batches.values():
            batch.validate(full=True)
        tables = list(_known_rows(batches, schema))
        return {f"ipv{family}": _count_known(family, batches, tables, schema) for family in (4, 6)}
    except MemoryError:  # Arrow's is an ArrowException too
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
        raise DatasetError(folder, "damaged", REBUILD) from error


def _known_rows(
    batches: Mapping[str, pa.RecordBatch], schema: Schema
) -> Iterator[tuple[str, str, Bools]]:
    """Yield each field, the table that intervals refer to, and its rows with a value."""
    for field in schema.stored:
        table = field.table
        values = batches[fmt.TABLES[table]].column(field.column)
        has_value = np.asarray(values.is_valid().to_numpy(zero_copy_only=False), bool)
        if table in fmt.LINKS:
            # By row of the country or zone table; here: by row of the location table.
            has_value = has_value[arrow_files.numbers_of(batches[fmt.LOCATION], table)]
            table = fields.LOCATION
        yield field.path, table, has_value


def _count_known(
    family: int,
    batches: Mapping[str, pa.RecordBatch],
    tables: list[tuple[str, str, Bools]],
    schema: Schema,
) -> KnownAddresses:
    batch = batches[fmt.INTERVALS[family]]
    starts = arrow_files.starts_of(batch)
    rows = {table: arrow_files.numbers_of(batch, table) for table in fmt.row_tables(schema.own)}
    if schema.private_layers:
        starts, rows = _in_public_space(family, starts, rows)
    counts: dict[bytes, int] = {}  # most facts of a country are known together
    with_value = {}
    for path, table, has_value in tables:
        # By row of a table; here: by interval.
        selection = has_value[rows[table]]
        # By the bits themselves, not by a hash: equal keys are equal columns.
        key = selection.tobytes()
        if key not in counts:
            counts[key] = count_addresses(starts, selection)
        with_value[path] = counts[key]
    of = int(public_space(4)) if family == 4 else count_addresses(starts, any_known(rows))
    return KnownAddresses(of, with_value)


def _in_public_space(
    family: int, starts: Addresses, rows: Mapping[str, NDArray[Any]]
) -> tuple[Addresses, dict[str, NDArray[Any]]]:
    """Return a partition cut at the ends of public space; all rows outside it are unknown."""
    # 9.0.0.0 - 10.255.255.255 may have one row: it becomes an interval of 9.0.0.0/8, and one of
    # 10.0.0.0/8 with the row 0.
    bounds, is_public = cut_at(family, special.ranges_of(family, special.PUBLIC))
    joint, (of_bounds, of_starts) = join_intervals([bounds, starts])
    outside = ~is_public[of_bounds]
    inside = {table: numbers[of_starts] for table, numbers in rows.items()}
    for numbers in inside.values():
        numbers[outside] = 0
    return joint, inside


def public_space(family: int) -> float:
    """Return the public IPv4 addresses, or the /64 networks of 2000::/3.

    IANA assigns public IPv6 only from 2000::/3 (Internet Protocol Version 6 Address Space).
    """
    if family == 6:
        return 2.0**61
    return float(sum(last - first + 1 for first, last in special.ranges_of(4, special.PUBLIC)))


def coverage_lines(coverage: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield the addresses of each layer that has any; layers that are alike share a line."""
    layers = dict[str, list[str]]()
    for layer, addresses in coverage.items():
        if any(addresses.values()):
            # Own columns also have values in private networks: no share of the public ones.
            text = coverage_text(addresses, has_share=not layer.startswith(fields.OWN_PREFIX))
            layers.setdefault(text, []).append(layer)
    yield from (f"{text}: {', '.join(alike)}" for text, alike in layers.items())


def coverage_text(addresses: Mapping[str, int], *, has_share: bool = True) -> str:
    """Return numbers of addresses by family as text: IPv4 as a share of the public, unless small.

    Without ``has_share`` the number of IPv4 addresses is stated, however many.

    >>> coverage_text({"ipv4": 1 << 24, "ipv6": 3 << 80}), coverage_text({"ipv4": 1 << 21})
    ('0.45 % of public IPv4, 3 /48 networks of IPv6', '2,097,152 addresses of IPv4')
    >>> coverage_text({"ipv4": 1 << 24}, has_share=False)
    '16,777,216 addresses of IPv4'
    """
    ipv4, ipv6 = addresses.get("ipv4", 0), addresses.get("ipv6", 0)
    share = ipv4 / public_space(4)
    few = f"{addresses_text(ipv4)} of IPv4"
    texts = (
        [few if share < _LEAST or not has_share else f"{percent_text(share)} of public IPv4"]
        if ipv4
        else []
    )
    return ", ".join([*texts, f"{addresses_text(ipv6)} of IPv6"] if ipv6 else texts)


def addresses_text(count: int) -> str:
    """Return a number of addresses; a number of IPv6 in networks, as few digits as it has.

    >>> addresses_text(256), addresses_text(3 << 80)
    ('256 addresses', '3 /48 networks')
    """
    for length, unit in ((48, 1 << 80), (64, 1 << 64)):
        if count >= unit:
            return count_text(count // unit, f"/{length} network")
    return count_text(count, "address", "addresses")


def percent_text(share: float) -> str:
    """Return a share in percent; a small share is not rounded to 0."""
    return "<0.01 %" if 0 < share < _SMALL else f"{100 * share:.2f} %"
