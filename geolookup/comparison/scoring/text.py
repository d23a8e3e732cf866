"""The report of a score: lines of text. Several datasets stand side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from geolookup.comparison.measures import Share
from geolookup.comparison.report import count_text, percent_text, requests_line, table_lines
from geolookup.comparison.scoring import Group, Score, ScoredPart
from geolookup.comparison.scoring.agreement import LEVELS, NAMES, Accuracy
from geolookup.comparison.scoring.breakdown import CountryPair, WorstNetwork
from geolookup.comparison.scoring.own_columns import own_names
from geolookup.comparison.scoring.places import TruthFile
from geolookup.comparison.scoring.votes import Majority, Pair, Vote
from geolookup.contract.fields import OWN_PREFIX
from geolookup.errors import short_id

#: Groups of one kind that are listed; JSON has all of them.
_GROUPS = 12
_NOTHING = "-"
#: Larger counts are printed without a fraction.
_WHOLE = 10_000
_KINDS = {"country": "country", "prefix_length": "prefix", "source": "source", "family": "family"}


def lines(score: Score) -> Iterator[str]:
    """Yield the lines of the report, part by part."""
    for file in score.truth:
        yield f"truth  {_file(file)}"
    for number, dataset in enumerate(score.datasets, 1):
        yield f"{number}  {dataset.name}, generation {short_id(dataset.generation)}, {dataset.path}"
    if score.requests is not None:
        yield requests_line(score.requests)
    for name, part in score.datasets[0].parts.items():
        if part.score.of or own_names(part.metrics):
            yield ""
            of = _count(part.score.of) if part.score.of else "no location"
            yield f"{name}, in {part.unit}: {of} with a truth"
            yield from _part(score, name)


def _file(file: TruthFile) -> str:
    return (
        f"{file.path}, {file.format}, {file.rows:,} rows,"
        f" {file.rejected:,} rejected, {file.nulled:,} invalid values"
    )


def _part(score: Score, name: str) -> Iterator[str]:
    parts = [dataset.parts[name] for dataset in score.datasets]
    yield from _side_by_side(parts, score.majority.get(name))
    yield from _pairs(score.pairs, name)
    for number, part in enumerate(parts, 1):
        of = f" in {number}" if len(parts) > 1 else ""
        for kind, title in _KINDS.items():
            yield from _groups(title + of, part.by[kind])
        yield from _country_pairs(f"wrong countries{of}", part.country_pairs)
        for level in LEVELS:
            yield from _worst(f"wrong {level}{of}", part.worst[level])


def _side_by_side(parts: Sequence[ScoredPart], majority: Majority | None) -> Iterator[str]:
    head = ["", *(str(number) for number in range(1, len(parts) + 1))]
    rows = [
        [metric, *(_metric(metric, part) for part in parts)]
        for metric in (
            *NAMES,
            *dict.fromkeys(chain.from_iterable(own_names(part.metrics) for part in parts)),
        )
        if any(part.metrics.get(metric) is not None for part in parts)
    ]
    if majority is not None:
        head.append("majority")
        for row in rows:
            row.append(_of_majority(row[0], majority))
        votes = {level: getattr(majority, level) for level in LEVELS}
        rows += [_differs(level, vote) for level, vote in votes.items() if _has_vote(vote)]
    yield from table_lines(head, [[_label(row[0]), *row[1:]] for row in rows])


def _label(metric: str) -> str:
    """Return a metric in words; the name of an own column stays."""
    if metric.startswith(OWN_PREFIX):
        return " ".join(metric.rsplit("_", 1))
    return metric.replace("_", " ")


def _metric(name: str, part: ScoredPart) -> str:
    value = part.metrics.get(name)
    if value is None:
        return _NOTHING
    return f"{value:,.1f}" if name.startswith("km_") else percent_text(value)


def _of_majority(metric: str, majority: Majority) -> str:
    """Return the majority's share; the share without a majority is in the rows of nulls."""
    level, _, kind = metric.partition("_")
    if level not in LEVELS:
        return ""
    return _share(getattr(getattr(majority, level), {"null": "none"}.get(kind, kind)))


def _has_vote(vote: Vote) -> bool:
    return any(share.of for share in vote.differs)


def _differs(level: str, vote: Vote) -> list[str]:
    return [f"{level}_not_of_majority", *map(_share, vote.differs), ""]


def _count(number: float) -> str:
    """Return a count; a row of the truth may be counted in part."""
    return f"{number:,.1f}" if 1 < number < _WHOLE and number % 1 else count_text(number)


def _share(share: Share) -> str:
    return percent_text(share.share) if share.of else _NOTHING


def _pairs(pairs: Sequence[Pair], name: str) -> Iterator[str]:
    rows = []
    for pair in pairs:
        part = pair.parts[name]
        shares = (part.country, part.region, part.city, part.within_50, part.within_100)
        rows.append((f"{pair.one} and {pair.other}", *map(_share, shares)))
    yield from _filled_columns(("same in", *LEVELS, "within 50 km", "within 100 km"), rows)


def _groups(title: str, groups: Sequence[Group]) -> Iterator[str]:
    if len(groups) < 2 and title.startswith("family"):
        return
    ranked = sorted(groups, key=lambda group: -group.score.of)[:_GROUPS]
    head = (title, "of", *LEVELS, "km p50", "within 100 km")
    yield from _filled_columns(
        head, [(group.name or "unknown", *_measure_cells(group.score)) for group in ranked]
    )
    if len(groups) > len(ranked):
        yield f"  and {len(groups) - len(ranked):,} more"


def _measure_cells(score: Accuracy) -> Iterator[str]:
    yield _count(score.of)
    for level in LEVELS:
        yield _share(getattr(score, level).agree)
    far = score.kilometres
    yield f"{far.p50:,.1f}" if far.of else _NOTHING
    yield percent_text(far.within_100) if far.of else _NOTHING


def _filled_columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table without the columns that have nothing in any row."""
    columns = [at for at in range(len(head)) if any(row[at] != _NOTHING for row in rows)]
    cells = [[row[at] for at in columns] for row in (head, *rows)]
    if rows:
        yield from table_lines(cells[0], cells[1:])


def _country_pairs(title: str, pairs: Sequence[CountryPair]) -> Iterator[str]:
    rows = [
        (
            f"truth {pair.truth}, dataset {pair.dataset}",
            _count(pair.wrong.count),
            percent_text(pair.wrong.share),
        )
        for pair in pairs
    ]
    if rows:
        yield from table_lines((title, "wrong", "of all"), rows)


def _worst(title: str, networks: Sequence[WorstNetwork]) -> Iterator[str]:
    rows = [
        (
            network.network,
            _count(network.wrong.count),
            percent_text(network.wrong.share),
            network.truth or "unknown",
            network.dataset or "unknown",
            network.source or "unknown",
        )
        for network in networks
    ]
    if rows:
        yield from table_lines((title, "wrong", "of it", "truth", "dataset", "source"), rows)
