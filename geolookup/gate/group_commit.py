"""Group commit: requests that come together share one transaction.

Strategy: a transaction or a round trip costs several times as much as a decision. The event loop
passes all waiting requests at once, and the store decides them together.

A remote store may be silent, so one thread asks it, and the loop goes on. Requests that come
meanwhile are decided together when the thread is free. Cached keys and refusals need no thread.
"""

from __future__ import annotations

from asyncio import Task, get_running_loop
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice, repeat
from typing import Generic, TypeVar

from geolookup.errors import AccountsError, ContractError
from geolookup.gate.account_store import ADMITTED, Admission, Decision, Requests
from geolookup.gate.accounts import Accounts

_Request = TypeVar("_Request")
#: Called with requests and the outcome of each: an exception if it is refused, else None.
OnDecided = Callable[[Sequence[_Request], Sequence[Exception | None]], None]


class GroupCommit(Generic[_Request]):
    """Admissions for the requests of one event loop."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._thread = _StoreThread[_Request](accounts) if accounts.remote else None

    def admit(
        self, keys: Sequence[object], requests: Sequence[_Request], on_decided: OnDecided[_Request]
    ) -> None:
        """Decide and count requests that came together; call ``on_decided`` with each once.

        ``keys`` has the text of the key of each request, None if it has none. The outcomes are the
        errors of ``Accounts.admit``. Never waits for another machine: ``on_decided`` can be
        called later, on the running loop.
        """
        if self._thread is None:
            on_decided(requests, _decide_all(self._accounts, keys))
            return
        refusals = _cached_refusals(self._accounts, set(keys))
        pairs = list(zip(keys, requests, strict=True))
        refused = [(key, request) for key, request in pairs if key in refusals]
        waiting = [(key, request) for key, request in pairs if key not in refusals]
        if refused:
            on_decided([request for _, request in refused], [refusals[key] for key, _ in refused])
        if waiting:
            self._thread.ask(waiting, on_decided)


def _cached_refusals(accounts: Accounts, keys: Iterable[object]) -> dict[object, Exception]:
    """Return the refusal of each key that is refused without the store."""
    now = accounts.clock()
    refusals: dict[object, Exception] = {}
    for key in keys:
        try:
            admission = accounts.cached_admission(key, now)
            if admission is not None:
                admission.check(now)
        except ContractError as error:
            refusals[key] = error
    return refusals


class _StoreThread(Generic[_Request]):
    """Decides requests on a thread; those that come while it is busy are decided together."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._thread = ThreadPoolExecutor(1, "geolookup-store")
        self._queue: list[tuple[Sequence[tuple[object, _Request]], OnDecided[_Request]]] = []
        self._task: Task[None] | None = None

    def ask(
        self, pairs: Sequence[tuple[object, _Request]], on_decided: OnDecided[_Request]
    ) -> None:
        """Call ``on_decided`` when the store has decided; ``pairs`` are keys and requests."""
        self._queue.append((pairs, on_decided))
        if self._task is None or self._task.done():
            self._task = get_running_loop().create_task(self._decide())

    async def _decide(self) -> None:
        """Decide the waiting requests, then those that came meanwhile."""
        decide = get_running_loop().run_in_executor
        while self._queue:
            groups, self._queue = self._queue, []
            keys = [key for pairs, _ in groups for key, _ in pairs]
            outcomes = iter(await decide(self._thread, _decide_all, self._accounts, keys))
            for pairs, on_decided in groups:
                on_decided([request for _, request in pairs], list(islice(outcomes, len(pairs))))


def _decide_all(accounts: Accounts, keys: Sequence[object]) -> Sequence[Exception | None]:
    """Decide requests by their keys; return the exception of each request, or None."""
    try:
        return _outcomes(accounts, keys)
    except Exception as error:  # noqa: BLE001 - after any error, no request may wait forever
        return [error] * len(keys)


def _outcomes(accounts: Accounts, keys: Sequence[object]) -> list[Exception | None]:
    """Decide requests by one call of the store, with one entry per account.

    Example: the requests have the keys A, B, a wrong one, A, A. The store decides one request of B
    and three of A; if it admits two of A, the last one raises RateLimitError.
    """
    by_key = {key: _admission(accounts, key) for key in set(keys)}
    admissions = [by_key[key] for key in keys]
    # Equal exceptions of two keys are two objects: each is an entry of its own.
    numbers = Counter(admissions)
    account_requests = [
        Requests(admission.account, admission.plan, number)
        for admission, number in numbers.items()
        if isinstance(admission, Admission)
    ]
    decisions = _decisions(accounts, account_requests)
    if len(account_requests) == len(numbers) and not any(
        isinstance(decision, AccountsError) or decision.refusal for decision in decisions
    ):
        return [None] * len(keys)  # the usual case
    decision_of = iter(decisions)
    outcomes = {
        admission: _of_account(admission, next(decision_of))
        if isinstance(admission, Admission)
        else repeat(admission)
        for admission in numbers
    }
    # The first requests of an account are admitted, in the order of their arrival.
    return [next(outcomes[admission]) for admission in admissions]


def _decisions(
    accounts: Accounts, requests: Sequence[Requests]
) -> Sequence[Decision | AccountsError]:
    try:
        return accounts.decide(requests) if requests else ()
    except AccountsError as error:
        return [error] * len(requests)


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
