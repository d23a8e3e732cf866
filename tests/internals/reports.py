"""Internal names of `geolookup/reports` that tests use."""

from geolookup.reports.changes import (
    Difference,
    change_section,
    change_sentences,
    change_view,
    difference,
)
from geolookup.reports.dataset import head, sections
from geolookup.reports.dataset.places import places_section
from geolookup.reports.dataset.row_names import LEVELS
from geolookup.reports.dataset.summary import coverage_section, summary_section
from geolookup.reports.dataset.views import dataset_views, read_facts
from geolookup.reports.page import page
from geolookup.reports.ranges import ranges_section
from geolookup.reports.section import Link, Section, Table, charts_section, link, linked
from geolookup.reports.traffic_groups import groups_of
from geolookup.reports.traffic_page import sections as traffic_sections
from geolookup.reports.truth import truth_section
