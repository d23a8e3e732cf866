"""The service: the contract over HTTP, ``GET /v1/geo/lookup`` and nothing else.

Strategy: Granian owns sockets, TLS and worker processes (``server``); dead workers are started
again (``supervision``), silent ones are killed (``heartbeats``). Granian, and options of the
socket, limit connections (``listener``). Each worker opens its own engine and accounts
(``worker``) and answers from one function (``application``): key, then address, then bytes from
``lookup_json``.
Counters are in shared memory (``metrics``); the admin port serves them (``admin``).
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
