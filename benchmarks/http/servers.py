"""The servers that ``benchmarks http`` measures; each runs as a process of its own.

Strategy: all are ASGI applications on Granian with the settings of ``geolookup serve``: they differ
only in the compared part.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from geolookup.contract.proxies import TrustedProxies
from geolookup.http import Settings, serve
from geolookup.http.answers import Answers
from geolookup.http.application import Application, Backend, ip_parameter
from geolookup.http.metrics import Counters
from geolookup.http.server import granian_for

_GENERATION = "00" * 32
_JSON = [(b"Content-Type", b"application/json")]


class _Constant:
    """An engine and a gate that do nothing: only the application itself remains."""

    generation = _GENERATION
    stale = False

    def __init__(self, dataset: str) -> None:
        import geolookup

        with geolookup.open(dataset) as engine:
            self._answer = engine.lookup_json("8.8.8.8")

    def lookup_json(self, _ip: object) -> bytes:
        return self._answer

    async def admit(self, _api_key: str | None) -> None:
        return None


def constant(settings: Settings) -> Application:
    """Return our application without a lookup and without a key check."""
    stub = _Constant(str(settings.dataset))
    with TemporaryDirectory() as folder:
        counters = Counters(Path(folder))  # the mapped file outlives its name
    counters.serve(_GENERATION, 0)
    backend = Backend(stub, stub, Answers(_GENERATION))
    return Application(backend, TrustedProxies(()), counters)


def bare(settings: Settings) -> Callable[..., Any]:
    """Return the least application there is, with an answer of the same length."""
    answer = _Constant(str(settings.dataset)).lookup_json(None)

    return _application(lambda _query: answer)


def _application(answer: Callable[[bytes], bytes]) -> Callable[..., Any]:
    """Return an application of one function, from a query to a body."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            for event in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{event}.complete"})
            return
        body = answer(scope["query_string"])
        await send({"type": "http.response.start", "status": 200, "headers": _JSON})
        await send({"type": "http.response.body", "body": body})

    return application


def peer(settings: Settings) -> Callable[..., Any]:
    """Return the fastest that is usual: maxminddb and orjson; no key, no rate, no quota."""
    import maxminddb
    from orjson import dumps

    get = maxminddb.open_database(str(settings.dataset), maxminddb.MODE_MMAP_EXT).get

    return _application(lambda query: dumps(get(ip_parameter(query.decode()) or "")))


_LOADERS: dict[str, Callable[[Settings], Any]] = {"constant": constant, "bare": bare, "peer": peer}


def _load(name: str, settings: Settings, _worker: int) -> Any:
    return _LOADERS[name](settings)


def run(name: str, data: str, port: int, workers: int, accounts: str, plans: str) -> None:
    """Serve until SIGTERM; "geolookup" is the unchanged service."""
    settings = Settings(
        *(accounts, data),
        plans=plans,
        port=port,
        workers=workers,
        log_level="error",
        drain=0.0,
    )
    if name == "geolookup":
        serve(settings)
    else:
        granian_for(settings).run(partial(_load, name, settings))


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:7])
