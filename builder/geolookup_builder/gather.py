"""The rows of one source table, gathered from its batches, and the intervals that they decide.

IPv6 ranges that overlap IPv4-mapped space are folded. Rows beyond the budget of memory are written
to files. Each family is flattened (``flatten``). Then it loses the space that lookups never search:
one in 6to4 or NAT64 space uses the IPv4 address that the address carries. Special-purpose space is
kept for private layers only: own columns with ``private = true``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.fields import OWN_PREFIX
from geolookup.contract.special import CARRIES_IPV4, PRIVATE, Range, ranges_of
from geolookup.dataset.intervals import Addresses, Bools, clamp, concat, cut_at
from geolookup.filesystem.limits import check_space
from geolookup.parallel import alongside, cores, in_order
from geolookup.progress import Progress
from geolookup_builder import layers
from geolookup_builder.build_report import SourceReport
from geolookup_builder.cleaning import CleanBatch, clean_batch
from geolookup_builder.columns import ROW, Column, Columns, JoinedIntervals, Partition
from geolookup_builder.flatten import EXCLUDED, Rows, combined, duplicates, flatten, fold
from geolookup_builder.layer_values import UNKNOWN, LayerValues
from geolookup_builder.layers import Band, RowBands, cut, hide, of_rows, underlay_bands
from geolookup_builder.memory import release
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.rejects import Rejects
from geolookup_builder.sources.reading.inputs import label_in_recipe
from geolookup_builder.sources.reading.products import names_of_fields
from geolookup_builder.sources.reading.reader import RecordNumbers, SourceTable
from geolookup_builder.values import Reference

#: Marks of a row, a bit each: it owns an interval, hidden space included; it owns one
#: that lookups search; it has an address in special-purpose space; it has a value.
_OWNER, _USED, _SPECIAL, _VALUE = (np.uint8(1 << bit) for bit in range(4))


class SourceRows:
    """Gathers and counts the rows of one source table."""

    def __init__(
        self,
        layers: Mapping[str, LayerValues],
        reference: Reference,
        report: SourceReport,
        spec: SourceSpec,
        columns: Columns,
    ) -> None:
        self._layers, self._reference = layers, reference
        self.report, self._spec, self._columns = report, spec, columns
        self.schema = spec.schema
        self.stated: dict[str, None] = {}  # the layers of any batch
        self._runs: dict[int, list[Rows]] = {4: [], 6: []}
        self._batches: dict[int, list[Rows]] = {4: [], 6: []}  # in memory, since the last run
        self.nbytes = 0  # of these batches
        self._values = self._size_of_values()  # after the last run

    def _size_of_values(self) -> int:
        return sum(values.nbytes for values in self._layers.values())

    def read(self, table: SourceTable, progress: Progress) -> Rejects:
        """Gather all rows of the table, and count them in the report; return those to list.

        Raises BuildError.
        """
        report, rejects, fields = self.report, Rejects(), dict[str, None]()
        clean = partial(clean_batch, spec=self._spec, reference=self._reference)
        # Half as many threads as cores: others parse files, and each holds a batch.
        threads = max(1, cores() // 2)
        with (
            progress.stage(f"reading {table.name}"),
            in_order(lambda batch: (batch, clean(batch)), table.batches, threads) as batches,
        ):
            for batch, cleaned in batches:
                self._add(cleaned)
                rejects.add(batch, cleaned.nulled_cells, cleaned.far)
                fields |= dict.fromkeys(batch.fields)
                progress.rows(len(batch))
        report.fields = tuple(fields)
        report.keep(self._spec.fields)
        while table.emptied:  # by batch; the next table of the source begins with none
            report.emptied.update(table.emptied.pop())
        report.rejected = rejects.counts()
        files = [numbers for numbers, _ in rejects.members.values()]
        _report_files(files, report, self._spec)
        # Unary plus drops the fields whose count is 0.
        report.stated, report.nulled = +report.stated, +report.nulled
        report.read += sum(len(numbers.skipped) for numbers in files)
        return rejects

    def _add(self, batch: CleanBatch) -> None:
        """Add the rows of a batch that are not rejected."""
        report = self.report
        numbers = {layer: self._layers[layer].add(values) for layer, values in batch.tuples.items()}
        self.stated |= dict.fromkeys(numbers)
        for family, (index, first, last) in batch.families.items():
            of_family = {layer: codes[index] for layer, codes in numbers.items()}
            # After the rows of earlier batches; of 32 bits, or of 64 if there are that many.
            positions = index + report.read
            kind = np.promote_types(np.uint32, np.min_scalar_type(positions.max(initial=0)))
            rows = Rows(first, last, positions.astype(kind), of_family).in_order()
            if family == 6:
                folded, rows = fold(rows)
                report.rows["folded"] += len(folded)
                # Last less first, and one more address of each row.
                report.addresses["folded"] += folded.last.minus(folded.first).total() + len(folded)
                self._keep(4, folded)
            self._keep(family, rows)
        report.read += batch.size
        report.stated.update(batch.stated)
        report.nulled.update(batch.nulled)
        report.aliases.update(batch.aliases)
        report.rows["far"] += len(batch.far)
        report.swapped += batch.swapped
        report.coded += batch.coded
        if self.nbytes + self._size_of_values() - self._values > self._columns.budget.rows:
            self._columns.in_files = True
            self.end_run()

    def _keep(self, family: int, rows: Rows) -> None:
        if len(rows):
            self._batches[family].append(rows)
            self.nbytes += rows.nbytes

    def end_run(self) -> None:
        """Give the rows since the last run their final numbers; write them, if files are in use."""
        if self._columns.in_files:
            check_space(self._columns.output, self.nbytes)
        renumber = {layer: values.merge_equal() for layer, values in self._layers.items()}
        for family, batches in self._batches.items():
            for rows in batches:
                for layer, codes in rows.numbers.items():
                    rows.numbers[layer] = renumber[layer](codes)
            self._batches[family] = []
            self._runs[family] += self._in_files(batches) if self._columns.in_files else batches
        self.nbytes, self._values = 0, self._size_of_values()
        if self._columns.in_files:
            self._columns.check_values(self._values, self._spec.recipe)
        self._columns.release()
        release()

    def _in_files(self, batches: list[Rows]) -> list[Rows]:
        """Return the rows of batches as one run in files, written column by column."""
        if not batches:
            return []
        order = concat([rows.first for rows in batches]).order()

        def write(values: Sequence[NDArray[Any]]) -> NDArray[Any]:
            in_order = np.concatenate(values)[order]
            column = Column(self._columns, in_order.dtype)
            column.append(in_order)
            return column.finish()

        return [combined(batches, self.stated, write)]

    def _families(self, partitions: Mapping[int, Partition]) -> dict[int, RowBands]:
        """Return the rows by family, to be taken in bands that fit in memory beside ``partitions``.

        IPv4 has the parts folded from IPv6.
        """
        for family, batches in self._batches.items():
            rows, starts = RowBands(family, batches, self.stated), partitions[family].starts
            if len(rows.divide(starts, self._columns.budget.band)) > 1:
                self._columns.in_files = True
        self.end_run()
        runs, self._runs = self._runs, {}
        return {family: RowBands(family, of, self.stated) for family, of in runs.items()}

    def flatten(
        self, partitions: dict[int, Partition], *, with_rows: bool = False
    ) -> dict[int, Partition]:
        """Flatten the rows, and overlay them below ``partitions``, in place; count them.

        Returns the deciding rows by family, if asked for.
        """
        columns, private = self._columns, self.schema.private_layers
        families = self._families(partitions)
        counts = {family: _Counts(np.zeros(self.report.read, np.uint8)) for family in families}
        owners = dict[int, Partition]()

        def flatten_family(family: int) -> None:
            of_family, base = families[family], partitions[family]
            deciding = JoinedIntervals(columns)

            def below(band: Band) -> Partition:
                of_band = _layers_of(of_family.take(band), band, counts[family], private)
                position = of_band.numbers.pop(ROW)
                if with_rows:
                    deciding.append(Partition(of_band.starts, {ROW: position}))
                return of_band

            of_bands = of_family.divide(base.starts, min(columns.budget.band, layers.BAND))
            partitions[family] = underlay_bands(base, of_bands, below, columns)
            if with_rows:
                owners[family] = deciding.finish()

        with alongside(partial(flatten_family, 6)) as ipv6:
            flatten_family(4)
            ipv6()
        self._count_intervals([*counts.values()])
        return owners

    def _count_intervals(self, families: Sequence[_Counts]) -> None:
        """Add the counts of rows and addresses to the build report."""
        report = self.report
        marks = np.bitwise_or.reduce([family.marks for family in families])
        for family in families:
            report.rows.update(family.rows)
            report.addresses.update(family.addresses)
        addresses = report.addresses.pop("special")
        report.used, special, owners = (
            int(np.count_nonzero(marks & mark)) for mark in (_USED, _SPECIAL, _OWNER)
        )
        private = tuple(layer for layer in self.schema.private_layers if layer in self.stated)
        report.private_layers = private
        if private:
            report.rows["private"], report.addresses["private"] = special, addresses
        if len(self.stated) > len(private) or not self.stated:
            report.rows["clipped"], report.addresses["clipped"] = special, addresses
        used_value = _USED | _VALUE
        report.has_value = bool((marks & used_value == used_value).any())
        valid_rows = report.read - report.rejected.total()
        # Accepted rows that own nothing; duplicates among them have a count of their own.
        report.rows["covered"] = max(0, valid_rows - owners - report.rows["duplicate"])


def _report_files(files: Sequence[RecordNumbers], report: SourceReport, spec: SourceSpec) -> None:
    """Note what files were read as, and which of their columns nothing reads."""
    columns = dict.fromkeys(name for file in files for name in file.unread)
    others = (label_in_recipe(label, spec.base) for file in files for label in file.member.others)
    ours = names_of_fields(spec.schema)  # first: the report lists some columns only
    unread = sorted(columns, key=lambda name: name not in ours)
    report.unread = tuple(dict.fromkeys((*unread, *others)))
    # The offered own columns that the recipe does not ask for.
    columns_of_recipe = spec.options.get("columns")
    mapped = columns_of_recipe.values() if isinstance(columns_of_recipe, Mapping) else ()
    stated = report.fields + report.dropped
    offered = dict.fromkeys(name for file in files for name in file.offered)
    report.offered = tuple(
        name for name in offered if OWN_PREFIX + name not in stated and name not in mapped
    )
    products = dict.fromkeys(f"read as {file.product}" for file in files if file.product)
    report.note = "; ".join(filter(None, (report.note, *products)))


@dataclass(slots=True)
class _Counts:
    """The counts of one family's rows in a table, added up band by band."""

    marks: NDArray[np.uint8]  # by position in the table
    rows: Counter[str] = field(default_factory=Counter)
    addresses: Counter[str] = field(default_factory=Counter)

    def add_rows(self, rows: Rows) -> None:
        """Count duplicates, clipped (private) addresses, and excluded rows and addresses.

        ``_count_intervals`` counts the clipped rows, because a row that is partly folded has ranges
        of both families.
        """
        family = rows.first.family
        self.rows["duplicate"] += duplicates(rows)
        is_special, addresses = _inside(rows, ranges_of(family, PRIVATE))
        self.marks[rows.position[is_special]] |= _SPECIAL
        self.addresses["special"] += addresses
        is_excluded, addresses = _inside(rows, EXCLUDED if family == 6 else ())
        self.rows["excluded"] += int(np.count_nonzero(is_excluded))
        self.addresses["excluded"] += addresses
        for codes in rows.numbers.values():
            self.marks[rows.position[codes != UNKNOWN]] |= _VALUE


