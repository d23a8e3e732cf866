"""The compiled kernel and the reference implementation (the Python kernel) give equal answers.

Their names and parameters are equal too, and each is in the interpreter and environment that asks
for it. The inputs are instants, intervals, hostile objects and paths; ``test_every_text.py`` has
the texts. The other tests run with either kernel (``GEOLOOKUP_KERNEL``).
"""

from __future__ import annotations

import inspect
import random
from typing import Any

import pytest

from tests.cli.program import python
from tests.contract.tzif_files import CALENDAR
from tests.datasets import SMALL
from tests.hostile import NO_ADDRESS
from tests.internals.contract import canonical, fields, partition
from tests.internals.dataset import Dataset
from tests.internals.kernel import Get, Lookups, state_of
from tests.internals.kernel import python as kernel_python
from tests.kernel.modules import compiled, needs_compiled
from tests.near_addresses import addresses, interval_starts
from tests.tiers import scaled

pytestmark = needs_compiled
AT = 1_795_132_800
INSTANTS = (-62135510400, -5_000_000_000, -1, 0, 1_700_000_000, AT, 4_000_000_000, 253402214399)


DATASET = Dataset(SMALL)
REFERENCE = kernel_python.Kernel(DATASET)


@pytest.fixture(scope="module")
def kernel() -> Any:
    return compiled.Kernel(DATASET)


def test_the_calendar(kernel: Any) -> None:
    """The Python kernel has the dates of `datetime`; these are zones west and east of Greenwich."""
    for address in ("8.8.8.8", "77.88.8.201"):
        for at in CALENDAR:
            assert kernel.lookup_json(address, at=at) == REFERENCE.lookup_json(address, at=at)
            assert kernel.lookup(address, at=at) == REFERENCE.lookup(address, at=at)


def test_instants_and_hostile_objects(kernel: Any) -> None:
    drawn = addresses(random.Random(5), DATASET)
    for _ in range(scaled(400, 2_000)):
        address = next(drawn)
        for at in INSTANTS:
            assert kernel.lookup_json(address, at=at) == REFERENCE.lookup_json(address, at=at)
            assert kernel.lookup(address, at=at) == REFERENCE.lookup(address, at=at)
    for value in NO_ADDRESS:
        assert kernel.lookup_json(value, at=AT) == REFERENCE.lookup_json(value, at=AT)


def test_rows_prefixes_and_intervals() -> None:
    state, reference = compiled.State(DATASET), kernel_python.State(DATASET)
    drawn = addresses(random.Random(7), DATASET)
    starts = [(family, part[0]) for family in (4, 6) for part in partition(family)]
    texts = [canonical(family, max(at + step, 0)) for family, at in starts for step in (-1, 0, 1)]
    for text in [*texts, *(next(drawn) for _ in range(scaled(2_000, 50_000)))]:
        assert state.rows_and_prefix(text) == reference.rows_and_prefix(text), text
    for family, bounds in zip((4, 6), interval_starts(DATASET), strict=True):
        for start in bounds:
            text = canonical(family, start)
            assert state.rows_and_prefix(text) == reference.rows_and_prefix(text), text


def test_unknown_fields(kernel: Any) -> None:
    unknown = ("", "location.", "location.country", "contry")
    for item in (kernel, REFERENCE):
        for name in unknown:
            for names in ((name,), ("ip", name), (["ip", name],)):
                with pytest.raises(ValueError, match="get: no field "):
                    item.get("8.8.8.8", *names)
        wrong: Any
        for wrong in (("ip", ["ip"]), ([["ip"]],), (["ip"], "ip"), (None,), (5,), (b"ip",)):
            with pytest.raises(ValueError, match="get: a field is a text; write several texts"):
                item.get("x", *wrong)
        with pytest.raises(ValueError, match="get_many: a field is a text"):
            state_of(item).values(["8.8.8.8"], (["ip"],), 0)


