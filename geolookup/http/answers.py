"""The possible outcomes of a request, and prepared answers: status, headers, body.

Strategy: headers depend on the outcome and the dataset's generation only, so each list is
made once per generation. A lookup adds nothing but its body.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from geolookup.contract.envelope import FAILURES_JSON, HEAD, failure, to_json
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
    """One outcome of a request: its HTTP status, and contract code or None."""

    status: int
    code: int | None


ANSWERED = Outcome(200, None)
REFUSED: dict[type[ContractError], Outcome] = {
    error: Outcome(error.http_status, error.code)
    for error in (
        *(InvalidAddressError, PrivateAddressError),
        *(MissingKeyError, InvalidKeyError),
        *(RateLimitError, QuotaError),
    )
}
NO_SUCH_PATH, NO_SUCH_METHOD = Outcome(404, None), Outcome(405, None)
UNUSABLE = Outcome(AccountsError.http_status, None)
MALFORMED, PREFLIGHT = Outcome(400, None), Outcome(204, None)
#: All outcomes, in the order of their counters.
OUTCOMES = (
    *(ANSWERED, *REFUSED.values()),
    *(NO_SUCH_PATH, NO_SUCH_METHOD, UNUSABLE, MALFORMED, PREFLIGHT),
)

#: Name and value; Granian writes names in lower case.
Header = tuple[str, str]
#: Outcome, headers, body. A plain tuple, because each request creates one.
Answer = tuple[Outcome, list[Header], bytes]
#: The methods of the operation.
METHODS = "GET, HEAD"
CLOSE: Header = ("Connection", "close")
BAD_REQUEST: Answer = MALFORMED, [CLOSE], b""
NOT_FOUND: Answer = NO_SUCH_PATH, [], b""
NOT_ALLOWED: Answer = NO_SUCH_METHOD, [("Allow", METHODS)], b""
UNAVAILABLE: Answer = UNUSABLE, [("Retry-After", f"{AccountsError.retry_after:.0f}")], b""
#: RFC 9110, section 11.6.1: a 401 names the scheme. No registered scheme uses a key header.
_CHALLENGE = ("WWW-Authenticate", 'ApiKey header="X-API-Key"')
_BY_BODY = {body: REFUSED[error] for error, body in FAILURES_JSON.items()}


class Answers:
    """The answers of the operation: each is an envelope."""

    def __init__(self, generation: str, *, stale: bool = False) -> None:
        self.generation = generation
        self._headers = [
            ("Content-Type", "application/json"),
            ("X-Dataset-Generation", generation),
            # An answer holds the current time and belongs to one key; a cache would keep
            # addresses.
            ("Cache-Control", "no-store"),
            *([("X-Dataset-Stale", "true")] if stale else []),
        ]
        self._refused = {error: self._refusal(error) for error in REFUSED}

    def lookup_answer(self, body: bytes) -> Answer:
        """Return the answer for the JSON bytes of a lookup."""
        # HEAD is the beginning of every successful envelope; failures are fixed texts. Own columns
        # follow only the failure of a private address.
        is_success = body.startswith(HEAD)
        outcome = ANSWERED if is_success else _BY_BODY.get(body, REFUSED[PrivateAddressError])
        return outcome, self._headers, body

    def refusal(self, error: ContractError) -> Answer:
        """Return the answer to a request that the gate refused."""
        answer = self._refused[type(error)]
        if isinstance(error, RateLimitError):
            # Retry-After has whole seconds (RFC 9110, 10.2.3); 0 would invite an immediate retry.
            seconds = str(max(1, math.ceil(error.retry_after)))
            outcome, headers, body = answer
            return outcome, [*headers, ("Retry-After", seconds)], body
        return answer

    def _refusal(self, error: type[ContractError]) -> Answer:
        challenge = [_CHALLENGE] if error.http_status == 401 else []
        return REFUSED[error], self._headers + challenge, to_json(failure(error))
