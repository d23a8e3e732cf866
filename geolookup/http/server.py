"""The server process: checks the settings, starts Granian, forwards signals to the workers.

Strategy: on SIGHUP the workers reload in place, so no connection closes. On SIGTERM they
answer for the drain time with ``Connection: close``; then Granian stops them after the
requests in progress. ``supervision`` replaces dead workers.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any

from granian.constants import HTTPModes, Interfaces, RuntimeModes
from granian.http import HTTP1Settings
from granian.log import LogLevels

import geolookup
from geolookup.contract.proxies import TrustedProxies
from geolookup.errors import SettingsError
from geolookup.gate import open_accounts
from geolookup.http.cors import Origins
from geolookup.http.heartbeats import Heartbeats, Watchdog
from geolookup.http.own import check_own_columns
from geolookup.http.settings import HEAD_LIMIT, HEAD_TIMEOUT, Settings, connections
from geolookup.http.supervision import KILL_AFTER, Supervisor, hold_while_forking
from geolookup.http.worker import DRAIN, RELOAD, load

#: Connections that wait to be accepted, for each worker; the system may allow fewer.
_BACKLOG = 4_096
#: Seconds until a worker that has not ended gets its SIGTERM again.
_REPEAT = 0.5
_log = logging.getLogger("geolookup.http")


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; see ``geolookup.http.serve``."""
    _check_settings(settings)
    with ExitStack() as stack:
        _check_stores(settings)
        folder, watchdog = _shared_folder(stack, settings.workers)
        if settings.admin is not None:
            from geolookup.http.admin import Admin
            from geolookup.http.admin_port import AdminPort

            pages = Admin(folder, settings.dataset, watchdog)
            stack.enter_context(AdminPort(settings.admin, pages.page))
        server = granian_for(settings)
        watchdog.start(server.processes)
        server.on_startup(lambda: _install_signals(server, settings.drain))
        server.run(partial(load, settings, folder))


def _shared_folder(stack: ExitStack, workers: int) -> tuple[Path, Watchdog]:
    """Return the folder that server and workers share, and the watchdog of the workers."""
    try:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="geolookup-")))
        return folder, Watchdog(Heartbeats(folder, workers))
    except OSError as error:
        raise SettingsError(
            f"cannot write a temporary folder: {error.strerror}; set TMPDIR to a folder with room"
        ) from None


def granian_for(settings: Settings) -> Supervisor:
    """Return a Granian server, not yet started."""
    return Supervisor("geolookup", interface=Interfaces.RSGI, **granian_options(settings))


def granian_options(settings: Settings) -> dict[str, Any]:
    """Return the options of a Granian server, all but its interface."""
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
        "backpressure": connections(settings.connections),
        "websockets": False,
        "workers_kill_timeout": KILL_AFTER,
        "ssl_cert": _path(settings.tls_certificate),
        "ssl_key": _path(settings.tls_key),
        "log_level": LogLevels(settings.log_level),
        "log_dictconfig": _logging(settings.log_level),
    }


def _path(file: str | None) -> Path | None:
    return None if file is None else Path(file)


def _check_settings(settings: Settings) -> None:
    """Check the settings once, before the start of the workers."""
    TrustedProxies(settings.trusted_proxies, setting="--trusted-proxy")
    Origins(settings.cors)
    connections(settings.connections)
    _check_tls(settings)


def _check_stores(settings: Settings) -> None:
    """Open the dataset and the accounts once here, rather than in every worker."""
    opening = {**settings.opening, "watch": None}
    with (
        geolookup.open(settings.dataset, **opening, fallback=True) as engine,
        open_accounts(settings.accounts, settings.plans) as accounts,
    ):
        if settings.own:
            check_own_columns(engine)
        accounts.usage()
        warning = accounts.check_durability()
        if warning is not None:
            _log.warning("%s", warning)
    check_free(settings.host, settings.port)


def _check_tls(settings: Settings) -> None:
    certificate, key = settings.tls_certificate, settings.tls_key
    if certificate is None and key is None:
        return
    if certificate is None or key is None:
        raise SettingsError("TLS needs both; give --tls-certificate and --tls-key")
    for file in (certificate, key):
        if Path(file).exists() and not Path(file).is_file():  # opening a FIFO would wait
            raise SettingsError(f"{file} is not a regular file; name a PEM file")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except OSError as error:
        raise SettingsError(
            f"{certificate} and {key} are not a certificate and its key: {error.strerror};"
            " name two PEM files"
        ) from None


def check_free(host: str, port: int) -> None:
    """Raise SettingsError if the port is not free.

    Granian lets several servers share a port, so a second one started by mistake
    would receive half of the requests.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
        # Else connections in TIME_WAIT, of a server that has ended, would occupy the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise SettingsError(
                f"{host} port {port}: {error.strerror or error}; choose another"
            ) from None


def _install_signals(server: Supervisor, drain: float) -> None:
    """Replace Granian's handlers of SIGHUP and SIGTERM.

    A forked worker inherits them until it installs its own. Until then it has no dataset to
    reload, so it ignores SIGHUP, and no request to finish, so SIGTERM ends it at once.
    """

    def on(signum: int, act: Callable[[], None], in_worker: Callable[[], None]) -> None:
        # A forked worker inherits the handler; ``own`` is the process of the server.
        signal.signal(signum, lambda *_: act() if os.getpid() == own else in_worker())

    own = os.getpid()
    on(signal.SIGHUP, lambda: _signal_workers(RELOAD), lambda: None)
    on(signal.SIGTERM, lambda: _drain(server, drain), _end_at_once)
    hold_while_forking(signal.SIGTERM)
    # Ignored until a worker installs its handler: nothing to drain yet.
    signal.signal(DRAIN, signal.SIG_IGN)


def _end_at_once() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _drain(server: Supervisor, seconds: float) -> None:
    _log.info("stopping in %g seconds", seconds)
    _signal_workers(DRAIN)
    timer = Timer(seconds, _end, (server,))
    timer.daemon = True
    timer.start()


def _end(server: Supervisor) -> None:
    """End the server, and repeat its SIGTERM until the workers have ended.

    uvloop can lose a signal that comes between two runs of its loop; a worker begins with two.
    """
    server.signal_handler_interrupt()  # type: ignore[no-untyped-call]
    workers: list[Any] = server.wrks  # Granian clears it when all have ended
    while workers:
        time.sleep(_REPEAT)
        for worker in list(workers):
            worker.terminate()


def _signal_workers(signum: int) -> None:
    for worker in multiprocessing.active_children():
        if worker.pid is not None:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(worker.pid, signum)


def _is_informative(record: logging.LogRecord) -> bool:
    """Return whether to log a record: Granian's last line repeats the one before."""
    return not record.getMessage().startswith("Granian shutdown completed")


def _logging(level: str) -> dict[str, Any]:
    """Return the logging configuration: one line per record on standard error."""
    return {
        "handlers": {
            name: {
                "class": "logging.StreamHandler",
                "formatter": form,
                "stream": "ext://sys.stderr",
                "filters": [_is_informative],
            }
            for name, form in (("console", "generic"), ("access", "access"))
        },
        "loggers": {
            "_granian": {"handlers": ["console"], "level": "INFO", "propagate": False},
            "geolookup.access": {"handlers": ["access"], "level": "INFO", "propagate": False},
            "geolookup": {"handlers": ["console"], "level": level.upper(), "propagate": False},
        },
    }
