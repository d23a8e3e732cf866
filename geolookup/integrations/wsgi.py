"""WSGI middleware: ``environ["geolookup.geo"]`` is the answer for the client of a request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from geolookup.contract.proxies import Headers
from geolookup.integrations.client import Clients

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from geolookup.engine import Engine

_KEY = "geolookup.geo"
#: What servers state for a Unix socket; "localhost" is Waitress's.
_UNIX = frozenset(("", "localhost"))
_HEADERS = {"HTTP_X_FORWARDED_FOR": b"x-forwarded-for", "HTTP_FORWARDED": b"forwarded"}


class GeoMiddleware:
    """Sets ``environ["geolookup.geo"]`` of each request.

    The value and the parameters are those of ``geolookup.integrations.asgi.GeoMiddleware``.
    """

    def __init__(
        self,
        app: WSGIApplication,
        engine: Engine | None = None,
        *,
        trusted_proxies: Iterable[object] = (),
    ) -> None:
        self._app = app
        self._clients = Clients(engine, trusted_proxies)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Pass a request on, with the answer for its client."""
        environ[_KEY] = self._clients.answer(*client_of(environ))
        return self._app(environ, start_response)


def client_of(environ: Mapping[str, Any]) -> tuple[str, Headers]:
    """Return the peer, empty for a Unix socket, and the headers that proxies set.

    A server joins the lines of a header by commas, which both headers permit.
    """
    peer = environ.get("REMOTE_ADDR") or ""
    headers = [
        (header, environ[name].encode("latin-1", "replace"))
        for name, header in _HEADERS.items()
        if name in environ
    ]
    return "" if peer in _UNIX else peer, headers
