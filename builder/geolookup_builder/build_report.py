"""The build report: the rows of each source in numbers, and the warnings of a build."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from geolookup.dataset.coverage import addresses_text, coverage_lines
from geolookup.dataset.metadata import Source
from geolookup.errors import count_text, line_text, listed, short_id

#: Kilometres outside a country beyond which coordinates are far.
FAR_KM = 100
_WORDS_SHOWN = 5
_COLUMNS_SHOWN = 12
_WORD_CHARACTERS = 50


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of rows, values or columns that a build counts: its counter in ``SourceReport``.

    A limit is a number; for rows and values it may be a share, of the rows read or of the stated
    values of a field. ``default`` is the limit if a recipe states none, ``option`` of ``geolookup
    build`` the one for all sources.
    """

    counter: str
    noun: str
    meaning: str = ""
    default: str = ""
    option: str = ""

    def counts(self, report: SourceReport) -> dict[str, tuple[int, int]]:
        """Return the count and the whole that shares are of, by field of values, else by ""."""
        counted = getattr(report, self.counter)
        if self is KINDS["nulled"]:
            return {field: (count, report.stated[field]) for field, count in counted.items()}
        return {"": (_total(counted), report.read if self.noun == "row" else 0)}

    def text(self, report: SourceReport) -> str:
        """Return the text of a line of the build report; empty if the count is zero."""
        counted = getattr(report, self.counter)
        count, meaning = _total(counted), self.meaning and f" {self.meaning}"
        if not count:
            return ""
        if self.noun == "column":
            return listed(counted, _COLUMNS_SHOWN) + meaning
        if isinstance(counted, Counter):
            reasons = (f"{number:,} {reason}" for reason, number in counted.most_common())
            meaning += f" ({', '.join(reasons)})"
        if self.counter.startswith("rows_"):
            addresses = getattr(report, self.counter.replace("rows_", "addresses_"))
            meaning = f", {addresses_text(addresses)}{meaning}"
        return count_text(count, self.noun) + meaning.format(
            layers=", ".join(report.private_layers)
        )


def _total(counted: int | Counter[str] | Sequence[str]) -> int:
    if isinstance(counted, int):
        return counted
    return counted.total() if isinstance(counted, Counter) else len(counted)


#: By the word of the build report. Without a default, only a recipe limits what is no mistake of
#: a vendor as such.
KINDS = {
    "not kept": Kind("dropped", "column", "(fields of the recipe)"),
    "not read": Kind("unread", "column"),
    "rejected": Kind("rejected", "row", "without a valid range", "1%", "--max-rejects"),
    "duplicate": Kind("duplicates", "row", "with the range of a later row"),
    "covered": Kind("covered", "row", "whose addresses more specific rows decide"),
    "clipped": Kind("rows_clipped", "row", "in special-purpose space"),
    "folded": Kind("rows_folded", "row", "IPv4-mapped, kept as IPv4"),
    "excluded": Kind("rows_excluded", "row", "in 6to4 and NAT64, looked up by their IPv4 address"),
    "left out": Kind("rows_left_out", "row", "by only, families or within"),
    "nulled": Kind("nulled", "invalid value", "", "1%", "--max-nulled"),
    "emptied": Kind("emptied", "value"),
    "alias": Kind("aliases", "row", "with another code of their country"),
    "far": Kind("far", "row", f"with coordinates over {FAR_KM} km outside their country"),
}
#: Rows that are kept.
_PRIVATE = Kind("rows_private", "row", "in special-purpose space, kept for {layers}")


