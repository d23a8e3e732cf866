"""The report of a score: lines of text. Several datasets have a column each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from geolookup.comparison.measures import Share
from geolookup.comparison.report import count_text, percent_text, requests_line, table_lines
from geolookup.comparison.score import KINDS, LEVELS, NAMES, Agreement, Score, ScoredPart
from geolookup.comparison.truth import TruthFile
from geolookup.contract.fields import COUNTRY, FIELDS
from geolookup.errors import short_id

_NOTHING = "-"
#: The fields that follow from the country; JSON has them.
_OF_COUNTRY = {field.path for field in FIELDS if field.table == COUNTRY}


def lines(score: Score) -> Iterator[str]:
    """Yield the lines of the report, part by part."""
    for file in score.truth:
        yield f"truth  {_file(file)}"
    for number, dataset in enumerate(score.datasets, 1):
        yield f"{number}  {dataset.name}, generation {short_id(dataset.generation)}, {dataset.path}"
    if score.requests is not None:
        yield requests_line(score.requests)
    for name in score.datasets[0].parts:
        parts = [dataset.parts[name] for dataset in score.datasets]
        if any(part.of or part.fields for part in parts):
            yield ""
            of = count_text(parts[0].of) if parts[0].of else "no location"
            yield f"{name}, in {parts[0].unit}: {of} with a truth"
            yield from _part(parts)


def _file(file: TruthFile) -> str:
    return (
        f"{file.path}, {file.format}, {file.rows:,} rows,"
        f" {file.rejected:,} rejected, {file.nulled:,} invalid values"
    )


def _part(parts: Sequence[ScoredPart]) -> Iterator[str]:
    yield from _side_by_side(parts)
    for number, part in enumerate(parts, 1):
        of = f" in {number}" if len(parts) > 1 else ""
        yield from _fields(f"field{of}", part)
        yield from _sources(f"source{of}", part)


def _side_by_side(parts: Sequence[ScoredPart]) -> Iterator[str]:
    head = ["", *(str(number) for number in range(1, len(parts) + 1))]
    rows = [
        [name.replace("_", " "), *(_metric(name, part) for part in parts)]
        for name in NAMES
        if any(part.metrics[name] is not None for part in parts)
    ]
    if rows:
        yield from table_lines(head, rows)


def _metric(name: str, part: ScoredPart) -> str:
    value = part.metrics[name]
    if value is None:
        return _NOTHING
    return f"{value:,.1f}" if name.startswith("km_") else percent_text(value)


def _fields(title: str, part: ScoredPart) -> Iterator[str]:
    rows = [
        (path, count_text(agreement.agree.of), *_agreement(agreement))
        for path, agreement in part.fields.items()
        if path not in _OF_COUNTRY
    ]
    if rows:
        yield from table_lines((title, "of", *KINDS), rows)


def _agreement(agreement: Agreement) -> Iterator[str]:
    for kind in KINDS:
        yield percent_text(getattr(agreement, kind).share)


def _sources(title: str, part: ScoredPart) -> Iterator[str]:
    rows = []
    for source in part.sources:
        far = source.kilometres
        rows.append(
            (
                source.source,
                *(_share(source.levels[level].agree) for level in LEVELS),
                f"{far.p50:,.1f}" if far.of else _NOTHING,
                _share(far.within_100),
            )
        )
    if rows:
        head = (title, *(f"{level} agrees" for level in LEVELS), "km p50", "within 100 km")
        yield from table_lines(head, rows)


def _share(share: Share) -> str:
    return percent_text(share.share) if share.of else _NOTHING
