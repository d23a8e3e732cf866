"""The build report: the rows of each source in numbers, and the warnings of a build."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from geolookup.dataset.coverage import addresses_text, coverage_lines
from geolookup.dataset.metadata import Source
from geolookup.errors import count_text, counts_text, line_text, listed, short_id

#: Kilometres outside a country beyond which coordinates are far.
FAR_KM = 100
_COLUMNS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of rows, values or columns that a build counts, by its word in the build report.

    ``counter`` is the member of ``SourceReport``; rows are counted by word. A limit is a number;
    for rows and values it may be a share, of the rows read or of the stated values of a field.
    ``default`` is the limit if a recipe states none, ``option`` of ``geolookup build`` the one for
    all sources.
    """

    noun: str
    meaning: str = ""
    counter: str = "rows"
    default: str = ""
    option: str = ""


#: By word. Kinds without a default are normal in good files: only a recipe limits them.
KINDS = {
    "not kept": Kind("column", " (fields of the recipe)", "dropped"),
    "not read": Kind("column", counter="unread"),
    "rejected": Kind("row", " without a valid range", "rejected", "1%", "--max-rejected"),
    "duplicate": Kind("row", " with the range of a later row"),
    "covered": Kind("row", " whose addresses more specific rows decide"),
    "clipped": Kind("row", " in special-purpose space"),
    "private": Kind("row", " in special-purpose space, kept for {layers}"),
    "folded": Kind("row", " IPv4-mapped, kept as IPv4"),
    "excluded": Kind("row", " in 6to4 and NAT64, looked up by their IPv4 address"),
    "left out": Kind("row", " by only, families or within"),
    "nulled": Kind("invalid value", "", "nulled", "1%", "--max-nulled"),
    "emptied": Kind("value", counter="emptied"),
    "alias": Kind("row", " with a country under another code", "aliases"),
    "far": Kind("row", f" with coordinates over {FAR_KM} km outside their country"),
}


@dataclass(slots=True)
class SourceReport:
    """The rows of one source table, and how the compiler treated them.

    ``rows`` and ``addresses`` are counts by word of ``KINDS``. ``fields`` are read and kept,
    ``dropped`` are fields that the recipe leaves out. ``unread`` are columns of the files that
    nothing reads, ``offered`` own columns that the recipe can declare.
    """

    name: str
    read: int = 0
    used: int = 0
    has_value: bool = False  # whether a used row has a value
    rows: Counter[str] = field(default_factory=Counter)
    addresses: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)  # rows by reason
    stated: Counter[str] = field(default_factory=Counter)  # cells with a value, by field
    nulled: Counter[str] = field(default_factory=Counter)  # of these, invalid ones
    emptied: Counter[str] = field(default_factory=Counter)  # cells by word of ``cells.empty``
    aliases: Counter[str] = field(default_factory=Counter)  # rows by country code outside ISO 3166
    swapped: int = 0  # far rows that are inside if latitude and longitude are swapped
    coded: int = 0  # rows whose region has a code for a name
    private_layers: tuple[str, ...] = ()  # of own columns that are private
    fields: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    note: str = ""

    def counts(self, word: str) -> dict[str, tuple[int, int]]:
        """Return the count and the whole that shares are of, by field of values, else by ""."""
        counted = getattr(self, KINDS[word].counter)
        if word == "nulled":
            return {field: (count, self.stated[field]) for field, count in counted.items()}
        if counted is self.rows:
            return {"": (counted[word], self.read)}
        count = counted.total() if isinstance(counted, Counter) else len(counted)
        return {"": (count, self.read if KINDS[word].noun == "row" else 0)}

    def text(self, word: str) -> str:
        """Return the text of a kind's line; empty if its count is zero."""
        kind, count = KINDS[word], sum(count for count, _ in self.counts(word).values())
        counted, meaning = getattr(self, kind.counter), kind.meaning
        if not count:
            return ""
        if kind.noun == "column":
            return listed(counted, _COLUMNS_SHOWN) + meaning
        if word in self.addresses:
            layers = ", ".join(self.private_layers)
            meaning = f", {addresses_text(self.addresses[word])}{meaning.format(layers=layers)}"
        if counted is not self.rows:
            reasons = (f"{number:,} {reason}" for reason, number in counted.most_common())
            meaning += f" ({', '.join(reasons)})"
        return count_text(count, kind.noun) + meaning

    def losses(self) -> Iterator[str]:
        """Yield a line for the rows, and one for the values, that are lost by a fault of a file."""
        texts = {word: self.text(word) for word, kind in KINDS.items() if kind.default}
        lines = (f"{self.name}: {word} {text}" for word, text in texts.items() if text)
        yield from map(line_text, lines)

    def keep(self, fields: Collection[str]) -> None:
        """Note that the recipe leaves out all fields but these."""
        self.dropped += tuple(name for name in self.fields if name not in fields)
        self.fields = tuple(name for name in self.fields if name in fields)

    def lines(self) -> Iterator[str]:
        """Yield a line for the rows, and one for each other number that is not zero."""
        texts = {word: self.text(word) for word in KINDS} | {"note": self.note}
        lines = (f"  {word:<11} {text}" for word, text in texts.items() if text)
        yield line_text(f"{self.name}: {count_text(self.read, 'row')} read, {self.used:,} used")
        yield from map(line_text, lines)  # names of files and columns may hold control characters


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
        """Add warnings of far rows, of codes read as names, and of sources that decide nothing.

        ``rejects`` is the file that lists rows.
        """
        for report in self.sources:
            if text := report.text("far"):
                if report.swapped:
                    text += f"; {report.swapped:,} are inside if latitude and longitude are swapped"
                self.warnings.append(f"{report.name}: {text}; {rejects_file(rejects)} lists them")
            named = report.stated["region_name"]
            if 2 * report.coded > named:
                text = f"region_name is a code in {report.coded:,} of {count_text(named, 'row')}"
                remedy = (
                    'if the column has codes, map it in a recipe, columns = { region_code = "…" }'
                )
                self.warnings.append(f"{report.name}: {text}; {remedy}")
        self.warnings.extend(
            f"{source.name} decides no address: earlier sources decide all of its rows"
            for source in sources
            if source.rows and not source.coverage
        )

    def lines(self) -> Iterator[str]:
        """Yield the build report."""
        for source in self.sources:
            yield from source.lines()
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
    yield f"dataset {counts_text(counts)}"
    yield from (f"  coverage    {line}" for line in coverage_lines(coverage))


def rejects_file(path: Path | None) -> str:
    """Return the file that lists the rejected rows, or the command that makes one."""
    return "'build --rejects FILE'" if path is None else str(path)
