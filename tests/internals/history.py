"""Internal names of `geolookup/history` that tests use."""

from geolookup.history import past
from geolookup.history.archived import generations_in
from geolookup.history.generations import generations, rollback
from geolookup.history.incoming import from_folder
from geolookup.history.pruning import prune
from geolookup.history.publishing import publish, publish_into
from geolookup.history.result import StoreResult, result_of
from geolookup.history.unpacked import unpacked
