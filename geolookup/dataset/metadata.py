"""Metadata of a dataset: name, origin, size, and the age of its data.

The age counts from the oldest date of the deciding sources: an answer can come from any of them. A
source without a date does not count: it marks data that do not age, such as a hand-kept list of
one's own offices. If no source has a date, the age is unknown and exceeds every limit.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from geolookup.contract.schema import column_members, own_schema
from geolookup.dataset.manifest import COLUMNS, OLD_AFTER

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import Any

    from geolookup.contract.tzdatabase import Database

#: The members that a credit must have.
_CREDIT = {"name", "licence", "attribution", "url"}
_LIMIT = re.compile(r"(\d+)([hdwy]?)", re.ASCII)
_DAYS = {"h": 1 / 24, "": 1, "d": 1, "w": 7, "y": 365}
#: Addresses by layer and family, "ipv4" or "ipv6".
Coverage = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Source:
    """One source of a dataset; None for values that the recipe does not state."""

    name: str
    format: str
    date: str | None = None  # of the data, ISO 8601
    licence: str | None = None
    attribution: str | None = None
    url: str | None = None
    #: addresses that it decides, by layer and family; a layer that it decides nowhere is left out
    coverage: Coverage = field(default_factory=dict)
    #: rows that decide for at least one public address within the source; None: older datasets
    rows: int | None = None
    #: the dataset that it came by, if a recipe names that as its source
    dataset: str | None = None

    @property
    def origin(self) -> str:
        """Its name, and the dataset that it came by: ``A, by way of dataset B``."""
        return f"{self.name}, by way of dataset {self.dataset}" if self.dataset else self.name

    def members(self) -> dict[str, Any]:
        """Return the members as the manifest has them; None is left out."""
        members = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in members.items() if value is not None}


@dataclass(frozen=True, slots=True, repr=False)
class Metadata:
    """A dataset's name, origin and size."""

    name: str  # as the recipe has it
    generation: str  # SHA-256 of the content, the same wherever it was built
    sources: tuple[Source, ...]  # in order of precedence
    credits: tuple[Mapping[str, str], ...]  # whom the reference tables are owed to
    fields: tuple[str, ...]  # contract paths that are known for some address
    counts: Mapping[str, int]  # intervals, locations, networks, countries, zones
    coverage: Coverage  # known addresses by layer and family
    bytes: int  # of all files
    #: own columns in declared order, as ``[columns]`` of the recipe has them, each with its name
    columns: tuple[Mapping[str, Any], ...] = ()

    @property
    def age(self) -> Age:
        """How old the data are today, by the sources that decide anything."""
        return data_age(self._dates())

    def age_on(self, day: dt.date) -> Age:
        """Return how old the data were on a day of the past."""
        return data_age(self._dates(), day)

    def _dates(self) -> Iterator[tuple[str, str | None]]:
        """Yield name and date of each source that decides anything."""
        return ((source.name, source.date) for source in self.sources if source.coverage)

    @property
    def time_zones(self) -> Database:
        """The time zone database that this process answers from; it is not part of the dataset."""
        from geolookup.contract.tzdatabase import database  # imports zoneinfo: slow

        return database()

    def __repr__(self) -> str:
        intervals = sum(count for name, count in self.counts.items() if "interval" in name)
        return (
            f"<geolookup.Metadata {self.name!r}, generation {self.generation[:12]}, "
            f"{len(self.sources)} source{'s' * (len(self.sources) != 1)}, {intervals:,} intervals>"
        )

    def _repr_html_(self) -> str:
        """Return the metadata as a table, for notebooks."""
        from geolookup.contract.display import html_table, join_values

        sources = [
            (f"source {number}", join_values(source.origin, source.date, source.licence))
            for number, source in enumerate(self.sources, 1)
        ]
        counts = [(name.replace("_", " "), f"{count:,}") for name, count in self.counts.items()]
        rows = [
            ("generation", self.generation),
            ("age of the data", self.age),
            *(*sources, *counts, ("bytes", f"{self.bytes:,}")),
        ]
        return html_table(self.name, [*rows, ("fields", ", ".join(self.fields))])


