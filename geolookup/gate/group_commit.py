"""Group commit for an event loop: the requests of one iteration share one transaction.

Strategy: a transaction or a round trip costs several times as much as a decision. The
requests of one iteration of the loop wait for its end and are decided together. Under
light load an iteration is short, so the wait is too.
"""

from __future__ import annotations

from asyncio import Future, get_running_loop

from geolookup.errors import ContractError
from geolookup.gate.accounts import Accounts
from geolookup.gate.admission import Exact


class GroupCommit:
    """Admissions for the coroutines of one event loop."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._asked: list[tuple[Exact, Future[None]]] = []

    def admit(self, api_key: object) -> Future[None] | None:
        """Admit one request and count it, or return a future that does.

        The call or the future raises what ``Accounts.admit`` raises.
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
        except Exception as error:  # noqa: BLE001 - whatever it is, no coroutine may wait forever
            for _, waiting in asked:
                if not waiting.done():
                    waiting.set_exception(error)
            return
        for (admission, waiting), free in zip(asked, found, strict=True):
            _resolve(admission, free, waiting)


def _resolve(admission: Exact, free: int, waiting: Future[None]) -> None:
    try:
        admission.settle(free)
    except ContractError as error:
        if not waiting.done():  # done: its client disconnected
            waiting.set_exception(error)
    else:
        if not waiting.done():
            waiting.set_result(None)
