"""Many addresses at once: both kernels give the answers of the single calls, byte for byte."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from copy import copy
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import DatasetError
from tests.address_texts import EVERY
from tests.cli.program import python
from tests.datasets import SMALL
from tests.internals.contract import PATHS
from tests.internals.dataset import Dataset
from tests.internals.kernel import python as kernel_python
from tests.kernel.modules import MODULES, needs_compiled
from tests.kernel.test_kernel import AT

MEMBERS = ("network.asn", "location.city_name", "location.country_name")


@pytest.mark.parametrize("module", MODULES)
def test_values_again(module: Any) -> None:
    """Later calls return the values of the first, and no caller can change them."""
    state = module.State(Dataset(SMALL))
    texts: list[object] = [*EVERY]
    members = tuple(path for path in PATHS if "." in path)
    first = state.values(texts, members, AT)
    wanted = [tuple(map(copy, values)) for values in first]
    languages = [value for value in chain.from_iterable(first) if isinstance(value, list)]
    assert languages
    for value in languages:
        value.append("changed")
    assert state.values(texts, members, AT) == wanted
    assert state.values(texts, (), AT) == [()] * len(texts)


@pytest.mark.parametrize("module", MODULES)
def test_lines_that_were_taken_do_not_come_again(module: Any) -> None:
    """Of one block, of several, and of more bytes than the compiled kernel keeps memory for."""
    state, single = module.State(Dataset(SMALL)), kernel_python.Kernel(Dataset(SMALL))
    kinds = ["8.8.8.8", "x", "2001:4860:4860::8888", "10.0.0.1", "8.8.8.8"]
    answers = [single.lookup_json(ip, at=AT) + b"\n" for ip in kinds]
    lines = state.lines()
    for count in (1, 64, 65, 300, 2, 301, 1000, 5, 300, 0, 700):
        ips: list[str] = [kinds[at % 5] for at in range(count)]
        assert lines.add(ips, AT) == sum(ip in ("x", "10.0.0.1") for ip in ips)
        assert lines.take() == b"".join(answers[at % 5] for at in range(count)), count
    assert lines.take() == b""


@pytest.mark.parametrize("module", MODULES)
def test_a_malformed_list_of_instants(module: Any) -> None:
    state = module.State(Dataset(SMALL))
    for seconds in ("0", [None], ["0"], [], [0, 0]):
        with pytest.raises((TypeError, ValueError)):
            state.envelopes_json(["8.8.8.8"], seconds)


_WITHOUT_MEMORY = """
import os, resource, sys
from geolookup.dataset.files import Dataset
from geolookup.kernel._compiled import State

lines = State(Dataset(sys.argv[1])).lines()
lines.add(["8.8.8.8"] * 1000, 0)
if "asan" not in os.environ.get("LD_PRELOAD", ""):  # it has a limit of its own
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 23),) * 2)
try:
    while True:
        lines.add(["8.8.8.8"] * 1000, 0)
except MemoryError:
    print(len(lines.take()))
lines.add(["8.8.8.8"], 0)
print(lines.take().count(b"8.8.8.8"))
"""


@needs_compiled
@pytest.mark.skipif(sys.platform != "linux", reason="it sets a limit of Linux")
def test_lines_that_do_not_fit_into_memory() -> None:
    """They are lost, but no call reads memory that was freed."""
    limits = "allocator_may_return_null=1:max_allocation_size_mb=64"
    options = f"{os.environ.get('ASAN_OPTIONS', '')}:{limits}"
    assert python(_WITHOUT_MEMORY, str(SMALL), ASAN_OPTIONS=options).stdout == "0\n1\n"


@pytest.mark.parametrize("table", ["location", "network", "country"])
@pytest.mark.parametrize("module", MODULES)
def test_a_damaged_row(module: Any, table: str, tmp_path: Path) -> None:
    """The lines before the damaged row remain; the call that reads it raises."""
    folder = shutil.copytree(SMALL, tmp_path / "damaged")
    path = folder / f"{table}.arrow"
    content = path.read_bytes()
    wanted = {"location": b"Mountain View", "network": b"Google", "country": b"United States"}
    path.write_bytes(content.replace(wanted[table], b"\n" + wanted[table][1:]))
    state = module.State(Dataset(folder))
    before = state.envelopes_json(["10.0.0.1"], AT)[0]
    lines = state.lines()
    asks: list[Callable[[list[object]], object]] = [
        lambda ips: lines.add(ips, AT),
        lambda ips: state.envelopes(ips, AT),
        lambda ips: state.envelopes_json(ips, AT),
        *2 * [lambda ips: state.values(ips, ("location", "network"), AT)],
    ]
    for ask in asks:
        with pytest.raises(DatasetError, match="damaged"):
            ask(["10.0.0.1", "8.8.8.8"])
    assert lines.take() == before + b"\n"
