"""Internal names of `geolookup/reports` that tests use."""

from geolookup.reports.changed_ranges import ranges_section, without_formula
from geolookup.reports.changes import change_section, moved_section
from geolookup.reports.dataset import SECTIONS, sections
from geolookup.reports.dataset import title as dataset_title
from geolookup.reports.dataset.coordinates import coordinates_section, judge_rows, verdict_sums
from geolookup.reports.dataset.countries import countries_section, per_country
from geolookup.reports.dataset.coverage import coverage_section
from geolookup.reports.dataset.facts import read_facts
from geolookup.reports.dataset.located import find_default_coordinates
from geolookup.reports.dataset.network_sections import networks_section, prefix_lengths_section
from geolookup.reports.dataset.row_names import LEVELS
from geolookup.reports.dataset.sources import sources_section
from geolookup.reports.dataset.summary import summary_section
from geolookup.reports.dataset.views import dataset_views
from geolookup.reports.difference import Difference, change_view, difference
from geolookup.reports.page import page
from geolookup.reports.section import Link, Section, Table, charts_section, link
from geolookup.reports.traffic_groups import groups_of
from geolookup.reports.traffic_page import sections as traffic_sections
from geolookup.reports.traffic_page import title as traffic_page_title
