"""The report of a score: lines of text. Several datasets have a column each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from geolookup.comparison.measures import Share
from geolookup.comparison.report import requests_line, table_lines
from geolookup.comparison.score import LEVELS, NAMES, Score, ScoredPart
from geolookup.comparison.truth import TruthFile
from geolookup.comparison.values import NAMES as PLACE_NAMES
from geolookup.contract.fields import DEGREES
from geolookup.dataset.coverage import percent_text
from geolookup.errors import short_id

_NOTHING = "-"
#: The fields that the levels and the distances show.
_SHOWN = {
    *PLACE_NAMES,
    *("location.country_code", "location.region_code"),
    *(f"location.{member}" for member in DEGREES),
}


def lines(score: Score) -> Iterator[str]:
    """Yield the lines of the report, part by part."""
    for file in score.truth:
        yield f"truth  {_file(file)}"
    for number, dataset in enumerate(score.datasets, 1):
        yield f"{number}  {dataset.name}, generation {short_id(dataset.generation)}, {dataset.path}"
    if score.requests is not None:
        yield requests_line(score.requests)
        if not any(part.of or part.fields for part in score.datasets[0].parts.values()):
            yield "no request is for an address of the truth"
    for name in score.datasets[0].parts:
        parts = [dataset.parts[name] for dataset in score.datasets]
        if any(part.of or part.fields for part in parts):
            yield ""
            of = f"{parts[0].of:,}" if parts[0].of else "only own columns"
            yield f"{name}, in {parts[0].unit}: {of} with a truth"
            yield from _side_by_side(parts)
            for number, part in enumerate(parts, 1):
                yield from _sources(f"source in {number}" if len(parts) > 1 else "source", part)


def _file(file: TruthFile) -> str:
    text = (
        f"{file.path}, {file.format}, {file.rows:,} rows,"
        f" {file.rejected:,} rejected, {file.nulled:,} invalid values"
    )
    return f"{text}, columns not read: {', '.join(file.unread)}" if file.unread else text


def _side_by_side(parts: Sequence[ScoredPart]) -> Iterator[str]:
    """Yield a row for each metric that is measured in any dataset."""
    names = dict.fromkeys((*NAMES, *(name for part in parts for name in part.metrics)))
    rows = [
        [_label(name), *(_metric(name, part) for part in parts)]
        for name in names
        if name.partition(".")[2] not in _SHOWN
        and any(part.metrics.get(name) is not None for part in parts)
    ]
    yield from table_lines(["", *(str(number) for number in range(1, len(parts) + 1))], rows)


def _label(metric: str) -> str:
    """Return a metric in words, the field first: ``agree.own.site`` is ``own.site agree``."""
    kind, _, field = metric.partition(".")
    return f"{field} {kind}" if field else kind.replace("_", " ")


def _metric(name: str, part: ScoredPart) -> str:
    value = part.metrics.get(name)
    if value is None:
        return _NOTHING
    return f"{value:,.1f}" if name.startswith("km_") else percent_text(value)


def _sources(title: str, part: ScoredPart) -> Iterator[str]:
    rows = []
    for source in part.sources:
        far = source.kilometres
        shares = [_share(source.levels[level].agree) for level in LEVELS]
        p50 = f"{far.p50:,.1f}" if far.of else _NOTHING
        rows.append((source.source, *shares, p50, _share(far.within_100)))
    head = (title, *(f"{level} agrees" for level in LEVELS), "km p50", "within 100 km")
    yield from table_lines(head, rows)


def _share(share: Share) -> str:
    return percent_text(share.share) if share.of else _NOTHING
