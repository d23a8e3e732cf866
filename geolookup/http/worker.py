"""A worker process: opens the dataset and the accounts, reloads on SIGHUP, closes both."""

from __future__ import annotations

import gc
import logging
import signal
import sys
from asyncio import AbstractEventLoop
from pathlib import Path
from threading import Lock, Thread

import geolookup
from geolookup.contract.proxies import TrustedProxies
from geolookup.errors import DatasetError, GeoLookupError, short_id
from geolookup.gate import open_accounts, read_plans
from geolookup.gate.group_commit import GroupCommit
from geolookup.http.answers import Answer, Answers, Header
from geolookup.http.application import Application, Backend
from geolookup.http.batches import Arrival, Scope
from geolookup.http.cors import Origins
from geolookup.http.heartbeats import BEAT, Heartbeats
from geolookup.http.metrics import ENDED, Counters
from geolookup.http.own import OwnLookups
from geolookup.http.settings import Settings
from geolookup.http.supervision import UNOPENED, end_with_server

#: Signals from the server to its workers.
RELOAD, DRAIN = signal.SIGHUP, signal.SIGUSR1
_MANIFEST = "manifest.json"
#: New objects before a garbage collection. Requests in progress have thousands of objects, and each
#: collection visits all of them. Only requests that fail create cycles.
_COLLECT_AFTER = 20_000
_log = logging.getLogger("geolookup.http")


class Worker(Application):
    """An application with its dataset and its accounts."""

    def __init__(self, settings: Settings, folder: Path, number: int) -> None:
        self._settings = settings
        self._beats, self._number = Heartbeats(folder), number
        self._beats.begin(number)
        self._reload_pending = self._ended = False
        self._report_lock, self._reported = Lock(), ""
        # Before the dataset is opened: an early signal is not lost.
        signal.signal(RELOAD, self._note)
        self._accounts = open_accounts(settings.accounts, settings.plans)
        self._gate = GroupCommit[Arrival](self._accounts)
        self._engine = geolookup.open(
            settings.dataset, **settings.opening, fallback=True, preload=True
        )
        self._lookups = OwnLookups(self._engine) if settings.own else self._engine
        self._memory = Counters(folder)
        proxies = TrustedProxies(settings.trusted_proxies)
        super().__init__(self.new_backend(), proxies, self._memory, access_log=settings.access_log)

    def begin(self, loop: AbstractEventLoop) -> None:
        """Handle RELOAD and DRAIN from now on, between requests."""
        # Objects that exist now live until the end. A collection delays requests: exclude them.
        gc.collect()
        gc.freeze()
        gc.set_threshold(_COLLECT_AFTER)
        # Not add_signal_handler: uvloop delays a signal that comes before a run of the loop until
        # the next signal, and Granian starts the run after this call.
        signal.signal(RELOAD, lambda *_: loop.call_soon_threadsafe(self.reload))
        signal.signal(DRAIN, lambda *_: loop.call_soon_threadsafe(self.drain))
        self._accounts.watch(self._note_second)
        self._beat(loop)
        if self._reload_pending:
            self.reload()

    def _beat(self, loop: AbstractEventLoop) -> None:
        """Show the server, each second, that the event loop runs."""
        self._beats.beat(self._number)
        loop.call_later(BEAT, self._beat, loop)

    def _note_second(self, problem: object) -> None:
        """Record each second, also without requests, the store and the dataset in use."""
        self._memory.note_store(problem)
        if self._engine.generation != self._reported:  # ``watch`` installed it
            self.backend = self.new_backend()

    def _note(self, *_signal: object) -> None:
        self._reload_pending = True

    def end(self) -> None:
        """Close the accounts."""
        self._ended = True
        self._memory.note(ENDED)
        try:
            self._accounts.close()
        except GeoLookupError as error:
            _log.error("%s", error)

    def reload(self) -> None:
        """Reload the dataset and the plans; keep the old ones if the new ones are refused.

        On a thread: the new dataset is verified first while requests are answered.
        """
        # Not a daemon: Python aborts if such a thread is in Arrow when the process ends.
        if not self.draining:
            Thread(target=self._reload, name="geolookup-reload").start()

    def _reload(self) -> None:
        try:
            plans = read_plans(self._settings.plans)
            if self._engine.reload():
                self.backend = self.new_backend()
            self._accounts.plans = plans
        # OSError: the dataset was renamed during the reload. RuntimeError: no more threads, or the
        # pools of threads refuse work because the process ends.
        except (GeoLookupError, OSError, MemoryError, RuntimeError) as error:
            if not self._ended:
                _log.error("not reloaded: %s", str(error) or type(error).__name__)

    def new_backend(self) -> Backend:
        """Return the backend for the current generation; log a new generation once."""
        generation = self._engine.generation
        with self._report_lock:  # a request may notice it before the thread that reloaded
            if generation != self._reported:
                self._reported = generation
                self._memory.serve(generation, _write_time(self._engine.path / _MANIFEST))
                _log.info("answering from generation %s", short_id(generation))
        answers = Answers(generation, stale=self._engine.stale)
        return Backend(self._lookups, self._gate, answers)


class CrossOriginWorker(Worker):
    """A worker whose answers pages of other origins may read."""

    def __init__(self, settings: Settings, folder: Path, number: int) -> None:
        super().__init__(settings, folder, number)
        self._origins = Origins(settings.cors)

    def final_headers(self, scope: Scope, headers: list[Header]) -> list[Header]:
        """Return the headers of an answer, and the headers of CORS."""
        return super().final_headers(scope, [*headers, *self._origins.headers(scope.headers)])

    def other_method(self, scope: Scope) -> Answer:
        """Return the answer to a preflight request, else 405."""
        answer = self._origins.preflight(scope.method, scope.headers)
        return super().other_method(scope) if answer is None else answer


def load(settings: Settings, folder: Path, number: int) -> Worker:
    """Return a worker, in its own process; log one line and exit if it cannot start."""
    end_with_server()
    try:
        worker = CrossOriginWorker if settings.cors else Worker
        return worker(settings, folder, number)
    except DatasetError as error:
        _log.error("%s", error)
        sys.exit(UNOPENED)
    except (GeoLookupError, OSError) as error:  # OSError: the server has ended, its folder is gone
        _log.error("%s", error)
        sys.exit(1)


def _write_time(manifest: Path) -> int:
    """Return when a manifest was written, Unix seconds; 0 if it was removed."""
    try:
        return int(manifest.stat().st_mtime)
    except OSError:
        return 0
