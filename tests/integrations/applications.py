"""Applications that answer with the value of the middleware, for real servers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, MutableMapping
from typing import Any

import geolookup
from geolookup.integrations.middleware import AsgiMiddleware, WsgiMiddleware

#: Loaded by the first process: with gunicorn --preload, before it forks.
_engine = geolookup.open(watch=0.1, preload=True)
_PROXIES = ("127.0.0.0/8", "unix:")
_HEADERS = {"content-type": "application/json"}


def _body(geo: Any) -> bytes:
    members = {"ip": geo.ip, "code": geo.error_code, "city": geo.location.city_name}
    return json.dumps({**members, "forked": os.getpid() != _LOADED_BY}).encode()


def _wsgi(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    start_response("200 OK", [*_HEADERS.items()])
    return [_body(environ["geolookup.geo"])]


async def _asgi(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        for phase in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{phase}.complete"})
        return
    headers = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": _body(scope["geo"])})


#: The process that loaded this module.
_LOADED_BY = os.getpid()
wsgi = WsgiMiddleware(_wsgi, _engine, trusted_proxies=_PROXIES)
asgi = AsgiMiddleware(_asgi, _engine, trusted_proxies=_PROXIES)
