"""The server process: checks the settings, starts Granian, hands signals on as orders.

Strategy: Granian owns workers, sockets and their end. It starts a worker again that died, and ends
with status 1 if it dies twice in 5 seconds: then systemd or Kubernetes starts the service again. On
SIGHUP the workers reload in place, so no connection closes. On SIGTERM they answer for the drain
time with ``Connection: close``; then Granian stops them after the requests in progress.
"""

from __future__ import annotations

import logging
import signal
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

from granian import Granian
from granian.constants import HTTPModes, Interfaces, RuntimeModes
from granian.http import HTTP1Settings
from granian.log import LogLevels

from geolookup.errors import SettingsError
from geolookup.http.checks import check
from geolookup.http.granian_private import run_worker
from geolookup.http.settings import HEAD_LIMIT, HEAD_TIMEOUT, Settings
from geolookup.http.shared import Orders, Shared
from geolookup.http.watchdog import Watchdog
from geolookup.http.worker import load

#: Connections that wait to be accepted, for each worker; the system may allow fewer.
_BACKLOG = 4_096
#: Seconds until a worker that does not stop is killed.
_KILL_AFTER = 10
_log = logging.getLogger("geolookup.http")


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; see ``geolookup.http.serve``."""
    check(settings)
    shared = Shared(settings.workers)
    watchdog = Watchdog(shared)
    if settings.admin is not None:
        from geolookup.http.admin import Admin

        Admin(settings.admin, shared, watchdog, settings.dataset)
    watchdog.start()
    server: Any = _granian(settings)
    server.on_startup(lambda: _install_signals(server, shared.orders, settings.drain))
    server.serve(run_worker, partial(load, settings, shared), wrap_loader=False)


def _granian(settings: Settings) -> Any:
    try:
        return Granian(
            "geolookup",
            interface=Interfaces.RSGI,
            respawn_failed_workers=True,
            workers_kill_timeout=_KILL_AFTER,
            **granian_options(settings),
        )
    except OSError as error:  # it reads the certificate
        raise SettingsError(
            f"{settings.tls_certificate} and {settings.tls_key} are not a certificate and its key:"
            f" {error.strerror}; name two PEM files"
        ) from None


def granian_options(settings: Settings) -> dict[str, Any]:
    """Return the options of a Granian server for any application."""
    return {
        "address": settings.host,
        "port": settings.port,
        "workers": settings.workers,
        # One thread for the sockets of a worker, as many as it has for Python.
        "runtime_mode": RuntimeModes.st,
        # The drain uses ``Connection: close``; HTTP/2 has no such header.
        "http": HTTPModes.http1,
        "http1_settings": HTTP1Settings(
            header_read_timeout=HEAD_TIMEOUT, max_buffer_size=HEAD_LIMIT
        ),
        "backlog": _BACKLOG,
        "backpressure": settings.connections,
        "websockets": False,
        "ssl_cert": settings.tls_certificate and Path(settings.tls_certificate),
        "ssl_key": settings.tls_key and Path(settings.tls_key),
        "log_level": LogLevels(settings.log_level),
        "log_dictconfig": _logging(settings.log_level),
    }


def _install_signals(server: Any, orders: Orders, drain: float) -> None:
    """Replace Granian's handlers of SIGHUP, which restarts workers, and SIGTERM."""

    def reload(*_signal: object) -> None:
        orders.reloads += 1

    def stop(*_signal: object) -> None:
        _log.info("stopping in %g seconds", drain)
        orders.drain = True
        timer = Timer(drain, server.signal_handler_interrupt)
        timer.daemon = True
        timer.start()

    signal.signal(signal.SIGHUP, reload)
    signal.signal(signal.SIGTERM, stop)


def _logging(level: str) -> dict[str, Any]:
    """Return the logging configuration: one line per record on standard error."""
    line = "%(asctime)s [%(levelname)s] %(message)s"
    logger = {"handlers": ["console"], "propagate": False}
    return {
        "formatters": {"line": {"format": line, "datefmt": "%Y-%m-%d %H:%M:%S %z"}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "loggers": {
            "_granian": {**logger, "level": "INFO"},
            "geolookup": {**logger, "level": level.upper()},
            "geolookup.access": {"level": "INFO"},
        },
    }
