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

from prometheus_client import generate_latest
from prometheus_client.core import (
    CollectorRegistry,
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.registry import Collector

from geolookup.contract.gregorian import read_timestamp
from geolookup.http.answers import KEY_REFUSALS, OUTCOMES
from geolookup.http.shared import BOUNDS, Shared
from geolookup.updates.state import OUTCOMES as UPDATE_OUTCOMES
from geolookup.updates.state import State

Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily


class _Metrics(Collector):
    """The metrics of the service, and of the updates of its store if it was ever updated."""

    def __init__(self, shared: Shared, updates: State) -> None:
        self._shared, self._updates = shared, updates

    def collect(self) -> Iterator[Family]:
        yield from self._requests()
        yield self._latency()
        yield from self._datasets()
        if self._updates.source:
            yield from _updates(self._updates)

    def _requests(self) -> Iterator[Family]:
        counts = _sums([slot.outcomes for slot in self._shared.slots])
        text = "Requests by HTTP status and contract code."
        labels = ["status", "code"]
        yield _filled(
            CounterMetricFamily("geolookup_http_requests", text, labels=labels),
            (
                ([outcome.status, outcome.code or ""], counts[outcome.counter])
                for outcome in OUTCOMES
            ),
        )
        text = "Requests refused by the gate, by reason."
        yield _filled(
            CounterMetricFamily("geolookup_http_keys_refused", text, labels=["reason"]),
            (([reason], counts[outcome.counter]) for reason, outcome in KEY_REFUSALS.items()),
        )

    def _latency(self) -> Family:
        slots = self._shared.slots
        # Buckets of Prometheus are cumulative: 5 2 1 -> 5 7 8.
        counts = accumulate(_sums([slot.durations for slot in slots]))
        return HistogramMetricFamily(
            "geolookup_http_request_duration_seconds",
            "Time from a request to its answer, inside the worker.",
            buckets=list(zip((*map(str, BOUNDS), "+Inf"), counts, strict=True)),
            sum_value=sum(slot.nanoseconds for slot in slots) / 1e9,
        )

    def _datasets(self) -> Iterator[Family]:
        serving = [(slot.generation.decode(), slot.written) for slot in self._shared.serving()]
        workers = Counter(generation for generation, _ in serving)
        text = "Workers that answer from a generation of the dataset."
        yield _filled(
            GaugeMetricFamily("geolookup_dataset_workers", text, labels=["generation"]),
            (([generation], count) for generation, count in sorted(workers.items())),
        )
        text, now = "Time since the dataset's manifest was written here.", time.time()
        yield _filled(
            GaugeMetricFamily("geolookup_dataset_age_seconds", text, labels=["generation"]),
            # A clock that was set back must not give a negative age.
            (([generation], max(0.0, now - written)) for generation, written in sorted({*serving})),
        )


def _updates(state: State) -> Iterator[Family]:
    text = "Updates of the store, by outcome."
    yield _filled(
        CounterMetricFamily("geolookup_update_runs", text, labels=["outcome"]),
        (([outcome], state.counts.get(outcome, 0)) for outcome in UPDATE_OUTCOMES),
    )
    text = "Generation after the last update that succeeded."
    yield _filled(
        GaugeMetricFamily("geolookup_update_generation_info", text, labels=["generation"]),
        [([state.generation], 1)],
    )
    text = "Bytes of sources and mirrors."
    yield CounterMetricFamily("geolookup_update_downloaded_bytes", text, state.bytes)
    for name, text, value in (
        ("failures", "Updates that failed since the last success.", state.failures),
        ("last_success_timestamp_seconds", "0 for never.", _seconds(state.succeeded_at)),
        ("last_failure_timestamp_seconds", "0 for never.", _seconds(state.failed_at)),
    ):
        yield GaugeMetricFamily(f"geolookup_update_{name}", text, value)


def exposition(shared: Shared, updates: State) -> bytes:
    """Return the text, in version 0.0.4 of Prometheus' format."""
    registry = CollectorRegistry()
    registry.register(_Metrics(shared, updates))
    return generate_latest(registry)


def _filled(
    family: CounterMetricFamily | GaugeMetricFamily,
    samples: Iterable[tuple[Sequence[object], float]],
) -> Family:
    """Return a family with samples: the values of its labels, and a number, each."""
    for labels, value in samples:
        family.add_metric([str(label) for label in labels], value)
    return family


def _sums(rows: Sequence[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def _seconds(time_text: str) -> float:
    return read_timestamp(time_text).timestamp() if time_text else 0.0
