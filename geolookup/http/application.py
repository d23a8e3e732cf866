"""Requests, from top to bottom: host, path, method, key, address, answer.

Strategy: Granian's interface RSGI, in batches. The gate decides the requests of a batch together.
Only the event loop calls the application, so its state needs no lock. RSGI decodes the path: a path
with percent-encoded characters is the same resource (RFC 3986, section 6.2.2.2), with ``%2F`` too.
It shows repeated headers: the contract rejects a repeated key, and proxies repeat their headers.
"""

from __future__ import annotations

import logging
import re
import traceback
from asyncio import AbstractEventLoop
from collections.abc import Sequence
from itertools import islice
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import unquote_plus

from geolookup.contract.proxies import TrustedProxies
from geolookup.errors import AccountsError, ClosedError, ContractError, DatasetError
from geolookup.gate.group_commit import GroupCommit
from geolookup.http.answers import (
    BAD_REQUEST,
    NOT_ALLOWED,
    NOT_FOUND,
    PREFLIGHT,
    UNAVAILABLE,
    Answer,
    Answers,
    Header,
)
from geolookup.http.shared import Slot

if TYPE_CHECKING:  # Granian is optional
    from geolookup.http.batches import Arrival, Headers, Scope

#: The parameter ``ip``, also with an encoded name, and its value if it has one.
_IP = re.compile(r"(?:\A|&)(?:i|%69)(?:p|%70)(?:=([^&]*))?(?=&|\Z)")
#: The longest value that is decoded: an address has 45 characters, encoded as three each.
_LONGEST = 3 * 45
#: Not an address: a repeated parameter gives the same answer as an empty one (10001).
_NO_ADDRESS = ""


def ip_parameter(query: str) -> str | None:
    """Return the ``ip`` parameter, or None if it is absent. Other parameters are ignored.

    Names and values are decoded as form fields (``%41``, ``+``). Bytes that are not
    UTF-8 become U+FFFD, so the text is not an address. Repeated or too long: an empty text.
    """
    # The usual request: no separator, no encoding.
    if query.startswith("ip=") and not ("&" in query or "%" in query or "+" in query):
        return query[3:]
    values = [match[1] or "" for match in islice(_IP.finditer(query), 2)]
    if not values:
        return None
    is_one = len(values) == 1 and len(values[0]) <= _LONGEST
    return unquote_plus(values[0]) if is_one else _NO_ADDRESS


PATH = "/v1/geo/lookup"
_METHODS = frozenset(("GET", "HEAD"))
_CLOSE = ("Connection", "close")
#: Seconds between two log lines about failures.
_LOG_INTERVAL = 1.0
_log = logging.getLogger("geolookup.http")
_access = logging.getLogger("geolookup.access")


class Lookups(Protocol):
    """The part of an engine that the service uses."""

    @property
    def generation(self) -> str:
        """The generation that answers now."""

    @property
    def stale(self) -> bool:
        """Whether its data exceed ``max_age``."""

    def lookup_json(self, ip: object) -> bytes:
        """Return the envelope for an address."""


class Backend(NamedTuple):
    """Engine, gate and prepared answers of one generation. A reload replaces all three at once."""

    engine: Lookups
    gate: GroupCommit[Arrival]
    answers: Answers


