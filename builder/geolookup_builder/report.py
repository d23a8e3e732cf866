"""What a build did, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

_WORDS_SHOWN = 5
_WORD_LETTERS = 50


@dataclass(slots=True)
class SourceReport:
    """The rows of one source table, and what became of them.

    ``addresses_*`` count addresses; everything else counts rows.
    """

    name: str
    read: int = 0
    used: int = 0
    duplicates: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    blanked: Counter[str] = field(default_factory=Counter)
    unknown_words: dict[str, Counter[str]] = field(default_factory=dict)
    rows_clipped: int = 0
    rows_folded: int = 0
    rows_cut: int = 0
    addresses_clipped: int = 0
    addresses_folded: int = 0
    addresses_cut: int = 0
    note: str = ""

    def lines(self) -> Iterator[str]:
        """Yield the summary, a line a kind of thing."""
        yield f"{self.name}: {self.read:,} rows read, {self.used:,} used"
        rejected = self.rejected.total()
        yield f"  rejected    {rejected:,} rows{_reasons(self.rejected)}"
        yield f"  duplicates  {self.duplicates:,} rows"
        for name in ("clipped", "folded", "cut"):
            rows = getattr(self, f"rows_{name}")
            addresses = getattr(self, f"addresses_{name}")
            yield f"  {name:<11} {rows:,} rows, {addresses:,} addresses"
        yield f"  blanked     {self.blanked.total():,} values{_reasons(self.blanked)}"
        for name, words in self.unknown_words.items():
            yield f"  unknown     {name} {_commonest(words)}"
        if self.note:
            yield f"  note        {self.note}"


@dataclass(frozen=True, slots=True)
class Filled:
    """Distinct locations that lacked a field: those that got it, and those that still do."""

    filled: int
    not_found: int


@dataclass(slots=True)
class BuildReport:
    """A whole build: its sources, what was added to them, and the counts of the manifest."""

    sources: list[SourceReport] = field(default_factory=list)
    enriched: dict[str, Filled] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    coverage: dict[str, dict[str, int]] = field(default_factory=dict)
    generation: str = ""
    bytes: int = 0
    seconds: float = 0.0

    def lines(self) -> Iterator[str]:
        """Yield the closing summary of a build."""
        for source in self.sources:
            yield from source.lines()
        for name, each in self.enriched.items():
            yield f"{name}: {each.filled:,} locations filled, {each.not_found:,} not found"
        yield "dataset " + ", ".join(f"{count:,} {name}" for name, count in self.counts.items())
        yield from coverage_lines(self.coverage)
        yield f"  {self.bytes:,} bytes in {self.seconds:.1f} s, generation {self.generation}"


def coverage_lines(coverage: dict[str, dict[str, int]]) -> Iterator[str]:
    """Yield the addresses known of each layer."""
    for layer, families in coverage.items():
        known = ", ".join(f"{count:,} {family}" for family, count in families.items())
        yield f"  {layer:<16} {known} addresses"


def _commonest(words: Counter[str]) -> str:
    """Return the commonest of a vendor's words that the vocabulary lacks, and how many more."""
    common = words.most_common(_WORDS_SHOWN)
    shown = [f"{word[:_WORD_LETTERS]!r} ({count:,})" for word, count in common]
    more = f", and {len(words) - len(shown):,} more" if len(words) > len(shown) else ""
    return ", ".join(shown) + more


def _reasons(counts: Counter[str]) -> str:
    if not counts:
        return ""
    return " (" + ", ".join(f"{count:,} {reason}" for reason, count in counts.most_common()) + ")"
