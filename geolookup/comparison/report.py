"""The report of a comparison: lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from geolookup.comparison import Comparison, Part
from geolookup.comparison.measures import Coverage, Share, SourceChange
from geolookup.comparison.traffic import Requests
from geolookup.dataset.coverage import percent_text
from geolookup.errors import short_id


def lines(comparison: Comparison) -> Iterator[str]:
    """Yield the lines of the report, part by part."""
    for role, dataset in (("old", comparison.old), ("new", comparison.new)):
        yield f"{role}  {dataset.name}, generation {short_id(dataset.generation)}, {dataset.path}"
    if comparison.columns is not None:
        yield from comparison.columns.lines()
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
        f" max {far.max:,.1f}, of {far.of:,} with coordinates in both"
    )
    yield from _fields(part)
    yield from _sources("old", part.old_sources)
    yield from _sources("new", part.new_sources)
    yield from _movers(part)


def _fields(part: Part) -> Iterator[str]:
    rows = [
        (path, f"{change.null_gained:,}", f"{change.null_lost:,}", f"{change.changed:,}")
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
            f"{mover.moved.count:,}",
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
        f"{coverage.old:,} in old, {coverage.new:,} in new;"
        f" lost {_share(coverage.lost)}, gained {_share(coverage.gained)}"
    )


def _share(share: Share) -> str:
    return f"{share.count:,} ({percent_text(share.share)}) of {share.of:,}"
