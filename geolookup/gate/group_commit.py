"""Admissions for an event loop: what one turn of it asks, the store decides in one step.

Strategy: a transaction, or a round trip, costs several times what a decision
does, and a server that is busy has many requests at hand at a time. They wait
for the end of the turn, so that all of them share one. The fewer there are,
the sooner it comes.
"""

from __future__ import annotations

from asyncio import Future, get_running_loop

from geolookup.errors import ContractError
from geolookup.gate.accounts import Accounts
from geolookup.gate.admission import Exact


class GroupCommit:
    """Accounts as a coroutine asks them; for one event loop."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._asked: list[tuple[Exact, Future[None]]] = []

    def admit(self, api_key: object) -> Future[None] | None:
        """Let one request pass and count it, or return what to await for that.

        Here or there is raised what ``Accounts.admit`` raises.
        """
        admission = self._accounts.admission(api_key).ask()
        if admission is None:
            return None
        loop = get_running_loop()
        if not self._asked:
            loop.call_soon(self._decide)
        waiting = loop.create_future()
        self._asked.append((admission, waiting))
        return waiting

    def _decide(self) -> None:
        asked, self._asked = self._asked, []
        try:
            found = self._accounts.decide([admission.request for admission, _ in asked])
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
            for _, waiting in asked:
                if not waiting.done():
                    waiting.set_exception(error)
            return
        for (admission, waiting), free in zip(asked, found, strict=True):
            _tell(admission, free, waiting)


def _tell(admission: Exact, free: int, waiting: Future[None]) -> None:
    try:
        admission.settle(free)
    except ContractError as error:
        if not waiting.done():  # else its client has gone
            waiting.set_exception(error)
    else:
        if not waiting.done():
            waiting.set_result(None)
