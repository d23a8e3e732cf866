"""The section on ground truth: how far a dataset agrees with it, by ``geolookup score``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from geolookup.comparison.score import KINDS, Agreement, Score, ScoredPart
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, stacked_bars
from geolookup.pictures.colours import GREEN, ORANGE, UNKNOWN
from geolookup.reports.section import Section, Table, charts_section

_NOTE = "Only values that the truth states are counted. A value that is not known is missing."
#: By verdict, its colour: what is missing is neither right nor wrong.
_VERDICTS = {"agrees": GREEN, "wrong": ORANGE, "missing": UNKNOWN}
_HEADS = ("stated", *_VERDICTS)
_DISTANCES = ("", "coordinates", "km p50", "km p90", "km p99", "within 50 km", "within 100 km")


def truth_section(score: Score) -> Section:
    """Return the agreement of the one dataset of a score: by level, distance and field."""
    parts = {
        wording.unit(name, part.unit): part
        for name, part in score.datasets[0].parts.items()
        if part.of
    }
    distances = [_distance(title, part) for title, part in parts.items() if part.kilometres.of]
    fields = [
        Table(f"Agreement by field: {title}", ("Field", *_HEADS), _rows(part.fields))
        for title, part in parts.items()
    ]
    return charts_section(
        "truth",
        "Agreement with ground truth",
        _NOTE,
        [_levels(title, part) for title, part in parts.items()],
        [Table("Distance from the truth", _DISTANCES, distances)] if distances else [],
        details=fields,
    )


def _levels(title: str, part: ScoredPart) -> Chart:
    """Return the chart of the levels that the truth states."""
    levels = {level: of for level, of in part.levels.items() if of.agree.of}
    shares = [_shares(agreement) for agreement in levels.values()]
    name = f"truth-{title.partition(' ')[0].lower()}"
    heads, colours = list(_VERDICTS), list(_VERDICTS.values())
    chart = stacked_bars(name, f"Agreement: {title}", list(levels), heads, shares, colours)
    return replace(chart, head=("level", *_HEADS), rows=_rows(levels))


def _shares(agreement: Agreement) -> list[float]:
    return [getattr(agreement, kind).share for kind in KINDS]


def _rows(agreements: Mapping[str, Agreement]) -> list[Sequence[str]]:
    return [
        (wording.field_name(name), wording.count(of.agree.of), *map(wording.percent, _shares(of)))
        for name, of in agreements.items()
    ]


def _distance(title: str, part: ScoredPart) -> Sequence[str]:
    far = part.kilometres
    near = (wording.percent(share.share) for share in (far.within_50, far.within_100))
    quantiles = map("{:,.1f}".format, (far.p50, far.p90, far.p99))
    return (title, wording.count(far.of), *quantiles, *near)
