"""A worker process: opens the dataset and the accounts, follows orders, closes both."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
from asyncio import AbstractEventLoop
from datetime import UTC, datetime, time
from threading import Thread

import geolookup
from geolookup.contract.proxies import TrustedProxies
from geolookup.dataset.metadata import iso_day
from geolookup.errors import DatasetError, GeoLookupError, short_id
from geolookup.gate import open_accounts, read_plans
from geolookup.http.application import Application
from geolookup.http.cors import Origins
from geolookup.http.settings import Settings
from geolookup.http.shared import Shared

#: Seconds between two beats.
_BEAT = 0.25
#: New objects before a garbage collection. Requests in progress have thousands of objects, and each
#: collection visits all of them. Only requests that fail create cycles.
_COLLECT_AFTER = 20_000
_log = logging.getLogger("geolookup.http")


class Worker:
    """The life of a worker: its dataset, its accounts, its application."""

    def __init__(self, settings: Settings, shared: Shared, number: int) -> None:
        self._settings, self._orders, self._slot = settings, shared.orders, shared.slots[number]
        self._slot.begin()
        # Read before the dataset is opened: an order that comes meanwhile is not lost.
        self._reloads = self._orders.reloads
        self._accounts = open_accounts(settings.accounts, settings.plans)
        self._engine = geolookup.open(
            settings.dataset,
            **settings.opening,
            allow_lost_fields=settings.allow_lost_fields,
            fallback=True,
            preload=True,
        )
        self.application = Application(
            self._engine,
            self._accounts,
            TrustedProxies(settings.trusted_proxies),
            self._slot,
            own=settings.own,
            origins=Origins(settings.cors) if settings.cors else None,
            access_log=settings.access_log,
        )
        self._report()

    def __rsgi_init__(self, loop: AbstractEventLoop) -> None:
        """Begin to beat when the loop runs; Granian calls it before it listens."""
        # Objects that exist now live until the end. A collection delays requests: exclude them.
        gc.collect()
        gc.freeze()
        gc.set_threshold(_COLLECT_AFTER)
        self._accounts.watch(self._note_second)
        loop.call_soon(self._beat, loop)

    def _beat(self, loop: AbstractEventLoop) -> None:
        """Show the server that the event loop runs, and follow its orders."""
        self._slot.beats += 1
        if self._orders.drain:
            self.application.draining = True
        if self._orders.reloads != self._reloads:
            self._reloads = self._orders.reloads
            # Not a daemon: Python aborts if such a thread is in Arrow when the process ends.
            if not self.application.draining:
                Thread(target=self._reload, name="geolookup-reload").start()
        if os.getppid() != self._orders.server:
            # An orphan would continue to listen, and no other server could use the port.
            _log.error("the server process is gone; this worker ends")
            os.kill(os.getpid(), signal.SIGTERM)  # after the requests in progress
        else:
            loop.call_later(_BEAT, self._beat, loop)

    def _note_second(self, problem: object) -> None:
        """Record each second, also without requests, the store and the dataset in use."""
        self._slot.is_unusable = problem is not None
        if self._engine.generation != self._reported:  # by a reload, or by ``watch``
            self._report()

    def __rsgi_del__(self, _loop: AbstractEventLoop) -> None:
        """Close the accounts; Granian calls it after the last answer."""
        self._slot.beats = 0
        try:
            self._accounts.close()
        except GeoLookupError as error:
            _log.error("%s", error)

    def _reload(self) -> None:
        """Reload the dataset and the plans; keep the old ones if the new ones are refused.

        On a thread: the new dataset is verified first while requests are answered.
        """
        try:
            plans = read_plans(self._settings.plans)
            self._engine.reload()
            self._accounts.plans = plans
        # OSError: the dataset was renamed during the reload. RuntimeError: no more threads, or the
        # pools of threads refuse work because the process ends.
        except (GeoLookupError, OSError, MemoryError, RuntimeError) as error:
            _log.error("not reloaded: %s", str(error) or type(error).__name__)

    def _report(self) -> None:
        """Answer from the current generation, show and log it."""
        self.application.refresh()
        self._reported = self._engine.generation
        self._slot.generation = self._reported.encode()
        try:
            day = iso_day(self._engine.metadata.age.date)
        except DatasetError:  # lookups need no sources and no credits
            day = None
        midnight = datetime.combine(day, time(), UTC) if day else None
        self._slot.data_date = int(midnight.timestamp()) if midnight else 0
        _log.info("answering from generation %s", short_id(self._reported))


def load(settings: Settings, shared: Shared, number: int) -> Worker:
    """Return a worker, in its own process; log one line and exit if it cannot start."""
    # A forked worker inherits the server's handler. Until it has Granian's, it may end at once.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        return Worker(settings, shared, number)
    except GeoLookupError as error:
        _log.error("%s", error)
        sys.exit(1)
