"""Both kernels have exactly the public names of the protocol."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from tests.datasets import SMALL
from tests.internals.dataset import Dataset
from tests.internals.kernel import Get, Lookups, protocol
from tests.kernel.modules import MODULES


def members(protocol: type) -> dict[str, Any]:
    return {
        name: value for base in reversed(protocol.__mro__) for name, value in vars(base).items()
    }


def public(names: Any) -> set[str]:
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("module", MODULES)
def test_the_classes_and_their_parameters(module: Any) -> None:
    assert public(dir(module.State(Dataset(SMALL)))) == public(members(protocol.State))
    assert public(dir(module.Kernel(Dataset(SMALL)))) == {"kernel", "get", *public(vars(Lookups))}
    assert {"_open_state", "_swap"} <= set(dir(module.Kernel))
    pairs: list[tuple[Any, Any]] = [
        (module.parse_texts, protocol.Implementation.parse_texts),
        (module.Kernel.get, Get.__call__),
    ]
    pairs += [
        (getattr(own, name), method)
        for own, kind in ((module.State, protocol.State), (module.Kernel, Lookups))
        for name, method in members(kind).items()
        if inspect.isfunction(method) and not name.startswith("__")
    ]
    assert len(pairs) > 10
    for pair in pairs:
        own, expected = (
            [name for name in inspect.signature(item).parameters if name != "self"] for item in pair
        )
        assert own == expected, pair
