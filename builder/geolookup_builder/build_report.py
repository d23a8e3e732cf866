"""The build report: the rows of each source in numbers, and its rejected rows.

While a source is read, only record number and reason of a rejected row are kept. Its line and
text are found in a second pass over the members that have rejected rows.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from geolookup.dataset.intervals import I64
from geolookup.errors import line_text
from geolookup.filesystem import atomic
from geolookup.remote.key import Mask
from geolookup_builder.ranges import REASONS, WRONG_CELL_COUNT

if TYPE_CHECKING:  # the readers of sources import this module
    from geolookup_builder.sources.reading.reader import Batch, RecordNumbers, Reject

#: Treatment of the parts of ranges that no lookup reaches under their own address.
_PARTS = {
    "clipped": "in private space",
    "folded": "IPv4-mapped, kept as IPv4",
    "excluded": "in 6to4 and NAT64, looked up by their IPv4 address",
}
_WORDS_SHOWN = 5
_KEYS_SHOWN = 12
_WORD_CHARACTERS = 50


@dataclass(frozen=True, slots=True)
class KeysRead:
    """The meaning of the keys of records, in files whose product decides it.

    ``fields`` are the keys of each field in order of precedence, ``constants`` the values that
    every record of the product has. ``ignored`` are other keys; ``more`` counts those not listed.
    """

    product: str
    fields: Mapping[str, tuple[str, ...]]
    constants: Mapping[str, str]
    ignored: tuple[str, ...]
    more: int

    def lines(self) -> Iterator[str]:
        """Yield a line for the keys that are read, and one for those that are not."""
        texts = [f"{name} from {' or '.join(keys)}" for name, keys in self.fields.items()]
        texts += [f"{name} {value}" for name, value in self.constants.items()]
        yield f"  keys        {self.product}: {', '.join(texts) or 'none has a value'}"
        if self.ignored:
            more = len(self.ignored) - _KEYS_SHOWN + self.more
            last = f", and {more:,} more" if more > 0 else ""
            yield f"  not read    {', '.join(self.ignored[:_KEYS_SHOWN])}{last}"


@dataclass(slots=True)
class SourceReport:
    """The rows of one source table, and how the compiler treated them.

    ``addresses_*`` count addresses, ``nulled`` counts values; everything else counts rows.
    """

    name: str
    read: int = 0
    used: int = 0
    has_value: bool = False  # whether a used row has a value
    duplicates: int = 0
    covered: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    nulled: Counter[str] = field(default_factory=Counter)  # by field
    unknown_words: dict[str, Counter[str]] = field(default_factory=dict)
    rows_clipped: int = 0
    rows_folded: int = 0
    rows_excluded: int = 0
    addresses_clipped: int = 0
    addresses_folded: int = 0
    addresses_excluded: int = 0
    note: str = ""
    keys: list[KeysRead] = field(default_factory=list)

    def add_keys(self, keys: KeysRead | None) -> None:
        """Add how the keys of a file were read, once for files that are alike."""
        if keys is not None and keys not in self.keys:
            self.keys.append(keys)

    def lines(self) -> Iterator[str]:
        """Yield a line for the rows, and one for each other number that is not zero."""
        yield f"{self.name}: {self.read:,} rows read, {self.used:,} used"
        if total := self.rejected.total():
            yield f"  rejected    {total:,} rows without a valid range{_reasons(self.rejected)}"
        if self.duplicates:
            yield f"  duplicate   {self.duplicates:,} rows with the range of a later row"
        if self.covered:
            yield f"  covered     {self.covered:,} rows whose addresses more specific rows decide"
        for name, meaning in _PARTS.items():
            if rows := getattr(self, f"rows_{name}"):
                addresses = getattr(self, f"addresses_{name}")
                yield f"  {name:<11} {rows:,} rows, {addresses:,} addresses {meaning}"
        if total := self.nulled.total():
            yield f"  nulled      {total:,} invalid values{_reasons(self.nulled)}"
        for name, words in self.unknown_words.items():
            yield f"  unknown     {name} {_commonest(words)}"
        if self.note:
            yield f"  note        {self.note}"
        yield from chain.from_iterable(keys.lines() for keys in self.keys)


@dataclass(frozen=True, slots=True)
class Filled:
    """Distinct locations without a field: how many were filled, and how many were not."""

    filled: int
    not_found: int


@dataclass(slots=True)
class BuildReport:
    """A build: its sources, the fields that enrichment filled, and the counts of the manifest."""

    sources: list[SourceReport] = field(default_factory=list)
    enriched: dict[str, Filled] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    coverage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    generation: str = ""
    bytes: int = 0
    seconds: float = 0.0

    def lines(self) -> Iterator[str]:
        """Yield the build report."""
        for source in self.sources:
            yield from map(line_text, source.lines())  # a name may hold control characters
        yield from (line_text(f"warning: {warning}") for warning in self.warnings)
        for name, counts in self.enriched.items():
            yield f"{name}: {counts.filled:,} locations filled, {counts.not_found:,} not found"
        yield "dataset " + ", ".join(f"{count:,} {name}" for name, count in self.counts.items())
        yield from _coverage_lines(self.coverage)
        yield f"  {self.bytes:,} bytes in {self.seconds:.1f} s, generation {self.generation}"


def _coverage_lines(coverage: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield the number of addresses with a value, for each layer."""
    for layer, families in coverage.items():
        counts = ", ".join(f"{count:,} {family}" for family, count in families.items())
        yield f"  coverage    {counts} addresses with {layer}"


