"""Internal names of `geolookup/kernel` that tests use."""

from geolookup import kernel
from geolookup.kernel import (
    State,
    answers,
    python,
    python_texts,
    python_zones,
)
from geolookup.kernel.answers import restore
from geolookup.kernel.columns import INVALID_ID, PRIVATE_ID
from geolookup.kernel.lookups import Get, Lookups, state_of
