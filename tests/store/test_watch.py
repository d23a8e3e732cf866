"""Watching: changes are taken up, refusals said once, and threads end with their engine."""

from __future__ import annotations

import gc
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import geolookup
from geolookup.store import follow
from geolookup.store.publish import publish
from tests.conftest import ROOT, build_at
from tests.store.numbered import id_of, number, numbered, shared

SOON = 0.01


def eventually(met: Callable[[], bool]) -> bool:
    """Wait for something to be so; a minute is forever."""
    end = time.monotonic() + 60
    while not met() and time.monotonic() < end:
        time.sleep(SOON)
    return met()


def watchers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "geolookup-watch"}


def test_a_published_generation_is_taken_up(store: Path) -> None:
    with geolookup.open(store, watch=SOON) as engine:
        for wanted in (2, 3, 0):
            publish(shared(wanted), store)
            assert eventually(lambda wanted=wanted: number(engine) == wanted)  # type: ignore[misc]


def test_a_dataset_replaced_in_its_place_is_taken_up(tmp_path: Path) -> None:
    place = numbered(tmp_path / "n", 1)
    with geolookup.open(place, watch=SOON) as engine, geolookup.open(place) as other:
        assert not other.reload()
        build_at(place.parent, {"a.csv": "network,city_name,isp\n8.8.8.0/24,Town 5,Carrier 5\n"})
        assert eventually(lambda: number(engine) == 5)
        assert number(other) == 1
        assert other.reload()
        assert number(other) == 5


def test_a_refusal_is_said_once_and_a_good_one_taken_up(
    store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with geolookup.open(store, watch=SOON) as engine:
        publish(shared(2), store, copy=True)
        assert eventually(lambda: number(engine) == 2)
        publish(shared(3), store, copy=True)
        assert eventually(lambda: number(engine) == 3)
        (store / "generations" / id_of(2) / "zone.arrow").unlink()
        pointer = (store / "current").read_text()
        other = pointer.replace(id_of(3), "f" * 64)
        for text in (other, other + " ", other + "  ", pointer):
            (store / ".next").write_text(text)
            (store / ".next").rename(store / "current")
            assert engine._watch is not None
            watch = engine._watch  # it has seen the change
            assert eventually(lambda watch=watch: watch._seen == follow.signature(str(store)))  # type: ignore[misc]
            assert number(engine) == 3
        publish(shared(4), store)
        assert eventually(lambda: number(engine) == 4)
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("geolookup", logging.WARNING)
    said = record.getMessage()
    assert "f" * 64 in said
    assert f"still answering from generation {id_of(3)}" in said


def test_a_store_that_goes_and_comes_back(
    store: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with geolookup.open(store, watch=SOON) as engine:
        engine.lookup("8.8.8.8")
        store.rename(tmp_path / "moved")
        assert eventually(lambda: len(caplog.records) > 0)
        assert number(engine) == 1
        (tmp_path / "moved").rename(store)
        publish(shared(2), store)
        assert eventually(lambda: number(engine) == 2)
    assert len(caplog.records) == 1
    assert "8.8.8.8" not in caplog.text


def test_the_thread_ends_with_its_engine(store: Path) -> None:
    """Which is closed, or forgotten: the thread keeps none alive."""
    before = watchers()  # of engines that other tests have just left: they may end at any time
    engine = geolookup.open(store, watch=3600)
    assert len(watchers() - before) == 1
    engine.close()
    assert eventually(lambda: watchers() <= before)
    for seconds in (0, -1, float("nan"), "1"):
        with pytest.raises(ValueError, match="watch"):
            geolookup.open(store, watch=seconds)  # type: ignore[arg-type]
    engine = geolookup.open(store, watch=SOON)
    engine.lookup("8.8.8.8")
    del engine
    gc.collect()
    assert eventually(lambda: watchers() <= before)


_EXIT_IN_A_POLL = """
import sys, threading, time
import geolookup

begun = threading.Event()

class Polled(geolookup.Engine):
    def reload(self):
        begun.set()
        time.sleep(0.5)
        print("the poll has ended")
        return False

geolookup.engine.Engine = Polled
engine = geolookup.open(sys.argv[1], watch=0.001)
assert begun.wait(60)
engine.close()
"""


def test_the_process_ends_after_a_poll_that_has_begun(store: Path) -> None:
    """The interpreter aborts if a thread is in an import or in Arrow while it ends."""
    done = subprocess.run(
        [sys.executable, "-c", _EXIT_IN_A_POLL, str(store)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "the poll has ended\n"), done.stderr


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_watches_for_itself(store: Path) -> None:
    with geolookup.open(store, watch=SOON) as engine:
        child = os.fork()
        if child == 0:
            os._exit(0 if eventually(lambda: number(engine) == 2) else 1)
        publish(shared(2), store)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert eventually(lambda: number(engine) == 2)
