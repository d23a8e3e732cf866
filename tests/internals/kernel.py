"""Internal names of `geolookup/kernel` that tests use."""

from typing import Any

from geolookup import kernel
from geolookup.kernel import (
    State,
    answers,
    checksums,
    protocol,
    python,
    python_texts,
)
from geolookup.kernel.answers import restore
from geolookup.kernel.columns import INVALID_ID, PRIVATE_ID
from geolookup.kernel.lookups import Get, Lookups, state_of
