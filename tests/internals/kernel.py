"""Internal names of `geolookup/kernel` that tests use."""

from typing import Any

from geolookup import kernel
from geolookup.kernel import (
    State,
    answers,
    protocol,
    python,
    python_texts,
    split_log_lines,
)
from geolookup.kernel.answers import restore
from geolookup.kernel.columns import INVALID_ID, PRIVATE_ID


def state_of(lookups: protocol.Kernel) -> Any:
    """Return the state of a kernel; an engine returns its own by ``snapshot``."""
    return lookups._open_state()
