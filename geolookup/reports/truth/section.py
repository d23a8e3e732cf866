"""The section on ground truth: how far a dataset agrees with it, by ``geolookup score``."""

from __future__ import annotations

from geolookup.comparison.scoring import Score, ScoredPart
from geolookup.comparison.scoring.agreement import LEVELS
from geolookup.pictures.charts import Chart, stacked
from geolookup.reports.charts_section import charts_section
from geolookup.reports.section import Section
from geolookup.reports.truth.tables import (
    agreement_table,
    distance_table,
    file_table,
    group_tables,
    part_title,
    worst_tables,
)

_NOTE = (
    "How far the dataset agrees with ground truth. Values that the truth does not state are not "
    "counted. Values that the dataset does not know are not wrong: they are counted apart."
)
#: The parts of a bar: the verdicts, and how a page names them.
_VERDICTS = {"agree": "agrees", "wrong": "wrong", "null": "not known"}


def truth_section(score: Score) -> Section:
    """Return the agreement of the one dataset of a score, by level, group and network."""
    parts = {name: part for name, part in score.datasets[0].parts.items() if part.score.of}
    return charts_section(
        "truth",
        "Agreement with ground truth",
        _NOTE,
        [_chart(name, part) for name, part in parts.items()],
        [*worst_tables(parts), file_table(score.truth)],
        first=[agreement_table(parts), distance_table(parts)],
        details=list(group_tables(parts)),
    )


def _chart(name: str, part: ScoredPart) -> Chart:
    found = {level: getattr(part.score, level) for level in LEVELS}
    stated = {level: each for level, each in found.items() if each.agree.of}
    shares = [[getattr(each, verdict).share for verdict in _VERDICTS] for each in stated.values()]
    title = f"Agreement, of {part_title(name, part)}"
    return stacked(f"truth-{name}", title, list(stated), list(_VERDICTS.values()), shares)