@dataclass(frozen=True, slots=True)
class Age:
    """The age of a dataset's data; all None if no deciding source has a date."""

    days: int | None  # since ``date``, in UTC
    date: str | None  # of the oldest deciding source, ISO 8601
    source: str | None  # its name
    undated: tuple[str, ...]  # deciding sources without a date; they do not count

    @property
    def is_old(self) -> bool:
        """Whether the data are older than 180 days; data of unknown age are not."""
        return self.days is not None and self.days > OLD_AFTER

    def exceeds(self, limit: dt.timedelta) -> bool:
        """Return whether the data are older than this, or of unknown age."""
        return self.days is None or dt.timedelta(days=self.days) > limit

    def __str__(self) -> str:
        if self.days is None:
            return "unknown: no deciding source has an ISO 8601 date"
        return f"{self.days} day{'s' * (self.days != 1)} ({self.source}, {self.date})"


def data_age(sources: Iterable[tuple[str, str | None]], today: dt.date | None = None) -> Age:
    """Return the age of what these sources decide, each given by its name and date."""
    today = today or dt.datetime.now(dt.UTC).date()
    dated: list[tuple[dt.date, str, str]] = []
    undated: list[str] = []
    for name, text in sources:
        date = iso_day(text)
        if text is None or date is None:
            undated.append(name)
        else:
            dated.append((date, name, text))
    if not dated:
        return Age(None, None, None, tuple(undated))
    date, name, text = min(dated)
    return Age((today - date).days, text, name, tuple(undated))


def iso_day(text: str | None) -> dt.date | None:
    """Return the day of an ISO 8601 date or instant; a month's is its first, others have none."""
    day = (text or "")[:10]
    try:
        return dt.date.fromisoformat(f"{day}-01" if len(day) == 7 else day)
    except ValueError:
        return None


def age_limit(max_age: dt.timedelta | float | str, name: str = "max_age") -> dt.timedelta:
    """Return a limit given as a timedelta, in days, or as a text: "20h", "30d", "4w", "1y".

    ``name`` is the option's, for errors. Raises ValueError for another text, a limit of 0 or less
    and more days than a timedelta holds, TypeError for another type.
    """
    if isinstance(max_age, str):
        match = _LIMIT.fullmatch(max_age)
        if not match:
            raise ValueError(
                f"{name} is {max_age!r}; write hours, days, weeks or years, such as 20h, 4w or 1y"
            )
        max_age = float(match[1]) * _DAYS[match[2]]  # float, unlike int, takes any digits
    try:
        span = max_age if isinstance(max_age, dt.timedelta) else dt.timedelta(days=max_age)
    except (OverflowError, ValueError):  # ValueError: not a number
        most = f"{dt.timedelta.max.days:,}"
        raise ValueError(f"{name} is not a number of days up to {most}") from None
    if span <= dt.timedelta(0):
        raise ValueError(f"{name} must be above 0")
    return span


def read_metadata(document: Mapping[str, Any], sizes: Iterable[int | None]) -> Metadata:
    """Return the metadata that a manifest states; ``sizes`` are file sizes in bytes.

    Raises TypeError, KeyError, AttributeError or ValueError for a member of another form.
    """
    # Every mapping is built anew: a caller may change it, the manifest must not change.
    return Metadata(
        name=_is(str, document["name"]),
        generation=_is(str, document["generation"]),
        sources=tuple(_source(source) for source in _is(list, document["sources"])),
        credits=tuple(_credit(credit) for credit in _is(list, document["credits"])),
        fields=tuple(_is(str, path) for path in _is(list, document["fields"])),
        counts=_numbers(document["counts"]),
        coverage=_coverage(document["coverage"]),
        bytes=sum(map(_count, sizes)),
        columns=tuple(map(column_members, own_schema(document.get(COLUMNS, ())).own)),
    )


def _source(members: Any) -> Source:
    texts = {name: value for name, value in members.items() if name not in ("coverage", "rows")}
    rows = _count(members["rows"]) if "rows" in members else None
    return Source(**_texts(texts), rows=rows, coverage=_coverage(members["coverage"]))


def _credit(members: Any) -> dict[str, str]:
    texts = _texts(members)
    if not texts.keys() >= _CREDIT:
        raise KeyError
    return texts


def _coverage(coverage: Any) -> dict[str, dict[str, int]]:
    return {layer: _numbers(counts) for layer, counts in coverage.items()}


def _is(kind: type[Any], value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError
    return value


def _texts(texts: Any) -> dict[str, str]:
    return {name: _is(str, text) for name, text in texts.items()}


def _numbers(numbers: Any) -> dict[str, int]:
    return {name: _count(number) for name, number in numbers.items()}


def _count(number: Any) -> int:
    if _is(int, number) < 0:
        raise ValueError
    return int(number)
