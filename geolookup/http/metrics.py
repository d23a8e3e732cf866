"""All metrics, as text for Prometheus. They contain no address.

Strategy: workers count in shared memory (``shared``), a batch at a time; a collector reads it here,
and ``prometheus_client`` writes the text. A client that has its answer finds it counted. The
multiprocess mode of ``prometheus_client`` is not used: one observation there takes as long as a
batch here, each worker process leaves files, and a full disk ends the worker with SIGBUS.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from prometheus_client import Metric, generate_latest
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

from geolookup.contract.gregorian import read_timestamp
from geolookup.http.answers import OUTCOMES
from geolookup.http.shared import BOUNDS, Shared
from geolookup.updates.state import OUTCOMES as UPDATE_OUTCOMES
from geolookup.updates.state import State


class _Metrics(Collector):
    """The metrics of the service, and of the updates of its store if it was ever updated."""

    def __init__(self, shared: Shared, updates: State) -> None:
        self._shared, self._updates = shared, updates

    def collect(self) -> Iterator[Metric]:
        yield from _requests(_sums([slot.outcomes for slot in self._shared.slots]))
        yield _latency(self._shared)
        yield from _datasets(self._shared)
        if self._updates.source:
            yield from _updates(self._updates)


def exposition(shared: Shared, updates: State) -> bytes:
    """Return the text, in version 0.0.4 of Prometheus' format."""
    return generate_latest(_Metrics(shared, updates))


def _requests(counts: Sequence[int]) -> Iterator[Metric]:
    text = "Requests by HTTP status and contract code."
    labels = [(str(outcome.status), str(outcome.code or "")) for outcome in OUTCOMES]
    by_code = zip(labels, counts, strict=True)
    yield _metric("counter", "http_requests", text, ("status", "code"), by_code)


def _latency(shared: Shared) -> Metric:
    # Buckets of Prometheus are cumulative: 5 2 1 -> 5 7 8.
    counts = accumulate(_sums([slot.durations for slot in shared.slots]))
    return HistogramMetricFamily(
        "geolookup_http_request_duration_seconds",
        "Time from a request to its answer, inside the worker.",
        buckets=list(zip((*map(str, BOUNDS), "+Inf"), counts, strict=True)),
        sum_value=sum(slot.nanoseconds for slot in shared.slots) / 1e9,
    )


def _datasets(shared: Shared) -> Iterator[Metric]:
    serving = list(shared.serving())
    text = "Workers that answer from a generation of the dataset."
    workers = Counter((slot.generation.decode(),) for slot in serving)
    yield _metric("gauge", "dataset_workers", text, ("generation",), workers.items())
    text = "Time since the date of the oldest source that decides an answer; none if undated."
    dated, now = [slot for slot in serving if slot.data_date], time.time()
    # A clock that was set back must not give a negative age.
    ages = {(slot.generation.decode(),): max(0.0, now - slot.data_date) for slot in dated}
    yield _metric("gauge", "dataset_age_seconds", text, ("generation",), ages.items())


def _updates(state: State) -> Iterator[Metric]:
    text = "Updates of the store, by outcome."
    runs = {(outcome,): state.counts.get(outcome, 0) for outcome in UPDATE_OUTCOMES}
    yield _metric("counter", "update_runs", text, ("outcome",), runs.items())
    text = "Generation after the last update that succeeded."
    generations = [((state.generation,), 1)]
    yield _metric("gauge", "update_generation_info", text, ("generation",), generations)
    for kind, name, text, value in (
        ("gauge", "failures", "Updates that failed since the last success.", state.failures),
        ("counter", "downloaded_bytes", "Bytes of sources and mirrors.", state.bytes),
        ("gauge", "last_success_timestamp_seconds", "0 for never.", _seconds(state.succeeded_at)),
        ("gauge", "last_failure_timestamp_seconds", "0 for never.", _seconds(state.failed_at)),
    ):
        yield _metric(kind, f"update_{name}", text, (), [((), value)])


def _metric(
    kind: str,
    name: str,
    text: str,
    labels: tuple[str, ...],
    values: Iterable[tuple[tuple[str, ...], float]],
) -> Metric:
    """Return a metric with a value for each of several contents of its labels."""
    metric = Metric(f"geolookup_{name}", text, kind)
    suffix = "_total" if kind == "counter" else ""
    for contents, value in values:
        pairs = dict(zip(labels, contents, strict=True))
        metric.add_sample(metric.name + suffix, pairs, value)
    return metric


def _sums(rows: Sequence[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def _seconds(time_text: str) -> float:
    return read_timestamp(time_text).timestamp() if time_text else 0.0
