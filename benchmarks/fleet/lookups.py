"""Lookups at the sampled edges while generations come and go; a process for all of them.

An engine watches each store, as a program at the edge does. Every answer must be, byte by byte, the
envelope of the generation that the engine has before and after it; of either where these differ.
Only the current time of an answer is left out. After each rollout the parent waits until the new
generation has answered; in the end it gets the counts.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

import geolookup
from benchmarks.harness import workload
from benchmarks.harness.processes import say

#: The addresses that are asked; half of them have another answer in another generation.
ADDRESSES = 400
_DRAWN = 20_000
#: Seconds between two rounds; a round asks every engine for one address.
_PAUSE = 0.01
_NOW = re.compile(rb'"current_time":(?:null|"[^"]*"),"current_timestamp":\d+,')
Envelopes = Mapping[str, Mapping[str, bytes]]


def without_time(answer: bytes) -> bytes:
    """Return an envelope without the current time."""
    return _NOW.sub(b"", answer)


def envelopes(datasets: Sequence[Path]) -> dict[str, dict[str, bytes]]:
    """Return the answers of each generation by address, for ``ADDRESSES`` addresses."""
    intervals = workload.read(datasets[0], 4)
    addresses = workload.addresses(intervals, "uniform", _DRAWN, hit=True)
    answers_of = {}
    for dataset in datasets:
        with geolookup.open(dataset) as engine:
            answers = {address: without_time(engine.lookup_json(address)) for address in addresses}
            answers_of[engine.generation] = answers
    selection = _select(addresses, answers_of)
    return {
        name: {address: answers[address] for address in selection}
        for name, answers in answers_of.items()
    }


def _select(addresses: Sequence[str], answers_of: Envelopes) -> list[str]:
    different = {
        address for address in addresses if len({of[address] for of in answers_of.values()}) > 1
    }
    same = [address for address in addresses if address not in different]
    return [*sorted(different)[: ADDRESSES // 2], *same[: ADDRESSES // 2]]


class Lookups:
    """Ask the engines in turn, on a thread, until ``stop``."""

    def __init__(self, engines: Sequence[Any], expected: Envelopes) -> None:
        self._engines, self._expected = engines, expected
        self._addresses = list(next(iter(expected.values())))
        self._stop_event = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._thread.start()

    def stop(self) -> None:
        """Ask no more."""
        self._stop_event.set()
        self._thread.join()

    def wait_for(self, generation: str, limit: float) -> None:
        """Wait until a generation has answered, for at most ``limit`` seconds."""
        end = time.monotonic() + limit
        while not self.counts[generation] and time.monotonic() < end:
            time.sleep(_PAUSE)

    def _run(self) -> None:
        rng = np.random.default_rng(1)
        while not self._stop_event.wait(_PAUSE):
            for engine in self._engines:
                self.ask(engine, self._addresses[rng.integers(len(self._addresses))])

    def ask(self, engine: Any, address: str) -> None:
        """Look up an address, and compare the answer."""
        before = engine.generation
        try:
            answer = without_time(engine.lookup_json(address))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is counted
            self._refuse(f"{type(error).__name__}: {error}")
            return
        possible = (before, engine.generation)
        for generation in possible:
            if answer == self._expected.get(generation, {}).get(address):
                self.counts[generation] += 1
                return
        self._refuse(f"{address} is not answered as {' or '.join(possible)} does")

    def _refuse(self, why: str) -> None:
        self.counts["wrong"] += 1
        self.wrong.append(why)


def main(plan_file: Path) -> None:
    """Open the stores and look up in them; obey the parent until it asks for the counts."""
    plan = json.loads(plan_file.read_text(encoding="utf-8"))
    with ExitStack() as stack:
        engines = [
            stack.enter_context(geolookup.open(store, watch=plan["watch"]))
            for store in plan["stores"]
        ]
        lookups = Lookups(engines, envelopes([Path(path) for path in plan["datasets"]]))
        say({"addresses": ADDRESSES})
        for line in sys.stdin:  # it ends with the parent, too
            command = json.loads(line)
            if not command:
                break
            lookups.wait_for(**command)
            say({})
        lookups.stop()
        say({"counts": lookups.counts, "wrong": lookups.wrong[:5]})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
