"""Internal names of `geolookup/comparison` that tests use."""

from geolookup import comparison
from geolookup.comparison import (
    Overlaid,
    Part,
    change_table,
    changed_intervals,
    diff,
    joint_intervals,
    lay_over,
    measure,
    open_dataset,
)
from geolookup.comparison.change_table import ENDS, SIDES, diff_table, source_column
from geolookup.comparison.changes import KINDS, country_flows, kinds
from geolookup.comparison.gates import diff_metrics
from geolookup.comparison.measures import quantiles
from geolookup.comparison.report import lines as report_lines
from geolookup.comparison.report import score_lines
from geolookup.comparison.score import NAMES as SCORE_NAMES
from geolookup.comparison.score import Score, ScoredPart
from geolookup.comparison.traffic import Requests, Traffic
from geolookup.comparison.values import read_tables