@dataclass(slots=True)
class SourceReport:
    """The rows of one source table, and how the compiler treated them.

    ``addresses_*`` count addresses, ``stated`` and ``nulled`` count values; other numbers count
    rows. ``fields`` are read and kept, ``dropped`` are fields that the recipe leaves out.
    ``unread`` are columns of the files that nothing reads, ``offered`` own columns that the recipe
    can declare.
    """

    name: str
    read: int = 0
    used: int = 0
    has_value: bool = False  # whether a used row has a value
    duplicates: int = 0
    covered: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    stated: Counter[str] = field(default_factory=Counter)  # cells with a value, by field
    nulled: Counter[str] = field(default_factory=Counter)  # of these, invalid ones
    emptied: Counter[str] = field(default_factory=Counter)  # cells by word of ``cells.empty``
    unknown_words: dict[str, Counter[str]] = field(default_factory=dict)
    aliases: Counter[str] = field(default_factory=Counter)  # rows by country code outside ISO 3166
    far: int = 0  # rows with coordinates far outside their country
    swapped: int = 0  # of these, rows that are inside if latitude and longitude are swapped
    private_layers: tuple[str, ...] = ()  # of own columns that are private
    rows_clipped: int = 0
    rows_private: int = 0
    rows_folded: int = 0
    rows_excluded: int = 0
    addresses_clipped: int = 0
    addresses_private: int = 0
    addresses_folded: int = 0
    addresses_excluded: int = 0
    rows_left_out: int = 0  # by only, families and within
    addresses_left_out: int = 0
    fields: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    note: str = ""

    def keep(self, fields: Collection[str]) -> None:
        """Note that the recipe leaves out all fields but these."""
        self.dropped += tuple(name for name in self.fields if name not in fields)
        self.fields = tuple(name for name in self.fields if name in fields)

    def lines(self) -> Iterator[str]:
        """Yield a line for the rows, and one for each other number that is not zero."""
        yield f"{self.name}: {count_text(self.read, 'row')} read, {self.used:,} used"
        for word, kind in {**KINDS, "private": _PRIVATE}.items():
            if text := kind.text(self):
                yield f"  {word:<11} {text}"
        for name, words in self.unknown_words.items():
            yield f"  unknown     {name} {_commonest(words)}"
        if self.note:
            yield f"  note        {self.note}"

    def warnings(self, rejects: Path | None) -> Iterator[str]:
        """Yield the notes that a reader must not miss; ``rejects`` is the file of rejected rows."""
        if text := KINDS["far"].text(self):
            if self.swapped:
                text += f"; {self.swapped:,} are inside if latitude and longitude are swapped"
            yield f"{self.name}: {text}; {rejects_file(rejects)} lists them"

    @property
    def usable(self) -> int:
        """The used rows, and those that the recipe leaves out."""
        return self.used + self.rows_left_out


@dataclass(frozen=True, slots=True)
class FillCount:
    """Distinct locations without a field: how many were filled, and how many were not."""

    filled: int
    not_found: int


@dataclass(frozen=True, slots=True)
class Demand:
    """A demand of ``[quality]``, the observed values, and whether they meet it.

    ``observed`` is empty if an expected answer is met.
    """

    demand: str
    observed: str
    is_met: bool


@dataclass(slots=True)
class BuildReport:
    """A build: its sources, the fields that enrichment filled, and the counts of the manifest."""

    sources: list[SourceReport] = field(default_factory=list)
    enriched: dict[str, FillCount] = field(default_factory=dict)
    as_names: int = 0  # numbers of autonomous systems that have the name of a source below
    unstated: list[str] = field(default_factory=list)  # columns that only follow from countries
    counts: Mapping[str, int] = field(default_factory=dict)
    coverage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    quality: list[Demand] = field(default_factory=list)  # the demands of the recipe
    decided: Sequence[int] = ()  # most addresses of one layer and family, by source of the recipe
    generation: str = ""
    bytes: int = 0
    seconds: float = 0.0

    def warn(self, sources: Iterable[Source], rejects: Path | None) -> None:
        """Add the warnings of the source tables, and of sources that decide nothing."""
        for report in self.sources:
            self.warnings.extend(report.warnings(rejects))
        self.warnings.extend(
            f"{source.name} decides no address: earlier sources decide all of its rows"
            for source in sources
            if source.rows and not source.coverage
        )

    def lines(self) -> Iterator[str]:
        """Yield the build report."""
        for source in self.sources:
            yield from map(line_text, source.lines())  # a name may hold control characters
        yield from (line_text(f"warning: {warning}") for warning in self.warnings)
        for name, counts in self.enriched.items():
            filled = count_text(counts.filled, "location")
            yield f"{name}: {filled} filled, {counts.not_found:,} not found"
        if self.as_names:
            numbers = count_text(self.as_names, "number")
            yield f"asn_organization: {numbers} named by the sources below"
        if self.quality:
            yield f"quality     {count_text(len(self.quality), 'demand')} met"
        yield from dataset_lines(self.counts, self.coverage)
        size = f"  {self.bytes:,} bytes in {self.seconds:.1f} s"
        yield f"{size}, generation {short_id(self.generation)}"


def dataset_lines(
    counts: Mapping[str, int], coverage: Mapping[str, Mapping[str, int]]
) -> Iterator[str]:
    """Yield the counts of a dataset, and the coverage of each layer that a source has."""
    yield "dataset " + ", ".join(f"{count:,} {name}" for name, count in counts.items())
    yield from (f"  coverage    {line}" for line in coverage_lines(coverage))


def rejects_file(path: Path | None) -> str:
    """Return the file that lists the rejected rows, or the command that makes one."""
    return "'build --rejects FILE'" if path is None else str(path)


def _commonest(words: Counter[str]) -> str:
    """Return the commonest of a vendor's words that the vocabulary lacks, and how many more."""
    texts = [f"{word[:_WORD_CHARACTERS]!r} ({count:,})" for word, count in words.most_common()]
    return listed(texts, _WORDS_SHOWN)
