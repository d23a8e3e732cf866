"""Workers that are started again when they die.

Strategy: Granian's server ends when a worker dies twice within seconds. This one starts each
worker again: at once, or after a wait that doubles while the worker dies soon after each start.
It ends by itself only when no worker runs and no dataset opens: another start cannot help.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import time
from asyncio import AbstractEventLoop
from collections import Counter
from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import Any

from granian.server import mp
from granian.server.mp import MPServer

from geolookup.http.application import Application
from geolookup.http.batches import Batches
from geolookup.http.listener import with_limits
from geolookup.remote import backoff_wait

#: Exit status of a worker that finds no dataset that opens.
UNOPENED = 3
#: Seconds until a worker that does not stop is killed.
KILL_AFTER = 10
#: A worker that ran for fewer seconds died early.
_EARLY = 10.0
#: Seconds until the next start: after the first early death, and at most.
_FIRST_DELAY, _MOST_DELAY = 0.1, 5.0
#: Seconds between two checks that the server process runs.
_POLL = 0.5
_log = logging.getLogger("geolookup.http")


class Backoff:
    """How long to wait before each worker is started again."""

    def __init__(self) -> None:
        self._early: Counter[int] = Counter()  # early deaths in a row

    def delay(self, worker: int, ran: float) -> float:
        """Return the seconds to wait for a worker that ran for so many seconds."""
        # A worker that ran long enough starts again at once.
        self._early[worker] = self._early[worker] + 1 if ran < _EARLY else 0
        return backoff_wait(self._early[worker], _FIRST_DELAY, _MOST_DELAY)


class Supervisor(MPServer):
    """A Granian server that starts dead workers again.

    Of Granian's private members it replaces two. ``_serve_loop``: Granian's own, with
    ``respawn_failed_workers``, ends the server when a worker dies twice within 5.5 seconds, and has
    no wait that grows. ``_new_cbscheduler``, in a worker: Granian's own starts a coroutine for each
    request. It calls two: ``_spawn_worker`` makes the process of a worker, and
    ``_spawn_rsgi_worker`` runs in it.
    """

    def run(self, loader: Callable[[int], Application]) -> None:
        """Serve; ``loader`` makes the application of a worker from its number, from 0."""
        target: Any = loader
        self.serve(spawn_target=self.run_worker, target_loader=target, wrap_loader=False)

    @classmethod
    def run_worker(cls, number: int, name: Any, loader: Any, sockets: Any, *arguments: Any) -> None:
        """Serve in a worker process: Granian's own function with our loader and listener."""
        (spec, holder), shared = sockets
        listener = (None, with_limits(spec, holder)), shared
        target: Any = cls._spawn_rsgi_worker
        target(number, name, partial(_in_batches, loader, number - 1), listener, *arguments)

    def processes(self) -> list[tuple[int, int]]:
        """Return the number and the process id of each worker."""
        workers: list[Any] = list(self.wrks)
        return [(worker.idx, worker.inner.pid) for worker in workers if worker.inner.pid]

    def _serve_loop(self, spawn_target: Any, target_loader: Any) -> None:
        backoff = Backoff()
        due: dict[int, float] = {}
        while not self.interrupt_signal:
            self.main_loop_interrupt.wait(_until(due))
            # Before the list is read: a worker that dies later sets it again.
            self.main_loop_interrupt.clear()
            while self.interrupt_children:
                index = self.interrupt_children.pop(0)
                delay = self._delay(backoff, index)
                if self._must_end(index):
                    self.interrupt_children.append(index)  # makes the exit status 1
                    return
                due[index] = time.monotonic() + delay
            for index in [worker for worker, at in due.items() if at <= time.monotonic()]:
                del due[index]
                self._start(index, spawn_target, target_loader)

    def _delay(self, backoff: Backoff, index: int) -> float:
        worker = self.wrks[index]
        delay = backoff.delay(index, time.monotonic() - worker.birth)
        _log.error(
            "worker-%d %s; starting it again in %.1f seconds",
            *(index + 1, _exit_text(worker.inner.exitcode), delay),
        )
        return delay

    def _must_end(self, index: int) -> bool:
        workers: list[Any] = self.wrks
        unopened = workers[index].inner.exitcode == UNOPENED
        must_end = unopened and not any(worker.is_alive() for worker in workers)
        if must_end:
            _log.error("no worker runs and no dataset opens; the server ends")
        return must_end

    def _start(self, index: int, spawn_target: Any, target_loader: Any) -> None:
        worker: Any = self._spawn_worker(
            idx=index, target=spawn_target, callback_loader=target_loader
        )
        self.wrks[index] = worker
        worker.start()


def _in_batches(loader: Callable[[int], Application], number: int) -> Application:
    """Return the application of this worker; make Granian pass its requests in batches."""
    application = loader(number)

    def scheduler(loop: AbstractEventLoop, _callback: object, **_options: object) -> Batches:
        return Batches(loop, application.answer_all)

    module: Any = mp
    module._new_cbscheduler = scheduler  # noqa: SLF001 - it has no public option
    return application


def _exit_text(status: int | None) -> str:
    """Return how a process ended, by its exit status: -9 if signal 9 killed it."""
    if status is None or status >= 0:
        return f"ended with status {status}"
    # Real-time signals have numbers only.
    names = {number.value: number.name for number in signal.Signals}
    return f"was killed by {names.get(-status, f'signal {-status}')}"


def _until(due: dict[int, float]) -> float | None:
    return max(0.0, min(due.values()) - time.monotonic()) if due else None


def hold_while_forking(signum: int) -> None:
    """Deliver a signal to a new child when it can run its handler.

    CPython drops a signal that reaches a child during the fork; a blocked signal stays pending.
    """

    def unblock() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signum})

    os.register_at_fork(
        before=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signum}),
        after_in_parent=unblock,
        after_in_child=unblock,
    )


def end_with_server() -> None:
    """Stop this worker after the end of the server process, even by SIGKILL; return at once.

    Otherwise the worker would continue to listen, and no other server could use the port.
    """
    server = multiprocessing.parent_process()
    if server is not None:
        thread = Thread(target=_end_with, args=(server.pid,), name="geolookup-parent", daemon=True)
        thread.start()


def _end_with(server: int | None) -> None:
    # Polled: forked workers inherit the pipe of parent_process().sentinel and keep it open.
    # The parent of an orphan is init or a subreaper.
    while os.getppid() == server:
        time.sleep(_POLL)
    _log.error("the server process is gone; this worker ends")
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(KILL_AFTER)
    os.kill(os.getpid(), signal.SIGKILL)
