"""The section on ground truth: how far a dataset agrees with it, by ``geolookup score``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, stacked_bars
from geolookup.reports.section import Section, Table, charts_section

if TYPE_CHECKING:
    from geolookup.comparison.score import Agreement, Errors, Score, ScoredPart

_NOTE = (
    "How far the dataset agrees with ground truth. Only values that the truth states are counted. "
    "A value that the dataset does not know is missing, not wrong."
)
_VERDICTS = ("agree", "wrong", "missing")
_VERDICT_HEADS = ("agrees", "wrong", "missing")


def truth_section(score: Score) -> Section:
    """Return the agreement of the one dataset of a score: by level, field, distance and source."""
    parts = {name: part for name, part in score.datasets[0].parts.items() if part.of}
    files = [
        (wording.name(Path(file.path).name), file.format,
         *map(wording.count, (file.rows, file.rejected, file.nulled)))
        for file in score.truth
    ]  # fmt: skip
    head = ("File", "format", "rows", "rejected", "invalid values")
    return charts_section(
        "truth",
        "Agreement with ground truth",
        _NOTE,
        [item for name, part in parts.items() for item in _agreement(name, part)],
        details=[*map(_fields, parts, parts.values()), Table("Truth", head, files, words=(1,))],
    )


def _title(name: str, part: ScoredPart) -> str:
    return f"{wording.family(name)} {part.unit}"


def _agreement(name: str, part: ScoredPart) -> Iterator[Chart | Table]:
    """Yield the chart of the levels of a part, the table of its fields, and its distances."""
    title, levels = _title(name, part), {k: v for k, v in part.levels.items() if v.agree.of}
    shares = [_shares(agreement) for agreement in levels.values()]
    yield stacked_bars(f"truth-{name}", f"Agreement: {title}", list(levels), _VERDICT_HEADS, shares)
    rows = _rows(levels)
    yield Table(f"Agreement by level: {title}", ("Level", "stated", *_VERDICT_HEADS), rows)
    far = part.kilometres
    if far.of:
        head = ("Coordinates", "km p50", "km p90", "km p99", "within 50 km", "within 100 km")
        texts = *map(wording.kilometres, (far.p50, far.p90, far.p99)), *_near(far)
        yield Table(f"Distance: {title}", head, [(wording.count(far.of), *texts)])


def _shares(agreement: Agreement) -> list[float]:
    return [getattr(agreement, verdict).share for verdict in _VERDICTS]


def _rows(agreements: Mapping[str, Agreement]) -> list[Sequence[str]]:
    return [
        (name, wording.count(of.agree.of), *map(wording.percent, _shares(of)))
        for name, of in agreements.items()
    ]


def _near(far: Errors) -> Iterator[str]:
    return (wording.percent(share.share) for share in (far.within_50, far.within_100))


def _fields(name: str, part: ScoredPart) -> Table:
    head = ("Field", "stated", *_VERDICT_HEADS)
    return Table(f"Agreement by field: {_title(name, part)}", head, _rows(part.fields))
