"""How the polls of a followed mirror went, for the admin port: a line for probes, and metrics."""

from __future__ import annotations

from collections.abc import Iterator

from geolookup.contract.gregorian import read_timestamp
from geolookup.mirrors.polling import RESULTS, Status


def readiness(status: Status) -> str:
    """Return a line about the polls of a store; empty if it follows no mirror."""
    if not status.polled_at:
        return ""
    failed = f"{status.failures} failed polls in a row, " if status.failures else ""
    return f"following: {failed}last success {status.succeeded_at or 'never'}\n"


def metrics(status: Status) -> str:
    """Return the polls of a store as Prometheus text; empty if it follows no mirror."""
    if not status.polled_at:
        return ""
    return "".join(f"{line}\n" for line in _lines(status))


def _lines(status: Status) -> Iterator[str]:
    polls = "geolookup_follow_polls_total"
    yield from (f"# HELP {polls} Polls of the mirror, by result.", f"# TYPE {polls} counter")
    for result in RESULTS:
        yield f'{polls}{{result="{result}"}} {status.polls.get(result, 0)}'
    for name, (kind, text, value) in _numbers(status).items():
        full = f"geolookup_follow_{name}"
        yield from (f"# HELP {full} {text}", f"# TYPE {full} {kind}", f"{full} {value:.0f}")
    info = "geolookup_follow_generation_info"
    yield from (f"# HELP {info} Current generation of the store.", f"# TYPE {info} gauge")
    yield f'{info}{{generation="{status.generation}"}} 1'


def _numbers(status: Status) -> dict[str, tuple[str, str, float]]:
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
