"""A sink written to by a thread of its own, while the next rows are read and looked up."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pyarrow as pa

from geolookup.files.writing import Sink

#: Batches that wait: enough to go on with while a row group is written.
_WAITING = 16


@contextmanager
def written_behind(sink: Sink) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Give a function that takes batches for the sink; what goes wrong there is raised here.

    Afterwards every batch is written or, where the block failed, none is on its way.
    """
    waiting: deque[Future[None]] = deque()

    def write(batch: pa.RecordBatch) -> None:
        waiting.append(thread.submit(sink.write, batch))
        if len(waiting) > _WAITING or waiting[0].done():
            waiting.popleft().result()

    with ThreadPoolExecutor(1) as thread:
        try:
            yield write
            while waiting:
                waiting.popleft().result()
        finally:
            for each in waiting:
                each.cancel()
