"""The rate of a download is held below a highest one, by the sleeps that are asked for."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from geolookup_builder.remote.pace import Pace
from geolookup_builder.remote.protocol import Limits, TransientError

from tests.builder.remote.serving import FAST, fetched, file, serving
from tests.conftest import ROOT


class Clock:
    """A clock that only sleeping, and a test, move on."""

    def __init__(self) -> None:
        self.now, self.slept = 1000.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(time, "sleep", clock.sleep)
    return clock


def test_the_highest_and_the_lowest_rate(clock: Clock) -> None:
    pace = Pace(Limits(fastest=1000))
    for received in (500, 1000, 4000):
        pace.keep(received)
    assert clock.slept == pytest.approx([0.5, 0.5, 3.0])
    pace = Pace(Limits(fastest=1000))
    for received in range(500, 5000, 500):
        clock.now += 0.6
        pace.keep(received)
    Pace(Limits()).keep(1 << 40)  # without a highest rate
    assert len(clock.slept) == 3
    pace = Pace(Limits(fastest=1000))
    clock.now += 50  # a silence, made up for by one second of bytes
    pace.keep(10_000)
    assert clock.slept[3:] == pytest.approx([9.0])
    # Waiting does not count as a slow server.
    clock.slept.clear()
    pace = Pace(Limits(fastest=2000, pace_over=10.0))
    for received in range(0, 200_000, 4000):
        pace.keep(received)
    assert sum(clock.slept) == pytest.approx(98.0)
    pace = Pace(Limits(pace_over=10.0))
    clock.now += 10
    with pytest.raises(TransientError, match="fewer than 1,024 bytes"):
        pace.keep(10_000)


def test_a_download_asks_for_its_sleeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("geolookup_builder.remote.pace.time.sleep", slept.append)
    content = b"x" * 1_000_000
    with serving(file(content)) as site:
        found = fetched(f"{site.url}/a.csv", tmp_path, "", replace(FAST, fastest=1 << 10))
    assert found.kept.bytes == len(content)
    assert max(slept) > 900  # nothing slept, so that the last bytes are due after 976 seconds


_LIGHT = """
import sys
import geolookup_builder.remote.transfer, geolookup_builder.remote.web
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_a_download_from_a_web_server_loads_no_arrow() -> None:
    command = [sys.executable, "-c", _LIGHT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"numpy", "pyarrow"} & set(done.stdout.split())
