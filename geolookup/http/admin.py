"""The admin port: health and metrics, for probes and Prometheus.

``/livez``: the server runs. ``/readyz``: at least one worker accepts requests and can use the
account store; a second line says how the polls of a followed mirror went.
``/metrics``: the counters. A thread of the server process answers.
"""

from __future__ import annotations

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import AF_INET, AF_INET6
from threading import Thread
from types import TracebackType
from typing import Any, ClassVar

from geolookup.errors import SettingsError
from geolookup.http import follow_status
from geolookup.http.metrics import CONTENT_TYPE, ENDED, SERVING, Reading, exposition, readings
from geolookup.mirrors.polling import Status, read_status
from geolookup.store import resolve

_PLAIN = "text/plain; charset=utf-8"


class Admin:
    """The admin port; a context manager. Raises SettingsError if it cannot listen."""

    def __init__(self, where: str, folder: Path, dataset: str | None) -> None:
        host, port = _address(where)
        handler = type("Handler", (_Handler,), {"folder": folder, "dataset": dataset})
        kind = type("Server", (_Server,), {"address_family": AF_INET6 if ":" in host else AF_INET})
        try:
            self._server = kind((host, port), handler)
        except OSError as error:
            raise SettingsError(
                f"--admin {where}: {error.strerror or error}; choose another port"
            ) from None
        self._thread = Thread(
            target=self._server.serve_forever, name="geolookup-admin", daemon=True
        )

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing: a probe that disconnects is not an error."""


class _Handler(BaseHTTPRequestHandler):
    folder: ClassVar[Path]
    dataset: ClassVar[str | None]
    #: Seconds until a silent client is disconnected.
    timeout = 5

    def do_GET(self) -> None:
        """Answer one of the three paths."""
        if self.path == "/livez":
            self._send(200, _PLAIN, "alive\n")
        elif self.path == "/readyz":
            ready = any(each.state == SERVING and not each.unusable for each in self._living())
            text = ("ready\n" if ready else "not ready\n") + follow_status.readiness(self._status())
            self._send(200 if ready else 503, _PLAIN, text)
        elif self.path == "/metrics":
            text = exposition(list(readings(self.folder)), self._living())
            self._send(200, CONTENT_TYPE, text + follow_status.metrics(self._status()))
        else:
            self._send(404, _PLAIN, "")

    def _status(self) -> Status:
        return read_status(self.dataset or resolve.user_store())

    def _living(self) -> list[Reading]:
        return [
            each for each in readings(self.folder) if each.state != ENDED and _runs(each.process)
        ]

    def _send(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        """Log nothing."""


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _address(where: str) -> tuple[str, int]:
    host, _, port = where.rpartition(":")
    if not host or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise SettingsError(f"--admin {where!r}: write HOST:PORT, like 127.0.0.1:9090 or [::]:9090")
    return host.strip("[]"), int(port)