def test_every_name_of_a_field_in_both_kernels(kernel: Any) -> None:
    names = list(fields.NAMES)
    for ip in ("8.8.8.8", "203.0.112.9", "2001:4860:4860::8888", "10.0.0.1", "x"):
        expected = REFERENCE.get(ip, names, at=0)
        assert kernel.get(ip, names, at=0) == kernel.get(ip, *names, at=0) == expected
        for name, value in zip(names, expected, strict=True):
            assert kernel.get(ip, name, at=0) == REFERENCE.get(ip, name, at=0) == value
            assert kernel.get(ip, fields.NAMES[name], at=0) == value
    assert kernel.get("8.8.8.8", []) == REFERENCE.get("8.8.8.8", []) == ()


@pytest.mark.parametrize("name", ["python", "compiled"])
def test_the_environment_chooses(name: str) -> None:
    code = "import geolookup; print(geolookup.open().kernel)"
    assert python(code, GEOLOOKUP_KERNEL=name).stdout.strip() == name


def public(names: Any) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def test_the_classes_and_their_parameters() -> None:
    dataset = Dataset(SMALL)
    state, reference = compiled.State(dataset), kernel_python.State(dataset)
    pairs: list[tuple[Any, Any]] = [(compiled.Kernel.get, Get.__call__)]
    for own, expected in ((state, reference), (state.lines(), reference.lines())):
        assert public(dir(own)) == public(dir(expected))
        names = [name for name in public(dir(own)) if callable(getattr(own, name))]
        pairs += [(getattr(type(own), name), getattr(type(expected), name)) for name in names]
    calls = public(vars(Lookups))
    for kernel in (compiled.Kernel, kernel_python.Kernel):
        assert public(dir(kernel)) == {"kernel", "get", *calls}
        assert {"_open_state", "_swap"} <= set(dir(kernel))
        pairs += [(getattr(kernel, name), getattr(Lookups, name)) for name in calls]
    assert compiled.__all__ == [name for name in kernel_python.__all__ if name != "document"]
    pairs += [
        (getattr(compiled, name), getattr(kernel_python, name))
        for name in ("parse_texts", "restore")
    ]
    assert len(pairs) > 20
    for pair in pairs:
        own, wanted = (
            [name for name in inspect.signature(item).parameters if name != "self"] for item in pair
        )
        assert own == wanted, pair


#: Prints kernel and answer in the first interpreter, in a second one and again in the first.
_TWO = """
import os, sys, geolookup

try:
    import _interpreters
    run = _interpreters.exec
except ImportError:  # before CPython 3.13
    import _xxsubinterpreters as _interpreters
    run = _interpreters.run_string

code = "import geolookup; print(geolookup.Engine.kernel, geolookup.lookup_json('8.8.8.8', at=0))"
exec(code)
sys.stdout.flush()
second = _interpreters.create()
try:
    problem = run(second, code)
except Exception as error:
    problem = error
if problem is not None:  # CPython 3.11 can lose the exit status when it ends other interpreters
    print(problem, file=sys.stderr, flush=True)
    os._exit(1)
_interpreters.destroy(second)
exec(code)
"""
NOTICE = "the compiled kernel answers in one interpreter of a process only"


def test_a_second_interpreter_has_the_python_kernel() -> None:
    done = python(_TWO, GEOLOOKUP_KERNEL="")
    kernels, answers = zip(*(line.split(" ", 1) for line in done.stdout.splitlines()), strict=True)
    assert kernels == ("compiled", "python", "compiled")
    assert len(set(answers)) == 1
    assert done.stderr.count(NOTICE) == 1


def test_a_second_interpreter_cannot_be_asked_for_the_compiled_kernel() -> None:
    problem = f"GEOLOOKUP_KERNEL is 'compiled', but {NOTICE}; use threads or processes"
    with pytest.raises(AssertionError, match=problem):
        python(_TWO, GEOLOOKUP_KERNEL="compiled")
