"""Both kernels have exactly the public names of the protocol."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pytest

import geolookup
from geolookup.contract import fields
from geolookup.dataset.files import Dataset
from geolookup.kernel import protocol, python_answer
from tests.datasets import SMALL
from tests.kernel.modules import MODULES, compiled, needs_compiled

#: The classes of ``engine.answer``; the Python kernel has them in another module.
ANSWERS = {"Answer", "CurrencyView", "LocationView", "NetworkView", "OwnView", "TimeView"}


def members(protocol: type) -> dict[str, Any]:
    return {
        name: value for base in reversed(protocol.__mro__) for name, value in vars(base).items()
    }


def public(names: Any) -> set[str]:
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("module", MODULES)
def test_the_module(module: ModuleType) -> None:
    own = {
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", module.__name__) == module.__name__ and callable(value)
    }
    # The Python kernel is in several modules; ``__all__`` of one has all names.
    own |= {*getattr(module, "__all__", ())}
    assert public(own) - ANSWERS == public(vars(protocol.Implementation))


@needs_compiled
def test_the_classes_of_answers() -> None:
    assert {*vars(compiled)} & {*vars(python_answer)} >= ANSWERS
    assert public(dir(compiled.Answer)) == public(dir(python_answer.Answer))
    for view in python_answer.View.__subclasses__():
        assert [*view.__annotations__] == [*fields.members(fields.FIELDS, view._group)]


@pytest.mark.parametrize("module", MODULES)
def test_the_classes_and_their_parameters(module: Any) -> None:
    assert public(dir(module.State(Dataset(SMALL)))) == public(members(protocol.State))
    wanted = {*vars(protocol.Kernel), "kernel"}
    assert public(dir(module.Kernel(Dataset(SMALL)))) == public(wanted)
    assert {"_open_state", "_swap"} <= set(dir(module.Kernel)) & wanted
    pairs = [(module.parse_texts, protocol.Implementation.parse_texts)]
    pairs += [
        (getattr(getattr(module, kind.__name__), name), method)
        for kind in (protocol.State, protocol.Kernel)
        for name, method in members(kind).items()
        if inspect.isfunction(method) and not name.startswith("__")
    ]
    assert len(pairs) > 10
    for pair in pairs:
        own, expected = (
            [name for name in inspect.signature(item).parameters if name != "self"] for item in pair
        )
        assert own == expected, pair


@pytest.mark.parametrize("module", MODULES)
def test_a_record_is_what_is_looked_up(module: Any) -> None:
    state = module.State(Dataset(SMALL))
    with geolookup.open(SMALL) as engine:
        data: Any = engine.data("8.8.8.8")
    rows = state.rows_and_prefix("8.8.8.8")[:2]
    groups = ("location", "currency", "network")
    assert state.record(*rows) == {group: data[group] for group in groups}
