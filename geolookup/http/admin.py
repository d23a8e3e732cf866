"""The pages of the admin port: health and metrics, for probes and Prometheus.

``/livez`` is 200 while the server runs and replaces silent workers. ``/readyz`` is 200 if a worker
accepts requests and can use the account store, and every worker has a recent heartbeat. Further
lines name silent workers and describe the polls of a mirror. ``/metrics`` shows the counters.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from geolookup.contract.gregorian import read_timestamp
from geolookup.http.admin_port import PLAIN, Page
from geolookup.http.heartbeats import LATE, LOST, Watchdog, runs
from geolookup.http.metrics import CONTENT_TYPE, ENDED, SERVING, Reading, exposition, readings
from geolookup.mirrors.polling import RESULTS, Status, read_status
from geolookup.store import paths


class Admin:
    """The pages, from the counters in a folder, the store and the watchdog."""

    def __init__(self, folder: Path, dataset: str | None, watchdog: Watchdog) -> None:
        self._folder, self._dataset, self._watchdog = folder, dataset, watchdog

    def page(self, path: str) -> Page:
        """Return the page of a path."""
        match path:
            case "/livez":
                return self._health("alive", not self._watchdog.silent_workers(LOST), LOST)
            case "/readyz":
                page = self._health("ready", self._is_ready(), LATE)
                return page._replace(text=page.text + follow_readiness(self._status()))
            case "/metrics":
                text = exposition(list(readings(self._folder)), self._living())
                return Page(200, CONTENT_TYPE, text + follow_metrics(self._status()))
            case _:
                return Page(404, PLAIN, "")

    def _health(self, word: str, is_well: bool, limit: int) -> Page:
        lines = [word if is_well else f"not {word}"]
        for worker, seconds in sorted(self._watchdog.silent_workers(limit).items()):
            lines.append(f"worker-{worker + 1} is silent for {seconds} seconds")
        return Page(200 if is_well else 503, PLAIN, "".join(f"{line}\n" for line in lines))

    def _is_ready(self) -> bool:
        """Return whether each worker that the system can choose answers a new connection."""
        serves = any(
            reading.state == SERVING and not reading.unusable for reading in self._living()
        )
        return serves and not self._watchdog.silent_workers(LATE)

    def _status(self) -> Status:
        return read_status(self._dataset or paths.user_store())

    def _living(self) -> list[Reading]:
        return [
            reading
            for reading in readings(self._folder)
            if reading.state != ENDED and runs(reading.process)
        ]


def follow_readiness(status: Status) -> str:
    """Return a line about the polls of a store; empty if it follows no mirror."""
    if not status.polled_at:
        return ""
    failures = f"{status.failures} failed polls in a row, " if status.failures else ""
    return f"following: {failures}last success {status.succeeded_at or 'never'}\n"


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
