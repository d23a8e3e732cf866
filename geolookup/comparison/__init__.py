"""Two datasets compared: by addresses or by requests, not by rows.

Strategy: ``overlay`` overlays the intervals of both, ``values`` reads both tables
into one set of codes, ``measures`` sums the changes between distinct pairs of
rows, ``compare`` combines the measures; ``traffic`` weights by requests,
``metrics`` names the results that ``gates`` evaluates, ``report`` prints them. ``scoring``
compares datasets with ground truth.
"""

from __future__ import annotations

from geolookup.comparison.compare import Comparison, Judged, Part, compare, diff
from geolookup.comparison.gates import Gate, Verdict, verdict_line
from geolookup.comparison.metrics import judge, parse_gate
from geolookup.comparison.report import lines
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
