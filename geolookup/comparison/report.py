"""The reports of a comparison and of a score: lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from geolookup.comparison import Comparison, Part
from geolookup.comparison.measures import Coverage, Share, SourceChange
from geolookup.comparison.score import LEVELS, NAMES, Score, ScoredPart
from geolookup.comparison.traffic import Requests
from geolookup.comparison.truth import TruthFile
from geolookup.comparison.values import NAMES as PLACE_NAMES
from geolookup.contract.fields import DEGREES
from geolookup.dataset.coverage import percent_text
from geolookup.errors import count_text, number_text, short_id

_NOTHING = "-"
#: The fields that the levels and the distances show.
_SHOWN = {
    *PLACE_NAMES,
    *("location.country_code", "location.region_code"),
    *(f"location.{member}" for member in DEGREES),
}


def lines(comparison: Comparison) -> Iterator[str]:
    """Yield the lines of the report, part by part."""
    for role, dataset in (("old", comparison.old), ("new", comparison.new)):
        yield f"{role}  {dataset.name}, generation {short_id(dataset.generation)}, {dataset.path}"
    if comparison.columns is not None:
        yield from comparison.columns.sentences()
    if comparison.requests is not None:
        yield requests_line(comparison.requests)
    for name, part in comparison.parts.items():
        yield ""
        yield f"{name}, in {part.unit}"
        yield from _part(part)


def requests_line(requests: Requests) -> str:
    """Return the numbers of requests."""
    return (
        f"requests  {requests.total:,}: {requests.private:,} for private addresses"
        f" and {requests.invalid:,} for no addresses"
    )


def _part(part: Part) -> Iterator[str]:
    yield f"  known     {_coverage(part.coverage)}"
    for level, moved in part.moved.items():
        yield f"  {level + ' moved':<16} {_share(moved)} known in both"
    far = part.kilometres
    yield (
        f"  kilometres moved p50 {far.p50:,.1f}, p90 {far.p90:,.1f}, p99 {far.p99:,.1f},"
        f" max {far.max:,.1f}, of {number_text(far.of)} with coordinates in both"
    )
    yield from _fields(part)
    yield from _sources("old", part.old_sources)
    yield from _sources("new", part.new_sources)
    yield from _movers(part)


def _fields(part: Part) -> Iterator[str]:
    rows = [
        (path, *map(number_text, (change.null_gained, change.null_lost, change.changed)))
        for path, change in part.fields.items()
        if change.null_gained or change.null_lost or change.changed
    ]
    yield from table_lines(("fields", "nulls gained", "nulls lost", "changed"), rows)


def _sources(role: str, sources: Sequence[SourceChange]) -> Iterator[str]:
    rows = [
        (
            source.source,
            *(percent_text(source.moved[level].share) for level in ("country", "region", "city")),
            f"{source.kilometres.p50:,.1f}",
            f"{source.kilometres.p99:,.1f}",
            percent_text((source.location.lost if role == "old" else source.location.gained).share),
        )
        for source in sources
    ]
    last = {"old": "lost", "new": "gained"}[role]
    head = (f"source in {role}", "country", "region", "city", "km p50", "km p99", last)
    yield from table_lines(head, rows)


def _movers(part: Part) -> Iterator[str]:
    rows = [
        (
            mover.label,
            number_text(mover.moved.count),
            percent_text(mover.of_all),
            percent_text(mover.moved.share),
        )
        for mover in part.movers
    ]
    yield from table_lines(("network in new", "moved", "of all moved", "of the network"), rows)


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table: the first column is left-aligned, the others are right-aligned.

    Nothing without rows.
    """
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for first, *others in (head, *rows) if rows else ():
        cells = (f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        yield f"  {first:<{widths[0]}}  {'  '.join(cells)}".rstrip()


def _coverage(coverage: Coverage) -> str:
    return (
        f"{number_text(coverage.old)} in old, {number_text(coverage.new)} in new;"
        f" lost {_share(coverage.lost)}, gained {_share(coverage.gained)}"
    )


def _share(share: Share) -> str:
    return f"{number_text(share.count)} ({percent_text(share.share)}) of {number_text(share.of)}"


def score_lines(score: Score) -> Iterator[str]:
    """Yield the lines of the report of a score, part by part; each dataset has a column."""
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
            of = number_text(parts[0].of) if parts[0].of else "only own columns"
            yield f"{name}, in {parts[0].unit}: {of} with a truth"
            yield from _side_by_side(parts)
            for number, part in enumerate(parts, 1):
                yield from _scored_sources(
                    f"source in {number}" if len(parts) > 1 else "source", part
                )


def _file(file: TruthFile) -> str:
    text = (
        f"{file.path}, {file.format}, {count_text(file.rows, 'row')},"
        f" {file.rejected:,} rejected, {count_text(file.nulled, 'invalid value')}"
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


def _scored_sources(title: str, part: ScoredPart) -> Iterator[str]:
    rows = []
    for source in part.sources:
        far = source.kilometres
        shares = [_agreed(source.levels[level].agree) for level in LEVELS]
        p50 = f"{far.p50:,.1f}" if far.of else _NOTHING
        rows.append((source.source, *shares, p50, _agreed(far.within_100)))
    head = (title, *(f"{level} agrees" for level in LEVELS), "km p50", "within 100 km")
    yield from table_lines(head, rows)


def _agreed(share: Share) -> str:
    return percent_text(share.share) if share.of else _NOTHING
