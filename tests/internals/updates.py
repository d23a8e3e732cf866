"""Internal names of `geolookup/updates` that tests use."""

from geolookup.updates import from_mirror, run
from geolookup.updates.job import job_of
from geolookup.updates.state import STATE, State, read_state, write_state
