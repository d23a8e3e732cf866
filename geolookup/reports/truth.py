"""The section on ground truth: how far a dataset agrees with it, by ``geolookup score``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from geolookup.comparison.scoring import Group, Score, ScoredPart
from geolookup.comparison.scoring.agreement import LEVELS, Accuracy, Agreement
from geolookup.comparison.scoring.breakdown import WorstNetwork
from geolookup.comparison.scoring.own_columns import own_paths
from geolookup.comparison.scoring.places import TruthFile
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, stacked_bars
from geolookup.reports.difference import QUANTILES
from geolookup.reports.section import Section, Table, charts_section

_NOTE = (
    "How far the dataset agrees with ground truth. Values that the truth does not state are not "
    "counted. Values that the dataset does not know are not wrong: they are counted apart."
)
#: The parts of a bar: the verdicts, and how a page names them.
_VERDICTS = {"agree": "agrees", "wrong": "wrong", "null": "not known"}


def truth_section(score: Score) -> Section:
    """Return the agreement of the one dataset of a score, by level, group and network."""
    every = score.datasets[0].parts
    parts = {name: part for name, part in every.items() if part.score.of}
    own = own_table(every)
    return charts_section(
        "truth",
        "Agreement with ground truth",
        _NOTE,
        [_chart(name, part) for name, part in parts.items()],
        [*distance_tables(parts), *worst_tables(parts), file_table(score.truth)],
        first=[*([agreement_table(parts)] if parts else []), *([own] if own.rows else [])],
        details=list(group_tables(parts)),
    )


def _chart(name: str, part: ScoredPart) -> Chart:
    scores = {level: getattr(part.score, level) for level in LEVELS}
    scored = {level: score for level, score in scores.items() if score.agree.of}
    shares = [
        [getattr(level_score, verdict).share for verdict in _VERDICTS]
        for level_score in scored.values()
    ]
    title = f"Agreement, of {part_title(name, part)}"
    return stacked_bars(f"truth-{name}", title, list(scored), list(_VERDICTS.values()), shares)


Parts = Mapping[str, ScoredPart]
_NOTHING = "-"
_KINDS = {"country": "Country", "prefix_length": "Prefix length", "source": "Source"}


def part_title(name: str, part: ScoredPart) -> str:
    """Return the unit of a part: IPv4 addresses, IPv6 /64 networks, rows of the truth."""
    return f"{wording.family(name)} {part.unit}" if name.startswith("ip") else part.unit


def agreement_table(parts: Parts) -> Table:
    """Return by part and level that the truth states how much agrees, is wrong, is not known."""
    rows = [
        (f"{level}, {part_title(name, part)}", *_agreement(getattr(part.score, level)))
        for name, part in parts.items()
        for level in LEVELS
        if getattr(part.score, level).agree.of
    ]
    head = (
        "Level",
        "stated by the truth",
        "agrees",
        "share",
        "wrong",
        "share",
        "not known",
        "share",
    )
    return Table("Agreement", head, rows)


def _agreement(agreement: Agreement) -> Iterator[str]:
    yield wording.count(agreement.agree.of)
    for share in (agreement.agree, agreement.wrong, agreement.null):
        yield wording.count(share.count)
        yield wording.percent(share.share) if share.of else _NOTHING


def own_table(parts: Parts) -> Table:
    """Return by part and own column that the truth states the shares of each verdict."""
    rows = [
        (
            f"{path}, {part_title(name, part)}",
            *(wording.percent(part.metrics[f"{path}_{verdict}"] or 0.0) for verdict in _VERDICTS),
        )
        for name, part in parts.items()
        for path in own_paths(part.metrics)
    ]
    return Table("Own columns", ("Column", *_VERDICTS.values()), rows)


def distance_tables(parts: Parts) -> Iterator[Table]:
    """Yield how far coordinates are from the truth's, by part; nothing if the truth has none."""
    rows = [
        (part_title(name, part), *_distance(part.score))
        for name, part in parts.items()
        if part.score.kilometres.of or part.score.kilometres.null.of
    ]
    near = ("within 50 km", "within 100 km", "no coordinates in the dataset")
    head = ("Kilometres", "with coordinates in both", *QUANTILES, *near)
    if rows:
        yield Table("Distance from the truth", head, rows)


def _distance(score: Accuracy) -> Iterator[str]:
    far = score.kilometres
    yield wording.count(far.of)
    for quantile in QUANTILES:
        yield wording.kilometres(getattr(far, quantile)) if far.of else _NOTHING
    for share in (far.within_50, far.within_100):
        yield wording.percent(share) if far.of else _NOTHING
    yield wording.percent(far.null.share) if far.null.of else _NOTHING


def worst_tables(parts: Parts) -> Iterator[Table]:
    """Yield by part the networks of the dataset with the most that is wrong, level by level."""
    head = ("Network", "level", "wrong", "of the network", "truth", "dataset", "source")
    for name, part in parts.items():
        rows = [_worst(level, row) for level in LEVELS for row in part.worst[level]]
        if rows:
            caption = f"Networks with the most wrong {part_title(name, part)}"
            yield Table(caption, head, rows, words=(1, 4, 5, 6))


def _worst(level: str, network: WorstNetwork) -> tuple[str, ...]:
    texts = (network.truth, network.dataset, network.source)
    return (
        network.network,
        level,
        wording.count(network.wrong.count),
        wording.percent(network.wrong.share),
        *(_NOTHING if text is None else wording.name(text) for text in texts),
    )


def group_tables(parts: Parts) -> Iterator[Table]:
    """Yield by part the agreement by country of the truth, length of its prefix, and source."""
    for name, part in parts.items():
        for kind, title in _KINDS.items():
            yield _groups(f"{title}: {part_title(name, part)}", title, part.by[kind])


def _groups(caption: str, title: str, groups: Sequence[Group]) -> Table:
    ranked = sorted(groups, key=lambda group: -group.score.of)
    rows = [(wording.name(group.name or "unknown"), *_group(group.score)) for group in ranked]
    head = (title, "of", *(f"{level} agrees" for level in LEVELS), "km p50", "within 100 km")
    return Table(caption, head, rows)


def _group(score: Accuracy) -> Iterator[str]:
    yield wording.count(score.of)
    for level in LEVELS:
        agree = getattr(score, level).agree
        yield wording.percent(agree.share) if agree.of else _NOTHING
    far = score.kilometres
    yield wording.kilometres(far.p50) if far.of else _NOTHING
    yield wording.percent(far.within_100) if far.of else _NOTHING


def file_table(files: Sequence[TruthFile]) -> Table:
    """Return the files of the truth by name, not where they lie, and their rows."""
    rows = [
        (
            wording.name(Path(file.path).name),
            file.format,
            *map(wording.count, (file.rows, file.rejected, file.nulled)),
        )
        for file in files
    ]
    head = ("File", "format", "rows", "rejected", "invalid values")
    return Table("Files of the truth", head, rows, words=(1,))
