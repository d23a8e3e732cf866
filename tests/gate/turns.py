"""Requests that come together in one turn of an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tests.internals.gate import GroupCommit


async def decisions(gate: GroupCommit[int], keys: Sequence[object]) -> list[Exception | None]:
    """Return the outcome of each request, when all are decided."""
    outcomes: dict[int, Exception | None] = {}
    ended = asyncio.get_running_loop().create_future()

    def decided(requests: Sequence[int], results: Sequence[Exception | None]) -> None:
        for request, result in zip(requests, results, strict=True):
            assert request not in outcomes
            outcomes[request] = result
        if len(outcomes) == len(keys):
            ended.set_result(None)

    gate.admit(keys, range(len(keys)), decided)
    await ended
    return [outcomes[request] for request in range(len(keys))]


def together(gate: GroupCommit[int], keys: Sequence[object]) -> list[type[Exception] | None]:
    """Return the kinds of the outcomes of requests that come together."""
    results = asyncio.run(decisions(gate, keys)) if keys else []
    return [None if result is None else type(result) for result in results]
