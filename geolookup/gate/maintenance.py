"""The background thread of accounts: it returns tokens, maintains the store and probes it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from time import monotonic

from geolookup.errors import AccountsError
from geolookup.gate.account_store import Store

Report = Callable[[AccountsError | None], None]
#: Seconds between two runs.
_PAUSE = 0.05
#: Runs between two searches for processes that were killed: a quarter of a second. A quota lasts
#: for at least a second after a lease of several tokens (``leases``).
_RUNS = 5
#: Seconds between two probes of the store.
_PROBE_PAUSE = 1.0


class Maintenance:
    """A running thread. ``report`` is called with the problem of each probe, or None."""

    def __init__(
        self,
        store: Store,
        give_back: Callable[[], None],
        return_ended: Callable[[], None],
        report: Report,
    ) -> None:
        self._store, self._report = store, report
        self._give_back, self._return_ended = give_back, return_ended
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="geolookup-gate", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; return when it has ended."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        next_probe = monotonic()
        for run in itertools.count():
            if self._stopped.wait(_PAUSE):
                return
            with suppress(AccountsError):  # tokens are lost, as in a crash; a request raises
                self._maintain(search=run % _RUNS == 0)
            if monotonic() >= next_probe:
                next_probe = monotonic() + _PROBE_PAUSE
                self._report(self._probe())

    def _maintain(self, *, search: bool) -> None:
        self._give_back()
        self._store.upkeep()
        if search:
            self._return_ended()

    def _probe(self) -> AccountsError | None:
        try:
            self._store.probe()
        except AccountsError as error:
            return error
        return None
