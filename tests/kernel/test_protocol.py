"""Both kernels have exactly the public names of the protocol."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pytest

from geolookup.dataset.files import Dataset
from geolookup.kernel import protocol
from geolookup.kernel import python as kernel_python
from tests.small_dataset import SMALL

compiled = pytest.importorskip("geolookup.kernel._compiled", reason="the extension was not built")
MODULES = [compiled, kernel_python]


def members(protocol: type) -> dict[str, Any]:
    """Return the members of a protocol and of those that it extends."""
    return {name: value for each in protocol.__mro__ for name, value in vars(each).items()}


def public(names: Any) -> set[str]:
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("module", MODULES)
def test_the_module(module: ModuleType) -> None:
    own = {
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", module.__name__) == module.__name__ and callable(value)
    }
    assert public(own) == public(vars(protocol.Implementation))


@pytest.mark.parametrize("module", MODULES)
def test_the_classes(module: Any) -> None:
    assert public(dir(module.State(Dataset(SMALL)))) == public(members(protocol.State))
    wanted = {*vars(protocol.Kernel), "kernel"}
    assert public(dir(module.Kernel(Dataset(SMALL)))) == public(wanted)
    assert {"_open_state", "_swap"} <= set(dir(module.Kernel)) & wanted


@pytest.mark.parametrize("module", MODULES)
def test_parameters(module: Any) -> None:
    pairs = [(module.parse_texts, protocol.Implementation.parse_texts)]
    for kind in (protocol.State, protocol.Kernel):
        own = getattr(module, kind.__name__)
        pairs += [
            (getattr(own, name), method)
            for name, method in members(kind).items()
            if inspect.isfunction(method) and not name.startswith("__")
        ]
    assert len(pairs) > 10
    for own, wanted in pairs:
        expected = [name for name in inspect.signature(wanted).parameters if name != "self"]
        found = [name for name in inspect.signature(own).parameters if name != "self"]
        assert found == expected, own
