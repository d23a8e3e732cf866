"""Internal names of `geolookup/updates` that tests use."""

from geolookup.updates import first_download, from_mirror, run
from geolookup.updates.state import STATE, State, read_state, write_state
from geolookup.updates.update import job_of
