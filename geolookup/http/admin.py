"""The admin port: health and metrics, for probes and Prometheus.

``/livez``: the server runs. ``/readyz``: at least one worker accepts requests and can use the
account store; a second line says how the polls of a followed mirror went.
``/metrics``: the counters. A thread of the server process answers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import AF_INET, AF_INET6
from threading import Thread
from types import TracebackType
from typing import Any, ClassVar

from geolookup.contract.gregorian import read_timestamp
from geolookup.errors import SettingsError
from geolookup.http.metrics import CONTENT_TYPE, ENDED, SERVING, Reading, exposition, readings
from geolookup.mirrors.polling import RESULTS, Status, read_status
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
            ready = any(
                worker.state == SERVING and not worker.unusable for worker in self._living()
            )
            text = ("ready\n" if ready else "not ready\n") + follow_readiness(self._status())
            self._send(200 if ready else 503, _PLAIN, text)
        elif self.path == "/metrics":
            text = exposition(list(readings(self.folder)), self._living())
            self._send(200, CONTENT_TYPE, text + follow_metrics(self._status()))
        else:
            self._send(404, _PLAIN, "")

    def _status(self) -> Status:
        return read_status(self.dataset or resolve.user_store())

    def _living(self) -> list[Reading]:
        return [
            reading
            for reading in readings(self.folder)
            if reading.state != ENDED and _runs(reading.process)
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
        # Signal 0 only asks whether the process exists.
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _address(where: str) -> tuple[str, int]:
    # rpartition: "[::]:9090" has colons in its host.
    host, _, port = where.rpartition(":")
    if not host or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise SettingsError(f"--admin {where!r}: write HOST:PORT, like 127.0.0.1:9090 or [::]:9090")
    return host.strip("[]"), int(port)


def follow_readiness(status: Status) -> str:
    """Return a line about the polls of a store; empty if it follows no mirror."""
    if not status.polled_at:
        return ""
    failed = f"{status.failures} failed polls in a row, " if status.failures else ""
    return f"following: {failed}last success {status.succeeded_at or 'never'}\n"


def follow_metrics(status: Status) -> str:
    """Return the polls of a store as Prometheus text; empty if it follows no mirror."""
    if not status.polled_at:
        return ""
    return "".join(f"{line}\n" for line in _follow_lines(status))


def _follow_lines(status: Status) -> Iterator[str]:
    polls = "geolookup_follow_polls_total"
    yield from (f"# HELP {polls} Polls of the mirror, by result.", f"# TYPE {polls} counter")
    for result in RESULTS:
        yield f'{polls}{{result="{result}"}} {status.polls.get(result, 0)}'
    for name, (kind, text, value) in _follow_numbers(status).items():
        full = f"geolookup_follow_{name}"
        yield from (f"# HELP {full} {text}", f"# TYPE {full} {kind}", f"{full} {value:.0f}")
    info = "geolookup_follow_generation_info"
    yield from (f"# HELP {info} Current generation of the store.", f"# TYPE {info} gauge")
    yield f'{info}{{generation="{status.generation}"}} 1'


def _follow_numbers(status: Status) -> dict[str, tuple[str, str, float]]:
    """Return type, help and value of each metric that is one number."""
    return {
        "failures": ("gauge", "Polls that failed since the last success.", status.failures),
        "downloaded_bytes_total": ("counter", "Bytes of index and archives.", status.bytes),
        "last_poll_timestamp_seconds": ("gauge", "Last poll.", _seconds(status.polled_at)),
        "last_success_timestamp_seconds": (
            *("gauge", "Last poll that succeeded; 0 for never."),
            _seconds(status.succeeded_at),
        ),
    }


def _seconds(time_text: str) -> float:
    return read_timestamp(time_text).timestamp() if time_text else 0.0
