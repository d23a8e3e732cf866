"""Internal names of `geolookup/history` that tests use."""

from geolookup.history.archived import generations_in, unpacked
from geolookup.history.change_files import (
    metadata_of,
    rows_between,
    rows_in_file,
    write_changes,
)
from geolookup.history.generations import generations, prune, rollback, update_changes
from geolookup.history.incoming import from_folder
from geolookup.history.publishing import publish, publish_into
from geolookup.history.result import StoreResult
