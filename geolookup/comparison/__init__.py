"""Two datasets compared: by addresses or by requests, not by rows.

Strategy: ``overlay`` lays the intervals of both over each other, ``values`` reads
both tables into one set of codes, ``measures`` sums what changed between the
distinct pairs of rows, ``comparison`` puts the measures together; ``traffic``
weighs by requests, ``gates`` judges the metrics, ``text`` writes it for people.
"""

from __future__ import annotations

from geolookup.comparison.comparison import Comparison, Part, compare
from geolookup.comparison.gates import Gate, Verdict, judge, parse_gate
from geolookup.comparison.judged import Judged, diff
from geolookup.comparison.text import lines, verdict_line
from geolookup.comparison.traffic import Requests, Traffic

__all__ = [
    "Comparison",
    "Gate",
    "Judged",
    "Part",
    "Requests",
    "Traffic",
    "Verdict",
    "compare",
    "diff",
    "judge",
    "lines",
    "parse_gate",
    "verdict_line",
]
