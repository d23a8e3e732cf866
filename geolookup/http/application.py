"""One request, from top to bottom: path, method, key, address, answer.

Strategy: an RSGI application, for of Granian's interfaces with one call a
request it is the one that shows repeated headers, which the contract wants
refused and which proxies' words may be spread over. It awaits nothing but the
gate, so whatever it keeps needs no lock.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable
from time import monotonic, perf_counter_ns
from typing import NamedTuple, Protocol

from geolookup.errors import AccountsError, ClosedError, ContractError, DatasetError
from geolookup.http.answers import NOT_ALLOWED, NOT_FOUND, UNAVAILABLE, Answer, Answers, Header
from geolookup.http.caller import Headers, TrustedProxies
from geolookup.http.counters import DRAINING, Counters
from geolookup.http.query import address_asked

PATH = "/v1/geo/lookup"
_METHODS = frozenset(("GET", "HEAD"))
_KEY = "x-api-key"
_CLOSE = ("Connection", "close")
#: Seconds between two lines about faults.
_SILENCE = 1.0
_log = logging.getLogger("geolookup.http")


class Scope(Protocol):
    """A request, as RSGI gives it."""

    path: str
    method: str
    query_string: str
    client: str
    headers: Headers


class Responder(Protocol):
    """Where the answer goes, as RSGI has it. To HEAD the server sends no body."""

    def response_bytes(self, status: int, headers: list[Header], body: bytes) -> None:
        """Send an answer whole."""


class Lookups(Protocol):
    """What is asked of an engine."""

    @property
    def generation(self) -> str:
        """The generation that answers now."""

    @property
    def stale(self) -> bool:
        """Whether its data are older than they may be."""

    def lookup_json(self, ip: object) -> bytes:
        """Return the envelope for an address."""


class Admission(Protocol):
    """What is asked of the gate."""

    def admit(self, api_key: str | None) -> Awaitable[None] | None:
        """Let one request pass, or return what to await for that.

        Here or there is raised what the contract has for it.
        """


class Backend(NamedTuple):
    """What requests are answered from; another generation puts another in its place, whole."""

    engine: Lookups
    gate: Admission
    answers: Answers


class Application:
    """The service, for one worker."""

    def __init__(self, backend: Backend, proxies: TrustedProxies, counters: Counters) -> None:
        self.backend = backend
        self._proxies, self._counters = proxies, counters
        self.draining = False
        self._silent_until = 0.0

    async def __rsgi__(self, scope: Scope, responder: Responder) -> None:
        """Count one request and answer it."""
        began = perf_counter_ns()
        outcome, headers, body = await self._answer(scope)
        if self.draining:
            headers = [*headers, _CLOSE]
        # Counted first: who has an answer finds it counted.
        self._counters.count(outcome, perf_counter_ns() - began)
        responder.response_bytes(outcome.status, headers, body)

    def drain(self) -> None:
        """Ask clients from now on to connect anew, to a server that stays."""
        self.draining = True
        self._counters.note(DRAINING)

    async def _answer(self, scope: Scope) -> Answer:
        if scope.path != PATH:
            return NOT_FOUND
        if scope.method not in _METHODS:
            return NOT_ALLOWED
        try:
            decision = self.backend.gate.admit(_api_key(scope.headers))
            if decision is not None:
                await decision
            ip = address_asked(scope.query_string)
            if ip is None:
                ip = self._proxies.caller(scope.client, scope.headers)
            return self._looked_up(ip)
        except ContractError as error:
            return self.backend.answers.refused(error)
        except (AccountsError, ClosedError, DatasetError) as error:
            self._complain(str(error))
        except Exception as error:  # noqa: BLE001 - no fault of ours may end a connection unanswered
            # Where, and not what: the text of a foreign error may hold an address.
            where = traceback.extract_tb(error.__traceback__)[-1]
            self._complain(f"{type(error).__name__} in {where.filename}:{where.lineno}")
        return UNAVAILABLE

    def _looked_up(self, ip: str) -> Answer:
        """Look an address up; the generation that the headers name is the one that answered."""
        while True:
            engine, _, answers = self.backend
            body = engine.lookup_json(ip)
            if engine.generation == answers.generation:
                return answers.looked_up(body)
            self.backend = self.renewed()

    def renewed(self) -> Backend:
        """Return the backend for the generation that its engine answers from by now."""
        engine, gate, _ = self.backend
        return Backend(engine, gate, Answers(engine.generation, stale=engine.stale))

    def _complain(self, text: str) -> None:
        """Log a fault, one a second at most: each request may meet it."""
        if monotonic() >= self._silent_until:
            self._silent_until = monotonic() + _SILENCE
            _log.error("%s", text)


def _api_key(headers: Headers) -> str | None:
    """Return the key; None if there is none, an empty text if it is repeated or no text."""
    values = headers.get_all(_KEY)
    if len(values) == 1:
        return values[0]
    return "" if values or _KEY in headers else None
