"""The servers that ``benchmarks http`` measures; each runs as a process of its own.

Strategy: all run on Granian with uvloop and the settings of ``geolookup serve``. The constant and
the peer are RSGI applications as in Granian's manual: one coroutine for each request.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from granian import Granian
from granian.constants import Interfaces

from geolookup.http import Settings, serve
from geolookup.http.requests import ip_parameter
from geolookup.http.server import granian_options

_JSON = [("Content-Type", "application/json")]


def constant(settings: Settings) -> Callable[..., Any]:
    """Return the smallest application, with an answer of the same length."""
    import geolookup

    with geolookup.open(str(settings.dataset)) as engine:
        body = engine.lookup_json("8.8.8.8")

    async def application(_scope: Any, protocol: Any) -> None:
        protocol.response_bytes(200, _JSON, body)

    return application


def peer(settings: Settings) -> Callable[..., Any]:
    """Return the fastest that is usual: maxminddb and orjson; no key, no rate, no quota."""
    import maxminddb
    from orjson import dumps

    get = maxminddb.open_database(str(settings.dataset), maxminddb.MODE_MMAP_EXT).get

    async def application(scope: Any, protocol: Any) -> None:
        address = ip_parameter(scope.query_string) or ""
        protocol.response_bytes(200, _JSON, dumps(get(address)))

    return application


_LOADERS: dict[str, Callable[[Settings], Any]] = {"constant": constant, "peer": peer}


def _load(name: str, settings: Settings) -> Any:
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
        server = Granian(name, interface=Interfaces.RSGI, **granian_options(settings))
        server.serve(target_loader=partial(_load, name, settings), wrap_loader=False)


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:7])
