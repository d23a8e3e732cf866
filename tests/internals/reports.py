"""Internal names of `geolookup/reports` that tests use."""

from geolookup.reports.changes import change_section
from geolookup.reports.dataset import SECTIONS, sections
from geolookup.reports.dataset import title as dataset_title
from geolookup.reports.dataset.coverage import coverage_section
from geolookup.reports.dataset.facts import read_facts
from geolookup.reports.dataset.groups import countries_section, networks_section
from geolookup.reports.dataset.places import DefaultCoordinates, find_default_coordinates
from geolookup.reports.dataset.row_names import LEVELS
from geolookup.reports.dataset.sources import sources_section
from geolookup.reports.dataset.summary import summary_section
from geolookup.reports.dataset.views import dataset_views
from geolookup.reports.difference import Difference, change_view, difference
from geolookup.reports.page import page
from geolookup.reports.ranges import ranges_section, without_formula
from geolookup.reports.section import Link, Section, Table, charts_section, link
from geolookup.reports.traffic_groups import groups_of
from geolookup.reports.traffic_page import sections as traffic_sections
from geolookup.reports.traffic_page import title as traffic_page_title
from geolookup.reports.truth import truth_section
