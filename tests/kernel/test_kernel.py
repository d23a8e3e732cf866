"""The compiled kernel and the reference implementation (the Python kernel) give equal answers.

The inputs are instants, intervals, hostile objects and paths; ``test_every_text.py`` has the texts.
The other tests run with either kernel (``GEOLOOKUP_KERNEL``).
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.cli.program import python
from tests.datasets import SMALL
from tests.hostile import NO_ADDRESS
from tests.internals.contract import canonical, fields, partition
from tests.internals.dataset import Dataset
from tests.internals.kernel import python as kernel_python
from tests.internals.kernel import state_of
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
