"""Reload, asked for or by a watch: the new dataset answers, or the old one; the end of a watch."""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import os
import re
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

import geolookup
from geolookup import publish
from tests.cli.program import python
from tests.internals.dataset import Dataset, canonical
from tests.internals.dataset import layout as fmt
from tests.internals.history import rollback
from tests.internals.kernel import state_of
from tests.internals.store import DatasetPath, Requirements, Watch, resolve
from tests.servers import until
from tests.store.numbered import answers, answers_of, id_of, number, shared
from tests.tiers import scaled


@pytest.mark.parametrize("problem", [None, geolookup.DatasetError("store", "pruned", "retry")])
def test_a_store_that_changes_while_it_is_opened(store: Path, problem: Exception | None) -> None:
    def check(dataset: Dataset) -> None:
        if dataset.manifest.generation == id_of(1):
            publish(shared(2), store)
            if problem is not None:
                raise problem

    dataset = DatasetPath(str(store), Requirements()).open_checked(check)
    assert dataset.generation == id_of(2)


def test_a_damaged_generation_is_refused(store: Path) -> None:
    with geolookup.open(store) as engine:
        assert not engine.reload()
        publish(shared(2), store)
        assert number(engine) == 1
        for name in (*fmt.FILES, fmt.MANIFEST):
            path = store / "generations" / id_of(2) / name
            content = path.read_bytes()
            at = len(content) // 2
            damaged = [content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]]
            if name == fmt.MANIFEST:
                damaged.append(canonical(json.loads(content) | {"format_version": 99}))
            for data in damaged:
                path.unlink()  # the last one may still be mapped
                path.write_bytes(data)
                with pytest.raises(geolookup.DatasetError, match=id_of(2)) as caught:
                    engine.reload()
                assert answers(engine) == answers_of(shared(1)), name
            path.write_bytes(content)
        assert re.search(r"format version 99.*build it again", str(caught.value))
        assert engine.reload()
        assert not engine.reload()
        assert engine.generation == engine.metadata.generation == engine.path.name == id_of(2)
        assert answers(engine) == answers_of(shared(2))
        rollback(store)
        assert engine.reload()


def test_lost_fields_are_refused_unless_allowed(tmp_path: Path, store: Path) -> None:
    """Own columns too. An answer stays of its generation."""
    (tmp_path / "a.csv").write_text("network,asn,risk\n8.8.8.0/24,64500,5\n", encoding="utf-8")
    more = tmp_path / "more"
    geolookup.build(sources=[tmp_path / "a.csv"], output=more, columns={"risk": "integer"})
    publish(more, store)
    with geolookup.open(store) as engine, geolookup.open(store, allow_lost_fields=True) as open_:
        answer = open_.answer("8.8.8.8")
        publish(shared(2), store)
        with pytest.raises(geolookup.DatasetError, match=r"lacks network\.asn.*, own\.risk"):
            engine.reload()
        assert engine.get("8.8.8.8", ["network.asn", "own.risk"]) == (64500, 5)
        assert open_.reload()
        assert number(open_) == 2
        with pytest.raises(ValueError, match="no own columns"):
            open_.own("8.8.8.8")
        assert answer.own.risk == 5
        publish(more, store)
        assert not engine.reload()
        assert open_.reload()


def test_threads_that_read_and_reload(store: Path) -> None:
    """Each answer is of one generation, and all end at the current one."""
    columns = [*zip(*(answers_of(shared(number)) for number in range(8)), strict=True)]
    ended = threading.Event()

    def read() -> set[str]:
        met = set()
        while not ended.wait(0.002):  # leaves two cores some room for the changes
            for answer, good in zip(answers(engine), columns, strict=True):
                assert answer in good
            met.add(engine.generation)
        return met

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # more meets
    try:
        with geolookup.open(store) as engine, ThreadPoolExecutor(6) as pool:
            readers = [pool.submit(read) for _ in range(3)]
            for turn in range(scaled(12, 40)):
                first = pool.submit(engine.reload)
                publish(shared(turn % 8), store)
                for reload in (first, *(pool.submit(engine.reload) for _ in range(2))):
                    reload.result()
                assert number(engine) == turn % 8
            ended.set()
            assert all(len(reader.result()) > 1 for reader in readers)
    finally:
        ended.set()
        sys.setswitchinterval(interval)


