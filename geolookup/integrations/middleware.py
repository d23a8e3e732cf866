"""Middleware for ASGI and WSGI: the answer for the client of a request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from wsgiref.types import WSGIApplication

from geolookup.contract.proxies import Headers
from geolookup.integrations.client import Clients

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

    from geolookup.engine import Engine

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
_App = TypeVar("_App")
_SCOPE_KEY, _ENVIRON_KEY = "geo", "geolookup.geo"
#: The types of ASGI scopes that have a client.
_WITH_CLIENT = frozenset(("http", "websocket"))
#: Values of REMOTE_ADDR for a Unix socket; "localhost" is Waitress's.
_UNIX = frozenset(("", "localhost"))
_HEADERS = {"HTTP_X_FORWARDED_FOR": b"x-forwarded-for", "HTTP_FORWARDED": b"forwarded"}


class _Middleware(Generic[_App]):
    def __init__(
        self, app: _App, engine: Engine | None = None, *, trusted_proxies: Iterable[object] = ()
    ) -> None:
        self._app = app
        self._clients = Clients(engine, trusted_proxies)


class AsgiMiddleware(_Middleware[Application]):
    """Sets ``scope["geo"]`` of HTTP requests and WebSocket connections.

    It is a ``geolookup.integrations.client.ClientAnswer``. ``engine`` None opens the dataset of
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
            scope[_SCOPE_KEY] = self._clients.answer(peer or "", scope["headers"])
        await self._app(scope, receive, send)


class WsgiMiddleware(_Middleware[WSGIApplication]):
    """Sets ``environ["geolookup.geo"]`` of each request; parameters as for ``AsgiMiddleware``."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Pass a request on, with the answer for its client."""
        environ[_ENVIRON_KEY] = self._clients.answer(*client_of(environ))
        return self._app(environ, start_response)


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
