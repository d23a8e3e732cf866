"""Group commit for an event loop: the requests of one iteration share one transaction.

Strategy: a transaction or a round trip costs several times as much as a decision. The
requests of one iteration of the loop are decided together in the next one, by the first of them
that continues. Under light load an iteration is short, so the wait is too.

A remote store may be silent, so one thread asks it, and the loop goes on. Requests that come
meanwhile are decided together when the thread is free. Cached keys and refusals need no thread.
"""

from __future__ import annotations

from asyncio import Future, Task, get_running_loop
from collections import Counter
from collections.abc import Awaitable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, repeat
from types import coroutine

from geolookup.errors import AccountsError, ContractError
from geolookup.gate.account_store import ADMITTED, Admission, Decision, Requests
from geolookup.gate.accounts import Accounts

#: A request that the store must decide: the admission, or the key if the store must find it too.
_Asked = Admission | object


class GroupCommit:
    """Admissions for the coroutines of one event loop."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts, self._now = accounts, accounts.clock
        self._group = _Group()
        self._thread = _StoreThread(accounts) if accounts.remote else None

    def admit(self, api_key: object) -> Awaitable[None]:
        """Return an awaitable that admits one request and counts it; await it at once.

        Never waits for another machine. The call or the awaitable raises the errors of
        ``Accounts.admit``.
        """
        now = self._now()
        admission = self._accounts.cached_admission(api_key, now)
        if admission is not None:
            admission.check(now)
        if self._thread is not None:
            return self._thread.ask(admission or api_key)
        return self._together(admission or api_key)

    @coroutine
    def _together(self, request: _Asked) -> Generator[None, None, None]:
        """Wait for the next iteration of the loop, then for the decision of all."""
        # The group before was decided in this or an earlier iteration: a new one begins.
        if self._group.outcomes is not None:
            self._group = _Group()
        group = self._group
        position = len(group.requests)
        group.requests.append(request)
        try:
            yield  # to the loop: cheaper than the callbacks of a future
        finally:  # also if the client has disconnected: other requests wait for the decision
            outcomes = group.outcomes
            if outcomes is None:
                outcomes = group.outcomes = _decide_all(self._accounts, group.requests)
        outcome = outcomes[position]
        if outcome is not None:
            raise outcome


class _Group:
    """Requests that are decided together, in the thread of the loop.

    ``outcomes`` is None until then.
    """

    __slots__ = ("outcomes", "requests")

    def __init__(self) -> None:
        self.requests: list[_Asked] = []
        self.outcomes: Sequence[Exception | None] | None = None


class _StoreThread:
    """Decides requests on a thread; those that come while it is busy are decided together."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._thread = ThreadPoolExecutor(1, "geolookup-store")
        self._queue: list[tuple[_Asked, Future[None]]] = []
        self._task: Task[None] | None = None

    def ask(self, request: _Asked) -> Future[None]:
        """Return a future with the decision."""
        if self._task is None or self._task.done():
            self._task = get_running_loop().create_task(self._decide())
        waiting: Future[None] = self._task.get_loop().create_future()
        self._queue.append((request, waiting))
        return waiting

    async def _decide(self) -> None:
        """Decide the waiting requests, then those that came meanwhile."""
        decide = get_running_loop().run_in_executor
        while self._queue:
            pairs, self._queue = self._queue, []
            requests = [request for request, _ in pairs]
            outcomes = await decide(self._thread, _decide_all, self._accounts, requests)
            for (_, waiting), outcome in zip(pairs, outcomes, strict=True):
                _resolve(waiting, outcome)


def _decide_all(accounts: Accounts, requests: Sequence[_Asked]) -> Sequence[Exception | None]:
    """Decide requests; return the exception of each request, or None."""
    try:
        return _outcomes(accounts, requests)
    except Exception as error:  # noqa: BLE001 - after any error, no coroutine may wait forever
        return [error] * len(requests)


def _outcomes(accounts: Accounts, requests: Sequence[_Asked]) -> list[Exception | None]:
    """Decide requests by one call of the store, with one entry per account.

    Example: the requests have the keys A, B, a wrong one, A, A. The store decides one request of B
    and three of A; if it admits two of A, the last one raises RateLimitError.
    """
    admissions = [
        request if type(request) is Admission else _admission(accounts, request)
        for request in requests
    ]
    # Equal exceptions of two keys are two objects: each is an entry of its own.
    numbers = Counter(admissions)
    account_requests = [
        Requests(admission.account, admission.plan, number)
        for admission, number in numbers.items()
        if isinstance(admission, Admission)
    ]
    decisions = iter(_decisions(accounts, account_requests))
    outcomes = {
        admission: _of_account(admission, next(decisions))
        if isinstance(admission, Admission)
        else repeat(admission)
        for admission in numbers
    }
    # The first requests of an account are admitted, in the order of their arrival.
    return [next(outcomes[admission]) for admission in admissions]


def _decisions(
    accounts: Accounts, requests: Sequence[Requests]
) -> Iterable[Decision | AccountsError]:
    try:
        return accounts.decide(requests) if requests else ()
    except AccountsError as error:
        return repeat(error)


def _admission(accounts: Accounts, api_key: object) -> Admission | Exception:
    """Return the admission of a key that may have to be read, or the refusal."""
    try:
        admission = accounts.admission(api_key)
        admission.check(accounts.clock())
    except (ContractError, AccountsError) as error:
        return error
    return admission


def _of_account(
    admission: Admission, decision: Decision | AccountsError
) -> Iterator[Exception | None]:
    """Yield the outcomes of an account's requests, in their order."""
    if isinstance(decision, AccountsError):
        return repeat(decision)
    admitted, refusal = decision
    if refusal == ADMITTED:
        return repeat(None)
    return chain(repeat(None, admitted), _refusals(admission, refusal))


def _refusals(admission: Admission, refusal: int) -> Iterator[Exception]:
    while True:
        try:
            admission.refuse(refusal)
        except (ContractError, AccountsError) as error:
            yield error


def _resolve(waiting: Future[None], error: Exception | None) -> None:
    if waiting.done():  # its client disconnected
        return
    if error is None:
        waiting.set_result(None)
    else:
        waiting.set_exception(error)
