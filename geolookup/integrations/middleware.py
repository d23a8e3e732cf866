"""Middleware for ASGI and WSGI: the answer for the client of a request.

Strategy: a request gets an object with the peer and the headers. The client is determined and
looked up when the application first reads the answer; a request that never reads it costs no
lookup. A failure does not reach the application: it is logged, and the answer is false, as for an
address that cannot be located.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from time import monotonic
from typing import TYPE_CHECKING, Any

import geolookup
from geolookup.contract.proxies import Headers, TrustedProxies
from geolookup.errors import ClosedError, DatasetError
from geolookup.kernel.answers import members

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

    from geolookup.engine import Engine
    from geolookup.kernel.python_answer import Answer
else:
    Answer = object  # only for type checkers: the attributes are read from the answer

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
#: The types of ASGI scopes that have a client.
_WITH_CLIENT = frozenset(("http", "websocket"))
#: Values of REMOTE_ADDR for a Unix socket; "localhost" is Waitress's.
_UNIX = frozenset(("", "localhost"))
_HEADERS = {"HTTP_X_FORWARDED_FOR": b"x-forwarded-for", "HTTP_FORWARDED": b"forwarded"}
#: Seconds between two log lines about failures: every request may cause one.
_LOG_INTERVAL = 1.0
_log = logging.getLogger("geolookup")


class Middleware:
    """An application with answers for the clients of its requests.

    ``engine`` None opens the dataset of ``geolookup.open()`` at once: a missing dataset shows when
    the application starts. Raises what ``geolookup.open`` raises, and SettingsError
    for malformed ``trusted_proxies``.
    """

    #: The name of ``trusted_proxies`` in errors.
    _setting = "trusted_proxies"

    def __init__(
        self, app: Any, engine: Engine | None = None, *, trusted_proxies: Iterable[object] = ()
    ) -> None:
        self._app = app
        self._proxies = TrustedProxies(trusted_proxies, setting=self._setting)
        self._engine = geolookup.open() if engine is None else engine
        self._unavailable = Unavailable(self._engine)
        self._next_log = 0.0

    def look_up(self, peer: str, headers: Headers) -> Any:
        """Return the answer for a client; ``peer`` is empty for a Unix socket."""
        answer = self._engine.answer(self._proxies.caller(peer, headers))
        # A row is checked when a member of it is read: read one of each row here, where a damaged
        # one does no harm.
        _ = answer.location.country_code, answer.location.city_name
        _ = answer.time.zone, answer.network.isp
        members(answer.own)
        return answer

    def unavailable(self, error: Exception) -> Unavailable:
        """Return the answer after a failure, and log that, at most once a second."""
        if monotonic() >= self._next_log:
            self._next_log = monotonic() + _LOG_INTERVAL
            _log.error("%s", error)
        return self._unavailable


class AsgiMiddleware(Middleware):
    """Sets ``scope["geo"]`` of HTTP requests and WebSocket connections.

    It is a ``ClientAnswer``. ``engine`` None opens the dataset of
    ``geolookup.open()``; for a server that runs for long, pass ``geolookup.open(watch=60)``.
    ``trusted_proxies`` are networks whose ``X-Forwarded-For`` and ``Forwarded`` are read,
    and ``"unix:"`` for Unix sockets. Raises what ``geolookup.open`` raises, and SettingsError for
    malformed networks.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with the answer for its client."""
        if scope["type"] in _WITH_CLIENT:
            # In place, as in Starlette: outer middleware reads additions of inner applications
            # from the scope, such as the route.
            peer, *_ = scope.get("client") or ("",)
            scope["geo"] = ClientAnswer(self, peer or "", scope["headers"])
        await self._app(scope, receive, send)


class WsgiMiddleware(Middleware):
    """Sets ``environ["geolookup.geo"]`` of each request; parameters as for ``AsgiMiddleware``."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Pass a request on, with the answer for its client."""
        environ["geolookup.geo"] = ClientAnswer(self, *client_of(environ))
        body: Iterable[bytes] = self._app(environ, start_response)
        return body


def client_of(environ: Mapping[str, Any]) -> tuple[str, Headers]:
    """Return the peer, empty for a Unix socket, and the headers that proxies set.

    A server joins the lines of a header by commas; both headers permit it.
    """
    peer = environ.get("REMOTE_ADDR") or ""
    headers = [
        (header, environ[name].encode("latin-1", "replace"))
        for name, header in _HEADERS.items()
        if name in environ
    ]
    return "" if peer in _UNIX else peer, headers


class ClientAnswer(Answer):
    """The ``Answer`` for the client of a request, with all its attributes, looked up on demand.

    False, with ``error_code`` 10001 or 10002, if the client has no public address: own columns may
    be known of a private one. False with
    ``error_code`` None if the dataset cannot be used. The representation does not contain the
    address.
    """

    __slots__ = ("_answer", "_client", "_middleware")

    def __init__(self, middleware: Middleware, *client: Any) -> None:
        self._answer: Any = None
        self._middleware, self._client = middleware, client

    if not TYPE_CHECKING:  # type checkers know the attributes of Answer, and report any other

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # copy and pickle look for special methods
                raise AttributeError(name)
            return self._read(lambda answer: getattr(answer, name))

    def __bool__(self) -> bool:
        return bool(self._read(bool))

    def __repr__(self) -> str:
        return "<geolookup.integrations.middleware.ClientAnswer>"

    def _read(self, read: Callable[[Any], Any]) -> Any:
        try:
            if self._answer is None:
                self._answer = self._middleware.look_up(*self._client)
            return read(self._answer)
        except (ClosedError, DatasetError) as error:
            self._answer = self._middleware.unavailable(error)
            return read(self._answer)


class Unavailable:
    """The answer of an engine that cannot answer: no value is known, and no error of the contract.

    It has the members of the answer for a malformed address.
    """

    success = False
    error_code = None
    error_message = "the dataset cannot be used; see the log 'geolookup'"

    def __init__(self, engine: Engine) -> None:
        self._members: Any = engine.answer("")

    def __bool__(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._members, name)

    def to_dict(self) -> dict[str, Any]:
        """Return an envelope without data, with the message of this error."""
        envelope: dict[str, Any] = self._members.to_dict()
        return {**envelope, "error_code": None, "error_message": self.error_message}
