"""Counters of all workers as Prometheus text (exposition format 0.0.4)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from geolookup.http.counters import BOUNDS, Reading
from geolookup.http.outcomes import KEY_REFUSALS, OUTCOMES

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(ever: Sequence[Reading], living: Sequence[Reading]) -> str:
    """Return the text: totals over all workers there have been, datasets of those that live."""
    outcomes = _sums([each.outcomes for each in ever], len(OUTCOMES))
    lines = (*_requests(outcomes), *_refusals(outcomes), *_latency(ever), *_datasets(living))
    return "".join(f"{line}\n" for line in lines)


def _sums(rows: Sequence[Sequence[int]], width: int) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)] or [0] * width


def _head(name: str, kind: str, said: str) -> Iterator[str]:
    yield f"# HELP {name} {said}"
    yield f"# TYPE {name} {kind}"


def _requests(outcomes: Sequence[int]) -> Iterator[str]:
    name = "geolookup_http_requests_total"
    yield from _head(name, "counter", "Requests by HTTP status and contract code.")
    for outcome, count in zip(OUTCOMES, outcomes, strict=True):
        yield f'{name}{{status="{outcome.status}",code="{outcome.code or ""}"}} {count}'


def _refusals(outcomes: Sequence[int]) -> Iterator[str]:
    name = "geolookup_http_keys_refused_total"
    yield from _head(name, "counter", "Requests refused for their key, by reason.")
    for reason, outcome in KEY_REFUSALS.items():
        yield f'{name}{{reason="{reason}"}} {outcomes[outcome.place]}'


def _latency(ever: Sequence[Reading]) -> Iterator[str]:
    name = "geolookup_http_request_duration_seconds"
    yield from _head(name, "histogram", "Time from a request to its answer, inside the worker.")
    counts = list(accumulate(_sums([each.buckets for each in ever], len(BOUNDS) + 1)))
    for bound, count in zip((*BOUNDS, "+Inf"), counts, strict=True):
        yield f'{name}_bucket{{le="{bound}"}} {count}'
    yield f"{name}_sum {sum(each.nanoseconds for each in ever) / 1e9}"
    yield f"{name}_count {counts[-1]}"


def _datasets(living: Sequence[Reading]) -> Iterator[str]:
    name = "geolookup_dataset_workers"
    yield from _head(name, "gauge", "Workers that answer from a generation of the dataset.")
    for generation, count in sorted(Counter(each.generation for each in living).items()):
        yield f'{name}{{generation="{generation}"}} {count}'
    name = "geolookup_dataset_age_seconds"
    yield from _head(name, "gauge", "Time since the dataset's manifest was written here.")
    now = time.time()
    for generation, written in sorted({(each.generation, each.written) for each in living}):
        yield f'{name}{{generation="{generation}"}} {max(0.0, now - written):.0f}'