def _inside(rows: Rows, blocks: Sequence[Range]) -> tuple[Bools, int]:
    """Mark the rows with an address in a block, and count these addresses; no blocks adjoin."""
    starts, within = cut_at(rows.first.family, blocks)
    # Of two neighbours in the partition one is in a block: a range that leaves its interval has
    # an address in a block.
    begin, end = starts.search(rows.first) - 1, starts.search(rows.last) - 1
    inside: Bools = within[begin] | (begin != end)
    total, firsts, lasts = 0, rows.first[inside], rows.last[inside]
    for block in blocks if len(firsts) else ():
        begins, ends = (Addresses.of(firsts.family, [bound]) for bound in block)
        here = ~(lasts < begins) & ~(ends < firsts)
        inner_first, inner_last = (clamp(bounds[here], *block) for bounds in (firsts, lasts))
        # Last less first, and one more address of each range.
        total += inner_last.minus(inner_first).total() + len(inner_last)
    return inside, total


def _layers_of(rows: Rows, band: Band, counts: _Counts, private: Collection[str]) -> Partition:
    """Flatten the rows of a band, and count them; remove space that lookups never search.

    ``private`` are the layers that are known in special-purpose space too. ROW is a layer too:
    1 + the position of the deciding row. Arrays are released as soon as nothing needs them: here a
    build takes the most memory.
    """
    # Rows that begin before the band are counted there.
    counts.add_rows(rows[np.flatnonzero(band.begins(rows.first))] if band.begin else rows)
    family, position, numbers = band.family, rows.position, rows.numbers
    owners = hide(flatten(rows, family), band.outside)
    del rows
    own = owners.numbers[ROW]
    counts.marks[position[own[own > 0] - 1]] |= _OWNER
    owners, special = cut(hide(owners, ranges_of(family, CARRIES_IPV4)), ranges_of(family, PRIVATE))
    in_special = {layer: numbers[layer] for layer in private if layer in numbers}
    public = {layer: codes for layer, codes in numbers.items() if layer not in private}
    (in_special or public)[ROW] = position.astype(np.int64) + 1  # type: ignore[assignment]
    numbers = of_rows(owners, in_special)
    owners.numbers[ROW][special] = 0
    numbers |= of_rows(owners, public)
    used = numbers[ROW]
    counts.marks[used[used > 0] - 1] |= _USED
    return band.crop(Partition(owners.starts, numbers))
