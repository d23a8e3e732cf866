"""Internal names of `geolookup/history` that tests use."""

from geolookup.history import kept_deltas, past, timeline
from geolookup.history.adding import add
from geolookup.history.changes import changes_path, remove_others, write_missing
from geolookup.history.generations import generations, make_current, rollback
from geolookup.history.pruning import prune
from geolookup.history.publishing import publish
from geolookup.history.unpacked import unpacked
