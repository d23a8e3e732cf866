"""Workers that hang: the server logs and kills them; Granian starts others.

Strategy: a worker's event loop beats in shared memory, and a thread of the server looks each
second. It counts looks without a beat, and compares no clocks: if a machine or a group of
processes is suspended, that counts as one look.

Example: worker 2 is stopped. After 5 looks /readyz is 503, because the system continues to give
connections to that worker. After 15 it is killed and replaced. If 30 looks pass all the same,
/livez is 503: the orchestrator, or systemd by its watchdog, restarts the whole service.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import socket
import time
from collections import Counter
from contextlib import suppress
from threading import Thread

from geolookup.http.shared import Shared

#: Seconds between two looks.
_LOOK = 1.0
#: Looks without a beat until a worker is not ready, is killed, is given up.
LATE, SILENT, LOST = 5, 15, 30
_log = logging.getLogger("geolookup.http")


class Watchdog:
    """The checks of the server on its workers."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._seen, self._looks = Counter[int](), Counter[int]()

    def start(self) -> None:
        """Look from now on, in a thread."""
        Thread(target=self._run, name="geolookup-watchdog", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(_LOOK)
            self.look()
            if any(self._shared.serving()):
                notify("READY=1")  # systemd reads the first one only
            if not self.silent_workers(LOST):
                notify("WATCHDOG=1")

    def look(self) -> None:
        """Look at each worker once; kill one that has been silent for too long."""
        for number, slot in enumerate(self._shared.slots):
            # A worker without a beat opens its dataset, and has no connections yet.
            is_silent = 0 < slot.beats == self._seen[number] and slot.is_running
            self._seen[number] = slot.beats
            self._looks[number] = self._looks[number] + 1 if is_silent else 0
            if is_silent and self._looks[number] % SILENT == 0:
                _log.error("worker-%d is silent for %d seconds; killing it", number + 1, SILENT)
                # Of our children only: the system may have given the number of an ended one to
                # another process.
                for child in multiprocessing.active_children():
                    if child.pid == slot.process:
                        child.kill()

    def silent_workers(self, looks: int) -> dict[int, int]:
        """Return the workers that were silent for so many looks or more, and for how many."""
        return {number: count for number, count in self._looks.items() if count >= looks}


def notify(state: str) -> None:
    """Tell systemd the state of the service (sd_notify(3)); nothing without systemd."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            # "@": a name without a file, which the system writes with NUL (unix(7)).
            name = f"\0{address[1:]}" if address.startswith("@") else address
            sender.sendto(state.encode(), name)
