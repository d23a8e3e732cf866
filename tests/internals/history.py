"""Internal names of `geolookup/history` that tests use."""

from geolookup.history import kept_deltas, past
from geolookup.history.adding import add
from geolookup.history.former_files import former_answers_path
from geolookup.history.generations import generations, make_current, rollback
from geolookup.history.pruning import prune
from geolookup.history.publishing import publish
from geolookup.history.unpacked import unpacked
