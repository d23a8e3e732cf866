"""The end of a process while its watch reloads: it prints nothing, whatever the step."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import python
from tests.tiers import scaled

#: Ends the process when the thread of the watch has opened or imported so many files of a reload.
_END_AT = """
import sys, threading
from functools import partial
import geolookup
from geolookup.dataset import checksums
from geolookup.store import pointer, resolve
from geolookup.store.watch import Watch

checksums.LARGE = 0  # digests in a pool of threads, as of a large dataset
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
pointer.save(store, pointer.read(store)[::-1])  # without an import that a reload needs
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
