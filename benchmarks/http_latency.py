"""How long one lookup takes over HTTP, by one client that waits for each answer."""

from __future__ import annotations

import http.client
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.http_load import running
from geolookup.gate import open_accounts
from geolookup.http.application import PATH

_PLANS = "[plan.fast]\nrate = 1000000\n"


def times_over_http(dataset: Path, addresses: Sequence[str]) -> list[float]:
    """Return the milliseconds of each lookup on one connection, the first request included."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        plans, store = folder / "plans.toml", f"sqlite:///{folder / 'accounts.db'}"
        plans.write_text(_PLANS, encoding="utf-8")
        with open_accounts(store, plans) as accounts:
            headers = {"X-API-Key": accounts.create_key("target", "fast")}
        with running("geolookup", dataset, store, plans) as server:
            return _times(server.port, headers, addresses)


def _times(port: int, headers: dict[str, str], addresses: Sequence[str]) -> list[float]:
    clock, found = time.perf_counter_ns, []
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as line:
        for address in addresses:
            began = clock()
            line.request("GET", f"{PATH}?ip={address}", headers=headers)
            answer = line.getresponse()
            answer.read()
            found.append((clock() - began) / 1e6)
            if answer.status != 200:
                raise AssertionError(f"status {answer.status}")
    return found
