"""The service: the contract over HTTP, ``GET /v1/geo/lookup`` and nothing else.

Strategy: Granian owns sockets, TLS and worker processes (``server``); the watchdog kills silent
ones (``watchdog``). Each worker opens its own engine and accounts (``worker``) and answers from one
function (``application``): key, then address, then bytes from ``lookup_json``. Orders and counters
are in shared memory (``shared``); the admin port shows them (``admin``, ``metrics``).
"""

from __future__ import annotations

from geolookup.http.settings import Settings

__all__ = ["Settings", "serve"]


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; SIGHUP reloads the dataset and the plans.

    Raises DatasetError, AccountsError, PlansError or SettingsError before the
    first request is accepted.
    """
    from geolookup.http.server import run

    run(settings)
