"""The pages of the admin port: health and metrics, for probes and Prometheus.

``/livez`` is 200 while the server runs and replaces silent workers. ``/readyz`` is 200 if a worker
accepts requests and can use the account store, and every worker has a recent heartbeat. Further
lines name silent workers and the last update of the store. ``/metrics`` shows the counters.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from geolookup.contract.gregorian import read_timestamp
from geolookup.http.admin_port import PLAIN, Page
from geolookup.http.heartbeats import LATE, LOST, Watchdog, runs
from geolookup.http.metrics import CONTENT_TYPE, ENDED, SERVING, Reading, exposition, head, readings
from geolookup.store import paths
from geolookup.updates.state import OUTCOMES, State, read_state


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
                return page._replace(text=page.text + update_readiness(self._state()))
            case "/metrics":
                text = exposition(list(readings(self._folder)), self._living())
                return Page(200, CONTENT_TYPE, text + update_metrics(self._state()))
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

    def _state(self) -> State:
        return read_state(self._dataset or paths.user_store())

    def _living(self) -> list[Reading]:
        return [
            reading
            for reading in readings(self._folder)
            if reading.state != ENDED and runs(reading.process)
        ]


def update_readiness(state: State) -> str:
    """Return a line about the updates of a store; empty if it was never updated."""
    if not state.source:
        return ""
    failures = f"{state.failures} failed in a row, " if state.failures else ""
    return f"updates: {failures}last success {state.succeeded_at or 'never'}\n"


def update_metrics(state: State) -> str:
    """Return the updates of a store as Prometheus text; empty if it was never updated."""
    return "".join(f"{line}\n" for line in _update_lines(state)) if state.source else ""


def _update_lines(state: State) -> Iterator[str]:
    runs = "geolookup_update_runs_total"
    yield from head(runs, "counter", "Updates of the store, by outcome.")
    for outcome in OUTCOMES:
        yield f'{runs}{{outcome="{outcome}"}} {state.counts.get(outcome, 0)}'
    info = "geolookup_update_generation_info"
    yield from head(info, "gauge", "Generation after the last update that succeeded.")
    yield f'{info}{{generation="{state.generation}"}} 1'
    for name, kind, text, value in (
        ("failures", "gauge", "Updates that failed since the last success.", state.failures),
        ("downloaded_bytes_total", "counter", "Bytes of sources and mirrors.", state.bytes),
        ("last_success_timestamp_seconds", "gauge", "0 for never.", _seconds(state.succeeded_at)),
        ("last_failure_timestamp_seconds", "gauge", "0 for never.", _seconds(state.failed_at)),
    ):
        full = f"geolookup_update_{name}"
        yield from (*head(full, kind, text), f"{full} {value:.0f}")


def _seconds(time_text: str) -> float:
    return read_timestamp(time_text).timestamp() if time_text else 0.0