def test_an_engine_that_is_closed_in_a_reload_is_closed_in_the_end(store: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        for turn in range(scaled(6, 30)):
            engine = geolookup.open(store)
            publish(shared(2 + turn % 2), store)
            reload = pool.submit(engine.reload)
            engine.close()
            with contextlib.suppress(geolookup.errors.ClosedError):
                reload.result()
            with pytest.raises(geolookup.errors.ClosedError):
                engine.lookup("8.8.8.8")


def test_the_old_dataset_goes_with_its_last_reader(store: Path) -> None:
    """At once: its files must not wait for the collector of cycles."""
    gc.collect()
    gc.disable()
    try:
        with geolookup.open(store) as engine:
            answers(engine)
            engine.lookup("8.8.8.8")
            old = weakref.ref(state_of(engine).dataset)
            running = engine.prefixes(by="location")
            next(running)
            publish(shared(2), store)
            engine.reload()
            assert old() is not None
            running.close()  # type: ignore[attr-defined]
            assert old() is None
            new = weakref.ref(state_of(engine).dataset)
        assert new() is None
    finally:
        gc.enable()


def test_a_problem_is_logged_once_and_a_good_dataset_taken_up(
    store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A pointer to nothing, and a store that goes and comes back; no address is logged."""
    current, moved = store / "current", store.with_name("moved")
    with geolookup.open(store) as engine:
        watch = Watch(engine, partial(resolve.fingerprint, str(store)), 3600)  # polled by hand
        for turn in (1, 2):
            engine.lookup("8.8.8.8")
            pointer = current.read_text(encoding="utf-8")
            for end in ("", " "):
                current.write_text(pointer.replace(id_of(turn), "f" * 64) + end, encoding="utf-8")
                watch.poll(engine)
                assert len(caplog.records) == 2 * turn - 1
            store.rename(moved)
            for _ in range(2):
                watch.poll(engine)
                assert len(caplog.records) == 2 * turn
            assert number(engine) == turn
            moved.rename(store)
            current.write_text(pointer, encoding="utf-8")
            publish(shared(turn + 1), store)
            watch.poll(engine)
            assert number(engine) == turn + 1
        watch.end()
    record = caplog.records[0]
    assert (record.name, record.levelno) == ("geolookup", logging.WARNING)
    assert "f" * 64 in record.getMessage()
    assert f"still answering from generation {id_of(1)[:12]}" in record.getMessage()
    assert "8.8.8.8" not in caplog.text


def watchers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "geolookup-watch"}


def test_the_thread_ends_with_its_engine(store: Path) -> None:
    """Which is closed, or forgotten: the thread keeps none alive."""
    before = watchers()  # of engines that other tests have just left: they may end at any time
    engine = geolookup.open(store, watch=3600)
    assert len(watchers() - before) == 1
    engine.close()
    until(lambda: watchers() <= before)
    for seconds in (0, -1, float("nan"), "1"):
        with pytest.raises(ValueError, match="watch"):
            geolookup.open(store, watch=seconds)  # type: ignore[arg-type]
    engine = geolookup.open(store, watch=0.01)
    engine.lookup("8.8.8.8")
    del engine
    gc.collect()
    until(lambda: watchers() <= before)


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_watches_for_itself(store: Path) -> None:
    with geolookup.open(store, watch=0.01) as engine:
        child = os.fork()
        if child == 0:
            with contextlib.suppress(AssertionError):
                until(lambda: number(engine) == 2)
                os._exit(0)
            os._exit(1)
        publish(shared(2), store)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        until(lambda: number(engine) == 2)


#: Ends the process when the thread of the watch has opened or imported so many files of a reload.
_END_AT = """
import sys, threading
from functools import partial
import geolookup
from geolookup.dataset import digests
from geolookup.store import pointer, resolve
from geolookup.store.watch import Watch

digests.LARGE = 0  # digests in a pool of threads, as of a large dataset
store, step, steps = sys.argv[1], int(sys.argv[2]), 0
reached, ended = threading.Event(), threading.Event()
engine = geolookup.open(store)
before = engine.generation

class EndingWatch(Watch):
    def end(self):
        ended.set()
        super().end()

def count(event, _arguments):
    global steps
    if event in ("open", "import") and threading.current_thread().name == "geolookup-watch":
        steps += 1
        if steps == step:
            reached.set()
            ended.wait(60)  # until the process ends

sys.addaudithook(count)
content = pointer.read(store)
content.published.reverse()
pointer.save(store, content)  # without an import that a reload needs
watch = EndingWatch(engine, partial(resolve.fingerprint, store), 0.001)
while engine.generation == before and not reached.wait(0.01):
    pass
print("ends in a reload" if reached.is_set() else steps)
"""


@pytest.mark.long
def test_a_process_that_ends_in_a_reload_prints_nothing(store: Path) -> None:
    steps = int(python(_END_AT, str(store), "0").stdout)  # it depends on the packages
    for percent in range(0, 96, scaled(60, 8)):
        done = python(_END_AT, str(store), str(1 + steps * percent // 100))
        assert (done.stdout, done.stderr) == ("ends in a reload\n", ""), percent
