"""Internal names of `geolookup/integrity` that tests use."""

from geolookup import integrity
from geolookup.integrity import Report, VerifiedDataset, examine, files, verify
from geolookup.integrity.files import generation
from geolookup.integrity.tables import Tables
