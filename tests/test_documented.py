"""What ``help`` and editors show: a signature and a docstring for each public call, in full."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any

import geolookup
from geolookup.kernel import python
from tests.kernel.modules import compiled, needs_compiled

#: Members of the package that are no calls.
_CALLS = [
    name
    for name in geolookup.__all__
    if name != "__version__" and inspect.isfunction(getattr(geolookup, name))
]
#: All members but one, which is a text.
_METHODS = [name for name in dir(geolookup.Engine) if not name.startswith("_") and name != "kernel"]
_SINGLE = ["answer", "data", "get", "lookup", "lookup_json"]
_SHARED = ["lookup", "lookup_json", "lookup_many", "lookup_many_json"]


def parameters(call: Any) -> list[tuple[str, Any, Any]]:
    found = inspect.signature(call).parameters.values()
    return [(each.name, each.kind, each.default) for each in found]


def test_the_calls_of_the_package() -> None:
    assert {"open", "lookup", "lookup_many"} <= set(_CALLS)
    for name in _CALLS:
        call = getattr(geolookup, name)
        text, taken = inspect.getdoc(call), inspect.signature(call).parameters.values()
        assert text, name
        assert all(parameter.annotation is not parameter.empty for parameter in taken), name
        assert "see ``Engine." not in text, name
        shown = pydoc.plain(pydoc.render_doc(call))
        assert all(line.strip() in shown for line in text.splitlines()), name
        assert all(parameter.name in shown for parameter in taken), name


def test_the_members_of_an_engine() -> None:
    for name in _METHODS:
        member = inspect.getattr_static(geolookup.Engine, name)
        assert inspect.getdoc(member), name
        if not isinstance(member, property):
            assert parameters(member)[0][0] == "self", name


@needs_compiled
def test_the_kernels_are_documented_alike() -> None:
    for name in _SINGLE:
        ours, reference = (getattr(module.Kernel, name) for module in (compiled, python))
        assert inspect.getdoc(ours) == inspect.getdoc(reference), name
        assert parameters(ours) == parameters(reference), name


def test_the_default_engine_takes_what_an_engine_takes() -> None:
    for name in _SHARED:
        call, method = getattr(geolookup, name), getattr(geolookup.Engine, name)
        assert parameters(call) == parameters(method)[1:], name


def test_the_text_is_that_of_the_method() -> None:
    for name in ("lookup", "lookup_many"):
        call, method = (inspect.getdoc(getattr(of, name)) for of in (geolookup, geolookup.Engine))
        assert call is not None
        assert method is not None
        assert call.partition("\n")[2] == method.partition("\n")[2], name
        assert call.partition("\n")[0].replace(" from the default dataset", "") in method, name
