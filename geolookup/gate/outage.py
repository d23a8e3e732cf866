"""Outages of a store: after one failure all requests fail at once, without a timeout each.

Strategy: requests to a server fail at once until a probe of the background thread is answered; it
probes once a second. A failure that no probe follows, such as that of a locked file, is
remembered for ``_REMEMBERED``.
"""

from __future__ import annotations

from time import monotonic

from geolookup.errors import AccountsError

#: Seconds that a failure is remembered: until the next probe begins, with time for its thread.
_REMEMBERED = 1.5


class Outage:
    """Whether a server is known to be silent; safe to use from many threads."""

    def __init__(self) -> None:
        self._error: AccountsError | None = None
        self._until = 0.0

    def check(self) -> None:
        """Raise the remembered failure."""
        error = self._error
        if error is not None and monotonic() < self._until:
            raise AccountsError(error.store, error.problem, error.remedy)

    def note(self, error: AccountsError) -> None:
        """Remember a failure."""
        self._error, self._until = error, monotonic() + _REMEMBERED

    def hold(self, seconds: float) -> None:
        """Remember the failure, if there is one, for as long as a probe takes that begins now."""
        now = monotonic()
        if now < self._until:
            self._until = now + seconds + _REMEMBERED

    def over(self) -> None:
        """Forget the failure: the server answered."""
        self._error, self._until = None, 0.0
