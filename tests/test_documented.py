"""What ``help`` and editors show: a signature and a docstring for each public call, in full."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any

import pytest

import geolookup
from geolookup.kernel import python as kernel_python
from tests.kernel.modules import compiled, needs_compiled

#: Members of the package that are no calls.
_CALLS = [
    name
    for name in geolookup.__all__
    if name != "__version__" and inspect.isfunction(getattr(geolookup, name))
]
_METHODS = [name for name in dir(geolookup.Engine) if not name.startswith("_")]
_SINGLE = ["answer", "data", "get", "lookup", "lookup_json"]
_SHARED = ["lookup", "lookup_json", "lookup_many", "lookup_many_json"]


def parameters(call: Any) -> list[tuple[str, Any, Any]]:
    found = inspect.signature(call).parameters.values()
    return [(each.name, each.kind, each.default) for each in found]


@pytest.mark.parametrize("name", _CALLS)
def test_a_call_of_the_package(name: str) -> None:
    call = getattr(geolookup, name)
    text = inspect.getdoc(call)
    assert text
    assert all(each.annotation is not each.empty for each in _taken(call))
    assert "see ``Engine." not in text
    shown = pydoc.plain(pydoc.render_doc(call))
    assert all(line.strip() in shown for line in text.splitlines())
    assert all(each.name in shown for each in _taken(call))


def _taken(call: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(call).parameters.values())


@pytest.mark.parametrize("name", _METHODS)
def test_a_member_of_an_engine(name: str) -> None:
    member = inspect.getattr_static(geolookup.Engine, name)
    if name == "kernel":  # a text
        return
    assert inspect.getdoc(member)
    if not isinstance(member, property):
        assert parameters(member)[0][0] == "self"


@needs_compiled
@pytest.mark.parametrize("name", _SINGLE)
def test_the_kernels_are_documented_alike(name: str) -> None:
    one, other = (getattr(module.Kernel, name) for module in (compiled, kernel_python))
    assert inspect.getdoc(one) == inspect.getdoc(other)
    assert parameters(one) == parameters(other)


@pytest.mark.parametrize("name", _SHARED)
def test_the_default_engine_takes_what_an_engine_takes(name: str) -> None:
    call, method = getattr(geolookup, name), getattr(geolookup.Engine, name)
    assert parameters(call) == parameters(method)[1:]


@pytest.mark.parametrize("name", ["lookup", "lookup_many"])
def test_the_text_is_that_of_the_method(name: str) -> None:
    call, method = (inspect.getdoc(getattr(of, name)) for of in (geolookup, geolookup.Engine))
    assert call is not None
    assert method is not None
    assert call.partition("\n")[2] == method.partition("\n")[2]
    assert call.partition("\n")[0].replace(" from the default dataset", "") in method
