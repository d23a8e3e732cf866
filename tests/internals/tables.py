"""Internal names of `geolookup/tables` that tests use."""

from geolookup.tables import as_of, enrich, workers
from geolookup.tables.generations import Generations
from geolookup.tables.locate import CHUNK
from geolookup.tables.row_major import MOST_COLUMNS
from geolookup.tables.row_notes import RowNote
from geolookup.tables.row_tables import row_tables
from geolookup.tables.times import Clock, Instants, instants_of
from geolookup.tables.workers import Job
