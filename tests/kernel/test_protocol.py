"""The compiled kernel has exactly the public names and parameters of the Python kernel."""

from __future__ import annotations

import inspect
from typing import Any

from tests.datasets import SMALL
from tests.internals.dataset import Dataset
from tests.internals.kernel import Get, Lookups, python
from tests.kernel.modules import compiled, needs_compiled


def public(names: Any) -> set[str]:
    return {name for name in names if not name.startswith("_")}


@needs_compiled
def test_the_classes_and_their_parameters() -> None:
    dataset = Dataset(SMALL)
    state, reference = compiled.State(dataset), python.State(dataset)
    pairs: list[tuple[Any, Any]] = [(compiled.Kernel.get, Get.__call__)]
    for own, expected in ((state, reference), (state.lines(), reference.lines())):
        assert public(dir(own)) == public(dir(expected))
        names = [name for name in public(dir(own)) if callable(getattr(own, name))]
        pairs += [(getattr(type(own), name), getattr(type(expected), name)) for name in names]
    calls = public(vars(Lookups))
    for kernel in (compiled.Kernel, python.Kernel):
        assert public(dir(kernel)) == {"kernel", "get", *calls}
        assert {"_open_state", "_swap"} <= set(dir(kernel))
        pairs += [(getattr(kernel, name), getattr(Lookups, name)) for name in calls]
    assert compiled.__all__ == [name for name in python.__all__ if name != "document"]
    pairs += [
        (getattr(compiled, name), getattr(python, name)) for name in ("parse_texts", "restore")
    ]
    assert len(pairs) > 20
    for pair in pairs:
        own, wanted = (
            [name for name in inspect.signature(item).parameters if name != "self"] for item in pair
        )
        assert own == wanted, pair
