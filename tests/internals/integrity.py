"""Internal names of `geolookup/integrity` that tests use."""

from geolookup import integrity
from geolookup.integrity import Report, VerifiedDataset, examine, read_tables, verify
from geolookup.integrity.tables import DatasetTables
