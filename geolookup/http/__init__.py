"""The service: the contract over HTTP, ``GET /v1/geo/lookup`` and nothing else.

Strategy: Granian owns sockets, TLS and worker processes (``server``). Each
worker opens the dataset and the accounts for itself (``worker``) and answers
from one function (``application``): key, then address, then bytes from
``lookup_json``. What may be counted is kept in shared memory (``counters``)
and shown on a port of its own (``admin``).
"""

from __future__ import annotations

from geolookup.http.settings import Settings

__all__ = ["Settings", "serve"]


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; SIGHUP takes up a new dataset and new plans.

    Raises DatasetError, AccountsError, PlansError or SettingsError before the
    first request is taken.
    """
    from geolookup.http.server import run

    run(settings)