def _commonest(words: Counter[str]) -> str:
    """Return the commonest of a vendor's words that the vocabulary lacks, and how many more."""
    common = words.most_common(_WORDS_SHOWN)
    texts = [f"{word[:_WORD_CHARACTERS]!r} ({count:,})" for word, count in common]
    more = f", and {len(words) - len(texts):,} more" if len(words) > len(texts) else ""
    return ", ".join(texts) + more


def _reasons(counts: Counter[str]) -> str:
    if not counts:
        return ""
    return " (" + ", ".join(f"{count:,} {reason}" for reason, count in counts.most_common()) + ")"


@dataclass(slots=True)
class _OfMember:
    numbers: RecordNumbers
    records: list[I64] = field(default_factory=list)
    reasons: list[I64] = field(default_factory=list)


@dataclass(slots=True)
class Rejects:
    """The rejected rows of one source."""

    members: dict[int, _OfMember] = field(default_factory=dict)

    def add(self, batch: Batch) -> None:
        """Record the rejected rows of a batch: those without a family."""
        # By identity: an archive may hold two members of one name.
        of_member = self.members.setdefault(id(batch.numbers), _OfMember(batch.numbers))
        rows = np.flatnonzero(batch.ranges.family == 0)
        of_member.records.append(rows + batch.start)
        of_member.reasons.append(batch.ranges.reason[rows].astype(np.int64))

    def skip_count(self) -> int:
        """Return the number of records with the wrong number of cells."""
        return sum(len(member.numbers.skipped) for member in self.members.values())

    def counts(self) -> Counter[str]:
        """Return the number of rejected rows by reason."""
        counts: Counter[str] = Counter()
        for member in self.members.values():
            reasons, numbers = np.unique(np.concatenate(member.reasons), return_counts=True)
            counts.update({REASONS[r]: int(n) for r, n in zip(reasons, numbers, strict=True)})
            counts[WRONG_CELL_COUNT] += len(member.numbers.skipped)
        # Unary plus drops the reasons without a row.
        return +counts

    def find(self) -> Iterator[Reject]:
        """Yield the rejected rows with line and text, member by member, in file order."""
        for member in self.members.values():
            bad_ranges = member.numbers.of(np.concatenate(member.records))
            texts = [REASONS[reason] for reason in np.concatenate(member.reasons)]
            reasons = dict(zip(bad_ranges.tolist(), texts, strict=True))
            # Records with a wrong number of cells have no row in a batch, only a number.
            reasons.update(dict.fromkeys(member.numbers.skipped, WRONG_CELL_COUNT))
            yield from member.numbers.find_rejects(member.numbers.member, reasons)


def write_rejects(path: Path, rejects: list[Rejects], mask: Mask) -> None:
    """Write the rejected rows of all sources: file, line, reason, text; keys are masked.

    The file is replaced atomically: it may be a source, which this function reads.
    """
    with (
        atomic.staged_file(path) as fresh,
        # A path that is not UTF-8 is written as its bytes.
        fresh.open("w", encoding="utf-8", errors="surrogateescape", newline="") as stream,
    ):
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(("file", "line", "reason", "text"))
        for reject in chain.from_iterable(source.find() for source in rejects):
            rows.writerow((mask(reject.file), reject.line, reject.reason, mask(reject.text)))
