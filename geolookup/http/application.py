"""One request, from top to bottom: host, path, method, key, address, answer.

Strategy: an ASGI application. Of Granian's interfaces, only ASGI shows the raw path. It shows
repeated headers: the contract rejects a repeated key, and proxies repeat their headers. The
application awaits the gate and the sending only, so its state needs no lock.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Awaitable, Callable
from itertools import islice
from time import monotonic, perf_counter_ns
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote_plus

from geolookup.contract.proxies import Headers, TrustedProxies, lines_of
from geolookup.errors import AccountsError, ClosedError, ContractError, DatasetError
from geolookup.http.answers import (
    BAD_REQUEST,
    NOT_ALLOWED,
    NOT_FOUND,
    UNAVAILABLE,
    Answer,
    Answers,
)
from geolookup.http.metrics import DRAINING, Counters

#: Separators and encodings of parameters.
_ENCODED = re.compile("[&%+]")
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
    if query.startswith("ip=") and not _ENCODED.search(query):
        return query[3:]  # the usual request
    values = [match[1] or "" for match in islice(_IP.finditer(query), 2)]
    if not values:
        return None
    is_one = len(values) == 1 and len(values[0]) <= _LONGEST
    return unquote_plus(values[0]) if is_one else _NO_ADDRESS


PATH = "/v1/geo/lookup"
#: As sent: a path with percent-encoded characters is another path.
_RAW_PATH = PATH.encode()
_METHODS = frozenset(("GET", "HEAD"))
_KEY = b"x-api-key"
_CLOSE = (b"Connection", b"close")
#: Seconds between two log lines about failures.
_LOG_INTERVAL = 1.0
_log = logging.getLogger("geolookup.http")
#: The parameters of an ASGI application: a request, and the calls that receive and send its events.
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


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


class Admission(Protocol):
    """The part of the gate that the service uses."""

    def admit(self, api_key: str | None) -> Awaitable[None]:
        """Return an awaitable that admits one request.

        The call or the awaitable raises the ContractError.
        """


class Backend(NamedTuple):
    """Engine, gate and prepared answers of one generation. A reload replaces all three at once."""

    engine: Lookups
    gate: Admission
    answers: Answers


class Application:
    """The service, for one worker."""

    def __init__(self, backend: Backend, proxies: TrustedProxies, counters: Counters) -> None:
        self.backend = backend
        self._proxies, self._counters = proxies, counters
        self.draining = False
        self._next_log = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count one request and answer it; the server sends no body to HEAD."""
        if scope["type"] != "http":
            await self._lifespan(receive, send)
            return
        began = perf_counter_ns()
        outcome, headers, body = await self.answer(scope)
        if self.draining:
            headers = [*headers, _CLOSE]
        # Count first: a client that has its answer finds it in the metrics.
        self._counters.count(outcome, perf_counter_ns() - began)
        await send({"type": "http.response.start", "status": outcome.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def begin(self) -> None:
        """Prepare for requests; called on the event loop before the first one."""

    def end(self) -> None:
        """Release resources; called after the last answer."""

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        """Handle the two events of ASGI's lifespan: startup and shutdown."""
        await receive()
        self.begin()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.end()
        await send({"type": "lifespan.shutdown.complete"})

    def drain(self) -> None:
        """Send ``Connection: close`` from now on, for clients to connect elsewhere."""
        self.draining = True
        self._counters.note(DRAINING)

    async def answer(self, scope: Scope) -> Answer:
        """Return the answer to a request; never raises."""
        if not _has_host(scope):
            return BAD_REQUEST
        if scope["raw_path"] != _RAW_PATH:
            return NOT_FOUND
        if scope["method"] not in _METHODS:
            return self.other_method(scope)
        try:
            await self.backend.gate.admit(_api_key(scope["headers"]))
            ip = ip_parameter(scope["query_string"].decode("utf-8", "replace"))
            if ip is None:
                ip = self._proxies.caller(scope["client"][0], scope["headers"])
            return self._look_up(ip)
        except ContractError as error:
            return self.backend.answers.refusal(error)
        except (AccountsError, ClosedError, DatasetError) as error:
            self._log_failure(str(error))
        except Exception as error:  # noqa: BLE001 - an internal error must not close a connection without an answer
            # Log the position, not the text: the text of a library's error may hold an address.
            where = traceback.extract_tb(error.__traceback__)[-1]
            self._log_failure(f"{type(error).__name__} in {where.filename}:{where.lineno}")
        return UNAVAILABLE

    def other_method(self, _scope: Scope) -> Answer:
        """Return the answer to a request with a method other than GET and HEAD."""
        return NOT_ALLOWED

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


def _has_host(scope: Scope) -> bool:
    """Return whether a request states one host, as it must (RFC 9112, section 3.2)."""
    # Granian adds an empty host to a request without one; HTTP/1.0 may leave it out.
    host, *more = lines_of(scope["headers"], b"host")
    return not more and (host != b"" or scope["http_version"] != "1.1")


def _api_key(headers: Headers) -> str | None:
    """Return the key; None if absent, an empty text if repeated or not ASCII."""
    values = lines_of(headers, _KEY)
    if not values:
        return None
    # An empty key is refused as invalid, an absent one as missing.
    return values[0].decode() if len(values) == 1 and values[0].isascii() else ""
