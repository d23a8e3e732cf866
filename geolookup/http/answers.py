"""Answers ready to be sent: status, headers and body of each outcome.

Strategy: headers depend on the outcome and the dataset's generation alone, so
each list is made once a generation; a lookup adds nothing but its body.
"""

from __future__ import annotations

import math

from geolookup.contract.envelope import FAILURES_JSON, HEAD, failure, to_json
from geolookup.errors import AccountsError, ContractError, RateLimitError
from geolookup.http.outcomes import (
    ANSWERED,
    NO_SUCH_METHOD,
    NO_SUCH_PATH,
    REFUSED,
    UNUSABLE,
    Outcome,
)

#: Names and values; Granian writes them as they are.
Header = tuple[str, str]


#: What is counted, the headers and the body. One is made a request, so it is a plain tuple.
Answer = tuple[Outcome, list[Header], bytes]
NOT_FOUND: Answer = NO_SUCH_PATH, [], b""
NOT_ALLOWED: Answer = NO_SUCH_METHOD, [("Allow", "GET, HEAD")], b""
UNAVAILABLE: Answer = UNUSABLE, [("Retry-After", f"{AccountsError.retry_after:.0f}")], b""
#: RFC 9110, 11.6.1: a 401 says how to authenticate. No registered scheme has a key in a header.
_CHALLENGE = ("WWW-Authenticate", 'ApiKey header="X-API-Key"')
_BY_BODY = {body: REFUSED[error] for error, body in FAILURES_JSON.items()}


class Answers:
    """The operation's own answers, all of them the envelope."""

    def __init__(self, generation: str, *, stale: bool = False) -> None:
        self.generation = generation
        self._headers = [
            ("Content-Type", "application/json"),
            ("X-Dataset-Generation", generation),
            # Answers tell the time and belong to a key; caches would also store addresses.
            ("Cache-Control", "no-store"),
            *([("X-Dataset-Stale", "true")] if stale else []),
        ]
        self._refused = {error: self._refusal(error) for error in REFUSED}

    def looked_up(self, body: bytes) -> Answer:
        """Return the answer of a lookup, from its bytes."""
        return ANSWERED if body.startswith(HEAD) else _BY_BODY[body], self._headers, body

    def refused(self, error: ContractError) -> Answer:
        """Return the answer to a request that the gate did not let pass."""
        answer = self._refused[type(error)]
        if isinstance(error, RateLimitError):
            seconds = str(max(1, math.ceil(error.retry_after)))
            outcome, headers, body = answer
            return outcome, [*headers, ("Retry-After", seconds)], body
        return answer

    def _refusal(self, error: type[ContractError]) -> Answer:
        challenge = [_CHALLENGE] if error.http_status == 401 else []
        return REFUSED[error], self._headers + challenge, to_json(failure(error))
