"""Internal names of `geolookup/mirrors` that tests use."""

from geolookup.mirrors import rules
from geolookup.mirrors.archive_files import archive_file
from geolookup.mirrors.folder import mirror
from geolookup.mirrors.index import INDEX, KIND, File, Index, IndexEntry, index_text, read_index
