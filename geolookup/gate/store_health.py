"""The health of a store: outages are remembered, and a background thread probes.

Strategy: after one failure all requests fail at once, without a timeout each. Requests to a server
fail until a probe of the background thread is answered; it probes once a second. A failure that
no probe follows, such as a locked file, is remembered for ``_REMEMBERED``.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from time import monotonic

from geolookup.errors import AccountsError
from geolookup.gate.account_store import Store

Report = Callable[[AccountsError | None], None]
#: Seconds that a failure is remembered: until the next probe begins, with time for its thread.
_REMEMBERED = 1.5
#: Seconds between two probes.
_PAUSE = 1.0


class Outage:
    """Whether a store is known to be unusable; safe to use from many threads."""

    def __init__(self) -> None:
        self._error: AccountsError | None = None
        self._until = 0.0

    def check(self) -> None:
        """Raise the remembered failure."""
        error = self._error
        if error is not None and monotonic() < self._until:
            raise AccountsError(error.path, error.problem, error.remedy)

    def note(self, error: AccountsError) -> None:
        """Remember a failure."""
        self._error, self._until = error, monotonic() + _REMEMBERED

    def hold(self, seconds: float) -> None:
        """Remember the failure, if any, until a probe that begins now has ended."""
        now = monotonic()
        if now < self._until:
            self._until = now + seconds + _REMEMBERED

    def over(self) -> None:
        """Forget the failure: the store answered."""
        self._error, self._until = None, 0.0


class Maintenance:
    """A running background thread. ``report`` is called with each probe's problem, or None."""

    def __init__(self, store: Store, report: Report) -> None:
        self._store, self._report = store, report
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="geolookup-gate", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; return when it has ended."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        self._report(self._probe())
        while not self._stopped.wait(_PAUSE):
            self._report(self._probe())

    def _probe(self) -> AccountsError | None:
        try:
            self._store.probe()
        except AccountsError as error:
            return error
        return None
