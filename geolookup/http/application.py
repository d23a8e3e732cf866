"""Requests, from top to bottom: host, path, method, key, address, answer.

Strategy: Granian's interface RSGI, in batches. The gate decides the requests of a batch together.
Only the event loop calls the application, so its state needs no lock. RSGI decodes the path: a path
with percent-encoded characters is the same resource (RFC 3986, section 6.2.2.2), with ``%2F`` too.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from functools import partial
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING, Any

from geolookup.contract.proxies import TrustedProxies
from geolookup.errors import AccountsError, ClosedError, ContractError, DatasetError
from geolookup.gate import Accounts
from geolookup.gate.group_commit import GroupCommit
from geolookup.http.answers import (
    BAD_REQUEST,
    CLOSE,
    NOT_ALLOWED,
    NOT_FOUND,
    PREFLIGHT,
    UNAVAILABLE,
    Answer,
    Answers,
)
from geolookup.http.cors import Origins
from geolookup.http.own import lookup_json
from geolookup.http.requests import forwarding_lines, ip_parameter, only_line
from geolookup.http.shared import Slot

if TYPE_CHECKING:  # Granian is optional
    from granian.rsgi import Scope

    from geolookup.engine import Engine

    #: A request: its scope, the channel of its answer (RSGI's HTTPProtocol), and when it came
    #: (``perf_counter_ns``).
    Arrival = tuple[Scope, Any, int]

PATH = "/v1/geo/lookup"
_METHODS = frozenset(("GET", "HEAD"))
#: Seconds between two log lines about failures.
_LOG_INTERVAL = 1.0
_log = logging.getLogger("geolookup.http")
_access = logging.getLogger("geolookup.access")


class Application:
    """The answers of one worker; ``origins`` are the allowed ones of CORS."""

    def __init__(
        self,
        engine: Engine,
        accounts: Accounts,
        proxies: TrustedProxies,
        slot: Slot,
        *,
        own: bool = False,
        origins: Origins | None = None,
        access_log: bool = False,
    ) -> None:
        self._engine, self._proxies, self._slot = engine, proxies, slot
        self._lookup_json = partial(lookup_json, engine) if own else engine.lookup_json
        self._gate: GroupCommit[Arrival] = GroupCommit(accounts, self._answer_decided)
        self._origins, self._access_log = origins, access_log
        #: Send ``Connection: close``, for clients to connect elsewhere.
        self.draining = False
        self._next_log = 0.0
        self.refresh()

    def refresh(self) -> None:
        """Prepare the answers of the generation in use."""
        self._answers = Answers(self._engine.generation, stale=self._engine.stale)

    def answer_all(self, arrivals: Sequence[Arrival]) -> None:
        """Answer requests that came together; never raises."""
        keys, waiting = [], []
        early, answers = [], []
        for arrival in arrivals:
            headers = arrival[0].headers  # a copy each time
            answer = self._early_answer(arrival[0], headers)
            if answer is None:
                # An empty key is refused as invalid, an absent one as missing.
                keys.append(only_line(headers, "x-api-key"))
                waiting.append(arrival)
            else:
                early.append(arrival)
                answers.append(answer)
        if early:
            self._send_all(early, answers)
        if keys:
            self._gate.admit(keys, waiting)

    def _early_answer(self, scope: Scope, headers: object) -> Answer | None:
        """Return the answer to a request that needs no key; None for a lookup."""
        host = only_line(headers, "host")
        # RFC 9112, section 3.2: one host; HTTP/1.0 may leave it out.
        if not host and (host is not None or scope.http_version == "1.1"):
            return BAD_REQUEST
        if scope.path != PATH:
            return NOT_FOUND
        if scope.method in _METHODS:
            return None
        preflight = self._origins and self._origins.preflight(scope.method, headers)
        return preflight or NOT_ALLOWED

    def _answer_decided(
        self, arrivals: Sequence[Arrival], outcomes: Sequence[Exception | None]
    ) -> None:
        """Answer requests that the gate admitted (None) or refused."""
        pairs = list(zip(arrivals, outcomes, strict=True))
        while True:
            answers = [self._answer(scope, outcome) for (scope, _, _), outcome in pairs]
            # Else a reload came between, and the headers may name another generation.
            if self._engine.generation == self._answers.generation:
                break
            self.refresh()
        self._send_all(arrivals, answers)

    def _send_all(self, arrivals: Sequence[Arrival], answers: Sequence[Answer]) -> None:
        """Count requests and send their answers; Granian sends no body to HEAD."""
        now = perf_counter_ns()
        durations = [now - came_at for _, _, came_at in arrivals]
        # Count first: a client that has its answer finds it in the metrics.
        self._slot.count([outcome for outcome, _, _ in answers], durations)
        for (scope, channel, _), (outcome, headers, body) in zip(arrivals, answers, strict=True):
            if self._origins is not None:
                headers = [*headers, *self._origins.headers(scope.headers)]
            if self.draining:
                headers = [*headers, CLOSE]
            if outcome is PREFLIGHT:
                channel.response_empty(outcome.status, headers)  # no Content-Length
            else:
                channel.response_bytes(outcome.status, headers, body)
        if self._access_log:
            for answer, duration in zip(answers, durations, strict=True):
                # No path, query or peer: without ``ip`` the peer's address is the one looked up.
                _access.info("%d %.3f ms", answer[0].status, duration / 1e6)

    def _answer(self, scope: Scope, refusal: Exception | None) -> Answer:
        """Return the answer to a request; never raises."""
        if refusal is not None:
            return self._failure(refusal)
        try:
            ip = ip_parameter(scope.query_string)
            if ip is None:
                ip = self._proxies.caller(scope.client, forwarding_lines(scope.headers))
            return self._answers.lookup_answer(self._lookup_json(ip))
        except Exception as error:  # noqa: BLE001 - the others of a batch must be answered
            return self._failure(error)

    def _failure(self, error: Exception) -> Answer:
        """Return the answer to a request that failed; log a failure of the service."""
        if isinstance(error, ContractError):
            return self._answers.refusal(error)
        if isinstance(error, AccountsError | ClosedError | DatasetError):
            text = str(error)
        else:
            # Log the position, not the text: the text of a library's error may hold an address.
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__} in {where.filename}:{where.lineno}"
        if monotonic() >= self._next_log:  # not each time: every request may cause a failure
            self._next_log = monotonic() + _LOG_INTERVAL
            _log.error("%s", text)
        return UNAVAILABLE
