"""ASGI middleware: ``scope["geo"]`` is the answer for the client of a request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any

from geolookup.integrations.client import Clients

if TYPE_CHECKING:
    from geolookup.engine import Engine

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
_KEY = "geo"
_WITH_CLIENT = frozenset(("http", "websocket"))


class GeoMiddleware:
    """Sets ``scope["geo"]`` of HTTP requests and WebSocket connections.

    It is a ``geolookup.integrations.client.ClientAnswer``. ``engine`` None opens the dataset of
    ``geolookup.open()``; for a server that runs for long, pass ``geolookup.open(watch=60)``.
    ``trusted_proxies`` are networks whose ``X-Forwarded-For`` and ``Forwarded`` are read,
    and ``"unix:"`` for Unix sockets. Raises what ``geolookup.open`` raises, and SettingsError for
    malformed networks.
    """

    def __init__(
        self,
        app: Application,
        engine: Engine | None = None,
        *,
        trusted_proxies: Iterable[object] = (),
    ) -> None:
        self._app = app
        self._clients = Clients(engine, trusted_proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with the answer for its client."""
        if scope["type"] in _WITH_CLIENT:
            # In place, as Starlette's middleware does: outer middleware reads from the scope what
            # inner applications add, such as the route.
            peer, *_ = scope.get("client") or ("",)
            scope[_KEY] = self._clients.answer(peer or "", scope["headers"])
        await self._app(scope, receive, send)