class Application:
    """The service, for one worker."""

    def __init__(
        self,
        backend: Backend,
        proxies: TrustedProxies,
        slot: Slot,
        *,
        access_log: bool = False,
    ) -> None:
        self.backend = backend
        self._proxies, self._slot, self._access_log = proxies, slot, access_log
        #: Send ``Connection: close``, for clients to connect elsewhere.
        self.draining = False
        self._next_log = 0.0

    def __rsgi_init__(self, loop: AbstractEventLoop) -> None:
        """Prepare for requests; Granian calls it before it listens and runs the loop."""
        self.begin(loop)

    def __rsgi_del__(self, _loop: AbstractEventLoop) -> None:
        """Release resources; Granian calls it after the last answer."""
        self.end()

    def begin(self, loop: AbstractEventLoop) -> None:
        """Prepare for requests; ``loop`` does not run yet."""

    def end(self) -> None:
        """Release resources."""

    def answer_all(self, arrivals: Sequence[Arrival]) -> None:
        """Answer requests that came together; never raises."""
        keys, waiting = [], []
        early, answers = [], []
        for arrival in arrivals:
            headers = arrival[0].headers
            answer = self._early_answer(arrival[0], headers)
            if answer is None:
                keys.append(_api_key(headers))
                waiting.append(arrival)
            else:
                early.append(arrival)
                answers.append(answer)
        if early:
            self._send_all(early, answers)
        if keys:
            self.backend.gate.admit(keys, waiting, self._answer_decided)

    def _early_answer(self, scope: Scope, headers: Headers) -> Answer | None:
        """Return the answer to a request that needs no key; None for a lookup."""
        if not _has_host(scope, headers):
            return BAD_REQUEST
        if scope.path != PATH:
            return NOT_FOUND
        return None if scope.method in _METHODS else self.other_method(scope)

    def other_method(self, _scope: Scope) -> Answer:
        """Return the answer to a request with a method other than GET and HEAD."""
        return NOT_ALLOWED

    def _answer_decided(
        self, arrivals: Sequence[Arrival], outcomes: Sequence[Exception | None]
    ) -> None:
        """Answer requests that the gate admitted (None) or refused."""
        pairs = zip(arrivals, outcomes, strict=True)
        self._send_all(arrivals, [self._answer(scope, outcome) for (scope, _, _), outcome in pairs])

    def _send_all(self, arrivals: Sequence[Arrival], answers: Sequence[Answer]) -> None:
        """Count requests and send their answers; Granian sends no body to HEAD."""
        now = perf_counter_ns()
        durations = [now - came_at for _, _, came_at in arrivals]
        # Count first: a client that has its answer finds it in the metrics.
        self._slot.count([outcome for outcome, _, _ in answers], durations)
        for (scope, channel, _), (outcome, headers, body) in zip(arrivals, answers, strict=True):
            sent = self.final_headers(scope, headers)
            if outcome is PREFLIGHT:
                channel.response_empty(outcome.status, sent)  # no Content-Length
            else:
                channel.response_bytes(outcome.status, sent, body)
        if self._access_log:
            for answer, duration in zip(answers, durations, strict=True):
                # No path, query or peer: without ``ip`` the peer's address is the one looked up.
                _access.info("%d %.3f ms", answer[0].status, duration / 1e6)

    def final_headers(self, _scope: Scope, headers: list[Header]) -> list[Header]:
        """Return the headers of an answer, and those that every answer has."""
        return [*headers, _CLOSE] if self.draining else headers

    def _answer(self, scope: Scope, refusal: Exception | None) -> Answer:
        """Return the answer to a request; never raises."""
        if refusal is not None:
            return self._failure(refusal)
        try:
            ip = ip_parameter(scope.query_string)
            return self._look_up(self._caller(scope) if ip is None else ip)
        except Exception as error:  # noqa: BLE001 - the others of a batch must be answered
            return self._failure(error)

    def _failure(self, error: Exception) -> Answer:
        """Return the answer to a request that failed; log a failure of the service."""
        if isinstance(error, ContractError):
            return self.backend.answers.refusal(error)
        if isinstance(error, AccountsError | ClosedError | DatasetError):
            self._log_failure(str(error))
        else:
            # Log the position, not the text: the text of a library's error may hold an address.
            where = traceback.extract_tb(error.__traceback__)[-1]
            self._log_failure(f"{type(error).__name__} in {where.filename}:{where.lineno}")
        return UNAVAILABLE

    def _caller(self, scope: Scope) -> str:
        """Return the address of the client that sent a request."""
        return self._proxies.caller(scope.client, _header_lines(scope.headers))

    def _look_up(self, ip: str) -> Answer:
        """Look up an address; the headers name the generation that answered."""
        while True:
            engine, _, answers = self.backend
            body = engine.lookup_json(ip)
            # Else a reload came between, and the body may be of either generation.
            if engine.generation == answers.generation:
                return answers.lookup_answer(body)
            self.backend = self.new_backend()

    def new_backend(self) -> Backend:
        """Return the backend for the generation that the engine answers from now."""
        engine, gate, _ = self.backend
        return Backend(engine, gate, Answers(engine.generation, stale=engine.stale))

    def _log_failure(self, text: str) -> None:
        """Log a failure, at most once per second: every request may cause it."""
        if monotonic() >= self._next_log:
            self._next_log = monotonic() + _LOG_INTERVAL
            _log.error("%s", text)


def _has_host(scope: Scope, headers: Headers) -> bool:
    """Return whether a request states one host, as it must (RFC 9112, section 3.2)."""
    hosts = headers.get_all("host")
    # HTTP/1.0 may leave it out.
    return (len(hosts) == 1 and hosts[0] != "") or (scope.http_version != "1.1" and len(hosts) < 2)


def _api_key(headers: Headers) -> str | None:
    """Return the key; None if absent, an empty text if repeated or not ASCII."""
    values = headers.get_all("x-api-key")
    if len(values) == 1:
        return values[0]
    # An empty key is refused as invalid, an absent one as missing.
    return "" if values or "x-api-key" in headers else None


def _header_lines(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return the header lines as ``TrustedProxies`` reads them.

    A line beyond ASCII becomes an empty line if it is the first of its name. Otherwise a client
    could hide the header that its proxy writes, and forge the other one.
    """
    hidden = [(name.encode(), b"") for name in headers if headers.get(name) is None]
    return hidden + [(name.encode(), value.encode()) for name, value in headers.items()]
