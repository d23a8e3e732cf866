"""What can become of a request: status, contract code, and place in the counters."""

from __future__ import annotations

from typing import NamedTuple

from geolookup.errors import (
    AccountsError,
    ContractError,
    InvalidAddressError,
    InvalidKeyError,
    MissingKeyError,
    PrivateAddressError,
    QuotaError,
    RateLimitError,
)


class Outcome(NamedTuple):
    """One way for a request to end; ``code`` is the envelope's, None where there is none."""

    place: int
    status: int
    code: int | None


_REFUSALS: tuple[type[ContractError], ...] = (
    *(InvalidAddressError, PrivateAddressError),
    *(MissingKeyError, InvalidKeyError),
    *(RateLimitError, QuotaError),
)
ANSWERED = Outcome(0, 200, None)
REFUSED = {
    error: Outcome(place, error.http_status, error.code)
    for place, error in enumerate(_REFUSALS, start=1)
}
NO_SUCH_PATH = Outcome(len(REFUSED) + 1, 404, None)
NO_SUCH_METHOD = Outcome(len(REFUSED) + 2, 405, None)
UNUSABLE = Outcome(len(REFUSED) + 3, AccountsError.http_status, None)
#: All, by place.
OUTCOMES = (ANSWERED, *REFUSED.values(), NO_SUCH_PATH, NO_SUCH_METHOD, UNUSABLE)
#: What a key was refused for.
KEY_REFUSALS = {
    "missing": REFUSED[MissingKeyError],
    "invalid": REFUSED[InvalidKeyError],
    "rate": REFUSED[RateLimitError],
    "quota": REFUSED[QuotaError],
}
