"""Internal names of `geolookup/comparison` that tests use."""

from geolookup import comparison
from geolookup.comparison import (
    Comparison,
    Overlaid,
    OwnComparison,
    Part,
    change_table,
    changed_intervals,
    diff,
    measure,
    overlay,
    read,
)
from geolookup.comparison.change_files import (
    metadata_of,
    rows_between,
    rows_in_file,
    write_changes,
    write_rows,
)
from geolookup.comparison.change_table import ENDS, SIDES, diff_table, source_column
from geolookup.comparison.changes import CLASSES_KM, KINDS, by_distance, country_flows, kinds
from geolookup.comparison.gates import DIFF_METRICS, Verdict, judge, verdict_line
from geolookup.comparison.measures import quantiles
from geolookup.comparison.report import lines as report_lines
from geolookup.comparison.scoring import Score, ScoredPart
from geolookup.comparison.scoring.agreement import NAMES
from geolookup.comparison.scoring.text import lines as text_lines
from geolookup.comparison.traffic import Requests, Traffic
from geolookup.comparison.values import coordinates, read_tables
