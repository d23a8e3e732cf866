"""Datasets scored against ground truth.

Strategy: ``truth`` holds the rows of ground truth as a partition, which ``truth_ranges`` or
``truth_addresses`` reads; ``places`` numbers the names of all sides alike; ``joint`` overlays
truth and datasets. ``agreement`` and ``worst`` measure one dataset, ``votes`` several together;
``scoring`` combines the measures, ``gating`` evaluates gates, ``text`` prints the result.
"""

from __future__ import annotations

from geolookup.comparison.scoring.scoring import Score, Scored, ScoredPart, score
from geolookup.comparison.scoring.text import lines

__all__ = ["Score", "Scored", "ScoredPart", "lines", "score"]
